import type { Result } from '../../protocol/model.js'
import type { ResolvedResource } from '../../router/catalogue.js'
import { toReadResult } from '../../router/resource-result.js'
import type { Asking } from '../asking/asking.js'
import { InputRequiredResult } from '../asking/input-required-result.js'
import type { CallSession } from '../call-session.js'
import type { OperationHandler, ServerContext } from '../context.js'
import { notFound, runResource, toRead } from '../read-resource.js'
import { runOffered, targetOf } from '../run-offered.js'
import { stringParam } from './params.js'
import { extensionResources } from './resource-list.js'

export const listResourceTemplates: OperationHandler = ({ pages }, session) => pages.page('resourceTemplates', session)

export const readResource: OperationHandler = async (context, session) => {
  const uri = stringParam(session.params, 'uri')
  const resolved = context.router.catalogue.resolve(uri)
  if (resolved === undefined) return await readAdded(context, session, uri)
  if (!session.sees('resourceTemplates', resolved.offered.name)) throw notFound(uri)
  const { asking } = context
  const target = targetOf(context, resolved.offered, true)
  return await runOffered(resolved.offered, session, () =>
    asking.run(session, target, (own) => readAsking(asking, own, { resolved, uri })),
  )
}

interface Read {
  readonly resolved: ResolvedResource
  readonly uri: string
}

async function readAsking(asking: Asking, session: CallSession, { resolved, uri }: Read): Promise<Result> {
  const returned = await asking.handle(session, () => runResource(resolved, session))
  return returned instanceof InputRequiredResult ? returned : toRead(resolved, uri, returned)
}

/** What an extension has at the URI; the first that has something answers. */
async function readAdded(context: ServerContext, session: CallSession, uri: string): Promise<Result> {
  for (const { read } of extensionResources(context, session)) {
    const result = toReadResult(await read(uri, session as never, context.host), uri, undefined)
    if (result !== undefined) return result
  }
  throw notFound(uri)
}
