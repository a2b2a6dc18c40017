import { McpError } from '../../errors.js'
import { isObject, type RequestId } from '../../protocol/jsonrpc.js'
import type { Json, Result } from '../../protocol/model.js'
import type { Access } from '../../router/access.js'
import type { Kind } from '../../router/catalogue.js'
import type { CallSession } from '../call-session.js'
import type { OperationHandler, ServerContext } from '../context.js'
import { ExtensionListens } from '../extension-listens.js'
import { followedUri } from '../followed-uri.js'
import { type Listener, NO_RESOURCES } from '../listeners.js'
import { shuttingDown } from '../shutting-down.js'
import { authorizeFollowing, boundSubscriptions } from './subscriptions.js'

/**
 * 2026-07-28 basic/patterns/subscriptions: acknowledged first, with what will be honoured; then each notification carries
 * the id of this request. It is answered only when the server ends it.
 */
export const listen: OperationHandler = (context, session) => {
  if (!session.canStream) throw new McpError('INVALID_REQUEST', 'Accept must allow text/event-stream for this method')
  const asked = session.params['notifications']
  if (!isObject(asked)) throw new McpError('INVALID_PARAMS', 'params.notifications must be an object')
  return new Listening(context, session, ExtensionListens.of(context, session, asked)).over(asked)
}

/** What a client asked to hear, as far as it is honoured; the keys are those of the wire. */
interface Honoured {
  toolsListChanged?: true
  promptsListChanged?: true
  resourcesListChanged?: true
  resourceSubscriptions?: readonly string[]
}

const LISTS = [
  ['toolsListChanged', 'tool'],
  ['promptsListChanged', 'prompt'],
  ['resourcesListChanged', 'resource'],
] as const satisfies readonly (readonly [keyof Honoured, Kind])[]

interface Meta {
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId
}

type Resolve = (result: Result | Promise<never>) => void

/** One client that listens. An object with methods, and one promise, since there are many that are open for long. */
class Listening implements Listener {
  readonly #context: ServerContext
  readonly #session: CallSession
  /** What filters of extensions follow. */
  readonly #added: ExtensionListens | undefined
  #lists: ReadonlySet<Kind> | undefined
  resources = NO_RESOURCES
  #answer: Resolve | undefined

  constructor(context: ServerContext, session: CallSession, added: ExtensionListens | undefined) {
    this.#context = context
    this.#session = session
    this.#added = added
  }

  get access(): Access {
    return this.#session.access
  }

  get lists(): ReadonlySet<Kind> {
    return this.#lists ?? NO_LISTS
  }

  /** Resolves when the server or its client has ended it. @throws McpError where it may not be opened. */
  over(asked: Json): Promise<Result> {
    this.#context.listens.enter(this.access.principal)
    this.#session.open = this
    this.#session.watchClient()
    return new Promise((resolve) => {
      this.#answer = resolve
      this.#begin(asked).catch((error: unknown) => {
        // Nobody else would take the rejection when the client has gone meanwhile.
        this.#leave()?.(Promise.reject(error))
      })
    })
  }

  tell(method: string, params: object): void {
    void this.#session.notify(method, { ...params, _meta: this.#meta })
  }

  /** Authorising may take its time, which is not the server's when it closes. */
  end(): void {
    const resolve = this.#leave()
    if (resolve === undefined) return
    if (this.#lists === undefined) return resolve(Promise.reject(shuttingDown()))
    // Both the cancellation page and the subscriptions page are met so: the notification first, the result behind it.
    const { shared, requestId } = this.#session
    if (shared) void this.#session.notify('notifications/cancelled', { requestId })
    resolve({ _meta: this.#meta })
  }

  get #meta(): Meta {
    return { 'io.modelcontextprotocol/subscriptionId': this.#session.requestId }
  }

  /** Nothing is told any more. Gives the way to answer, once. */
  #leave(): Resolve | undefined {
    const resolve = this.#answer
    if (resolve === undefined) return undefined
    this.#answer = undefined
    this.#context.listeners.remove(this)
    this.#context.listens.leave(this.access.principal)
    this.#added?.close()
    return resolve
  }

  /** Whatever happens from here on is told, behind the acknowledgement and never before it. */
  async #begin(asked: Json): Promise<void> {
    const [honoured, keys] = await Promise.all([this.#honour(asked), this.#added?.honour()])
    if (this.#answer === undefined) return
    const { listeners } = this.#context
    this.#lists = listeners.listsOf(LISTS.filter(([key]) => honoured[key]).map(([, kind]) => kind))
    const followed = honoured.resourceSubscriptions?.map(followedUri) ?? []
    if (followed.length > 0) this.resources = new Set(followed)
    void this.#session.notify('notifications/subscriptions/acknowledged', {
      _meta: this.#meta,
      notifications: { ...honoured, ...keys },
    })
    // A client that does not read has been let go already.
    if (this.#answer === undefined) return
    listeners.add(this)
    this.#added?.open({ ...this.#meta })
  }

  async #honour(notifications: Json): Promise<Honoured> {
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
    boundSubscriptions(this.#context, uris.length)
    honoured.resourceSubscriptions = await authorizeFollowing(this.#context, this.#session, uris)
    return honoured
  }
}

const NO_LISTS: ReadonlySet<Kind> = new Set()
