import { McpError } from '../../errors.js'
import { authorizeResources } from '../authorize.js'
import type { CallSession } from '../call-session.js'
import type { OperationHandler, ServerContext } from '../context.js'
import { followedUri } from '../followed-uri.js'
import { notFound } from '../read-resource.js'
import { stringParam } from './params.js'
import { extensionResources } from './resource-list.js'

/** A session follows a resource from here on (2025-11-25 server/resources, Subscriptions). */
export const subscribe: OperationHandler = async (context, session) => {
  const uri = stringParam(session.params, 'uri')
  const [allowed] = await authorizeFollowing(context, session, [uri])
  if (allowed === undefined) throw notFound(uri)
  const { subscriptions } = session.client
  if (!subscriptions.has(followedUri(uri))) boundSubscriptions(context, subscriptions.size + 1)
  session.subscribe(uri)
  return {}
}

export const unsubscribe: OperationHandler = (_context, session) => {
  session.unsubscribe(stringParam(session.params, 'uri'))
  return {}
}

/** Which of these a caller may follow from here on: what an extension has that is not there for them cannot be followed either. */
export function authorizeFollowing(
  context: ServerContext,
  session: CallSession,
  uris: readonly string[],
): Promise<readonly string[]> {
  const { router, settled, report } = context
  const added = extensionResources(context, session)
  return authorizeResources({ router, settled, report, added }, uris, session.access)
}

/** @throws McpError when there are more than the server keeps, or asks about at each change. */
export function boundSubscriptions({ maxSubscriptions }: ServerContext, count: number): void {
  if (count <= maxSubscriptions) return
  const data = { reason: 'too_many_subscriptions' }
  throw new McpError('INVALID_PARAMS', `No more than ${maxSubscriptions} resources can be followed at once`, { data })
}
