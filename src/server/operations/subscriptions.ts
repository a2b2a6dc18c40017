import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Json } from '../../protocol/model.js'
import type { Kind } from '../../router/catalogue.js'
import { authorizeResources } from '../authorize.js'
import type { CallSession } from '../call-session.js'
import type { OperationHandler, ServerContext } from '../context.js'
import { ExtensionListens } from '../extension-listens.js'
import { followedUri } from '../followed-uri.js'
import { NO_RESOURCES } from '../listeners.js'
import { notFound } from '../read-resource.js'
import { stringParam } from './params.js'

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

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
function boundSubscriptions({ maxSubscriptions }: ServerContext, count: number): void {
  if (count <= maxSubscriptions) return
  const data = { reason: 'too_many_subscriptions' }
  throw new McpError('INVALID_PARAMS', `No more than ${maxSubscriptions} resources can be followed at once`, { data })
}

/** What a client asked to hear, as far as it is honoured; the keys are those of the wire. */
interface Honoured {
  toolsListChanged?: true
  promptsListChanged?: true
  resourcesListChanged?: true
  resourceSubscriptions?: readonly string[]
}

function askedNotifications({ params: { notifications } }: CallSession): Json {
  if (isObject(notifications)) return notifications
  throw new McpError('INVALID_PARAMS', 'params.notifications must be an object')
}

const LISTS = [
  ['toolsListChanged', 'tool'],
  ['promptsListChanged', 'prompt'],
  ['resourcesListChanged', 'resource'],
] as const satisfies readonly (readonly [keyof Honoured, Kind])[]

/**
 * 2026-07-28 basic/patterns/subscriptions: acknowledged first, with what will be honoured; then each notification carries
 * the id of this request. It is answered only when the server ends it.
 */
export const listen: OperationHandler = async (context, session) => {
  if (!session.canStream) throw new McpError('INVALID_REQUEST', 'Accept must allow text/event-stream for this method')
  const asked = askedNotifications(session)
  const added = ExtensionListens.of(context, session, asked)
  const leave = context.listens.enter(session.access.principal)
  const ending = new Ending()
  session.onCancel = ending.end
  session.watchClient()
  const forget = context.onClose(ending.end)
  let remove: (() => void) | undefined
  try {
    // Authorising may take its time, which is not the server's when it closes.
    const answered = await ending.before(Promise.all([honour(context, session, asked), added?.honour()]))
    if (answered === undefined)
      throw new McpError('INTERNAL_ERROR', 'The server is shutting down: try again', { data: RETRYABLE })
    const meta = { [SUBSCRIPTION_ID]: session.requestId }
    session.onFinish = ending.end
    remove = begin(context, session, { meta, honoured: answered[0], keys: answered[1] })
    added?.open(meta)
    await ending.wait()
    remove()
    // Both the cancellation page and the subscriptions page are met so: the notification first, the result behind it.
    if (session.shared) await session.notify('notifications/cancelled', { requestId: session.requestId })
    return { _meta: meta }
  } finally {
    remove?.()
    forget()
    added?.close()
    leave()
  }
}

interface Answered {
  readonly meta: Json
  readonly honoured: Honoured
  /** What filters of extensions follow. */
  readonly keys: object | undefined
}

/** Whatever happens from here on is told, behind the acknowledgement and never before it. Returns the way out. */
function begin(context: ServerContext, session: CallSession, { meta, honoured, keys }: Answered): () => void {
  void session.notify('notifications/subscriptions/acknowledged', {
    _meta: meta,
    notifications: { ...honoured, ...keys },
  })
  const kinds = LISTS.filter(([key]) => honoured[key]).map(([, kind]) => kind)
  const followed = honoured.resourceSubscriptions?.map(followedUri) ?? []
  return context.listeners.add({
    access: session.access,
    lists: context.listeners.listsOf(kinds),
    resources: followed.length === 0 ? NO_RESOURCES : new Set(followed),
    tell: (method, params) => void session.notify(method, { ...params, _meta: meta }),
  })
}

const RETRYABLE = { reason: 'shutting_down', retryable: true }

/** The end of a listen: its client gives it up, or one side ends it. One promise, since there is one for each open stream. */
class Ending {
  #over = false
  #wake = (): void => undefined

  readonly end = (): void => {
    this.#over = true
    this.#wake()
  }

  /** What the work gives, or undefined when the end comes before. */
  before<Value>(work: Promise<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(undefined)
      if (this.#over) resolve(undefined)
      work.then(resolve, reject)
    })
  }

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      if (this.#over) resolve()
    })
  }
}

async function honour(context: ServerContext, session: CallSession, notifications: Json): Promise<Honoured> {
  const honoured: Honoured = {}
  for (const [key] of LISTS) {
    const wanted = notifications[key]
    if (wanted !== undefined && typeof wanted !== 'boolean') {
      throw new McpError('INVALID_PARAMS', `params.notifications.${key} must be a boolean`)
    }
    if (wanted === true) honoured[key] = true
  }
  const uris = notifications['resourceSubscriptions']
  if (uris === undefined) return honoured
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) {
    throw new McpError('INVALID_PARAMS', 'params.notifications.resourceSubscriptions must be a list of URIs')
  }
  boundSubscriptions(context, uris.length)
  honoured.resourceSubscriptions = await authorizeResources(context, uris, session.access)
  return honoured
}
