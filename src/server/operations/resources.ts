import { McpError } from '../../errors.js'
import type { Result } from '../../protocol/model.js'
import type { ResolvedResource } from '../../router/catalogue.js'
import { assertNotDeferred } from '../../router/deferred.js'
import { isResourceList } from '../../router/resource-result.js'
import type { Asking } from '../asking/asking.js'
import { InputRequiredResult } from '../asking/input-required-result.js'
import type { CallSession } from '../call-session.js'
import type { OperationHandler, ServerContext } from '../context.js'
import { notFound, runResource, toRead } from '../read-resource.js'
import { runOffered, targetOf } from '../run-offered.js'
import { stringParam } from './params.js'

export const listResources: OperationHandler = (context, session) =>
  context.router.options.listResources === undefined
    ? context.pages.page('resources', session)
    : listByCallback(context, session)

async function listByCallback({ router }: ServerContext, session: CallSession): Promise<Result> {
  const { cursor } = session.params
  if (cursor !== undefined && typeof cursor !== 'string') {
    throw new McpError('INVALID_PARAMS', 'params.cursor must be a string')
  }
  const list: unknown = await router.options.listResources?.(cursor, session as never)
  assertNotDeferred('listResources', list)
  if (!isResourceList(list)) throw new TypeError('listResources must return Resource.list(links, nextCursor)')
  const { codec } = session.client
  return { ...list, resources: list.resources.map((link) => codec.project('resource', link)) }
}

export const listResourceTemplates: OperationHandler = ({ pages }, session) => pages.page('resourceTemplates', session)

export const readResource: OperationHandler = async (context, session) => {
  const { router, asking } = context
  const uri = stringParam(session.params, 'uri')
  const resolved = router.catalogue.resolve(uri)
  if (resolved === undefined || !session.sees('resourceTemplates', resolved.offered.name)) throw notFound(uri)
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
