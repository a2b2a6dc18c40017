import { McpError } from '../../errors.js'
import { authorizeResources } from '../authorize.js'
import type { OperationHandler, ServerContext } from '../context.js'
import { followedUri } from '../followed-uri.js'
import { notFound } from '../read-resource.js'
import { stringParam } from './params.js'

/** A session follows a resource from here on (2025-11-25 server/resources, Subscriptions). */
export const subscribe: OperationHandler = async (context, session) => {
  const uri = stringParam(session.params, 'uri')
  const [allowed] = await authorizeResources(context, [uri], session.access)
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

/** @throws McpError when there are more than the server keeps, or asks about at each change. */
export function boundSubscriptions({ maxSubscriptions }: ServerContext, count: number): void {
  if (count <= maxSubscriptions) return
  const data = { reason: 'too_many_subscriptions' }
  throw new McpError('INVALID_PARAMS', `No more than ${maxSubscriptions} resources can be followed at once`, { data })
}
