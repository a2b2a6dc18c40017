import { notificationMessage, pingMessage, type RequestId, type RequestMessage } from '../protocol/jsonrpc.js'
import {
  type ClientCapabilities,
  type Implementation,
  isLogLevel,
  type Json,
  LOG_LEVELS,
  type LogLevel,
  metaOf,
  type ProgressToken,
  progressTokenOf,
  type ResourceContents,
  type TraceContext,
  traceContextOf,
} from '../protocol/model.js'
import { lacksNotification } from '../protocol/notifications.js'
import { Access } from '../router/access.js'
import type { Catalogue } from '../router/catalogue.js'
import type { Deferred, ProgressRef } from '../router/deferred.js'
import type { CallFacts, Merged, Session, SessionLog, Visible } from '../router/session.js'
import { AskingSession } from './asking/asking-session.js'
import type { Asker } from './asking/thread.js'
import type { CallHost } from './call-host.js'
import type { Caller, Client } from './client.js'
import type { Exchange } from './exchange.js'
import { followedUri } from './followed-uri.js'
import { readNamed } from './read-resource.js'

const THROTTLED = ['notifications/progress', 'notifications/message']

/** What `session.signal` is aborted with when the client gave its call up. */
export class CallCancelled extends Error {
  override readonly name = 'AbortError'
}

export interface CallSessionParts extends Caller {
  /** Where the names of resources are looked up. */
  readonly catalogue: Catalogue
  readonly request: RequestMessage
  readonly exchange: Exchange
  readonly host: CallHost
}

/** Who waits for a call, and is told when it is over before its handler is. */
export interface CallEnd {
  cancelled(): void
  aborted(error: Error): void
}

/** The session of one call. What a small call does not touch is not made: signal, log and trace context come when asked for. */
export class CallSession extends AskingSession implements Session {
  client: Client
  readonly params: Readonly<Record<string, unknown>>
  /** An operation that is open until one side ends it, without needing a signal for that. */
  open: { end(): void } | undefined
  access: Access
  #request: RequestMessage
  #exchange: Exchange
  readonly #host: CallHost
  #meta: Json | undefined
  #allowsNotification: ((method: string) => boolean) | undefined
  /** Where the call came in: its names are those that the client knows. */
  readonly #offered: Catalogue
  #catalogue: Catalogue
  #prefix = ''
  #logLevel: LogLevel | undefined
  #controller: AbortController | undefined
  #log: SessionLog | undefined
  #progress: number | undefined
  #over = false
  #watching = false
  #hungUp = false
  /** Why the call is over for its handler. */
  #reason: Error | undefined
  /** The session of the handler that this request goes on with. */
  #goesOn: CallSession | undefined
  #onOver: (() => void)[] | undefined
  #onEnd: CallEnd | undefined

  constructor({ catalogue, request, client, access, exchange, host }: CallSessionParts) {
    super()
    this.client = client
    this.access = access ?? new Access(client.sessionId)
    this.params = request.params
    this.#catalogue = catalogue
    this.#offered = catalogue
    this.#request = request
    this.#exchange = exchange
    this.#host = host
    this.#meta = metaOf(request.params)
    this.#logLevel = client.logLevel ?? client.codec.defaultLogLevel
  }

  protected get asker(): Asker<object> {
    return this.#host.asking
  }

  get id(): string | undefined {
    return this.client.sessionId
  }
  get protocolVersion(): string {
    return this.client.codec.version
  }
  get clientInfo(): Implementation | undefined {
    return this.client.info
  }
  get clientCapabilities(): ClientCapabilities {
    return this.client.capabilities
  }
  get principal(): string | null {
    return this.access.principal
  }
  get stateless(): boolean {
    return this.client.codec.stateless
  }
  get assigns(): object {
    return this.access.assigns
  }
  get requestId(): RequestId {
    return this.#request.id
  }
  get call(): CallFacts {
    const { id, method, params } = this.#request
    const named = params['name'] ?? params['uri']
    return { id, method, name: typeof named === 'string' ? named : undefined }
  }
  get progressToken(): ProgressToken | undefined {
    return progressTokenOf(this.#meta)
  }
  get trace(): TraceContext {
    return traceContextOf(this.#meta)
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#openSignal()
    return this.#controller.signal
  }

  get log(): SessionLog {
    this.#log ??= Object.fromEntries(
      LOG_LEVELS.map((level) => [level, (data: unknown, logger?: string) => this.#sendLog(level, data, logger)]),
    ) as unknown as SessionLog
    return this.#log
  }

  assign<More extends object>(values: More): Session<Merged<object, More>> {
    this.access.assign(values)
    return this as unknown as Session<Merged<object, More>>
  }

  sees(what: Visible, name: string): boolean {
    return this.access.sees(what, this.#prefix + name)
  }

  allowTools(names: readonly string[]): this {
    this.access.allowTools(names)
    return this
  }

  allowPrompts(names: readonly string[]): this {
    this.access.allowPrompts(names)
    return this
  }

  allowResourceTemplates(names: readonly string[]): this {
    this.access.allowResourceTemplates(names)
    return this
  }

  async notifyProgress(progress: number, total?: number, message?: string): Promise<void> {
    const { progressToken } = this
    const isMore = this.#progress === undefined || progress > this.#progress
    if (progressToken === undefined || !Number.isFinite(progress) || !isMore) return
    this.#progress = progress
    const told = message !== undefined && this.client.codec.progressMessage ? { message } : {}
    const of = total === undefined ? {} : { total }
    await this.notify('notifications/progress', { progressToken, progress, ...of, ...told })
  }

  progressRef(): ProgressRef | null {
    return this.progressToken === undefined ? null : this.#host.refs.progress(this)
  }

  defer(): Deferred {
    return this.#host.refs.defer(this)
  }

  /** Never rejects: a notification that nobody awaits must not end the process. */
  async notify(method: string, params?: object): Promise<void> {
    if (this.#over || this.thread?.chain?.replaying || this.#allowsNotification?.(method) === false) return
    if (this.#lacks(method)) return
    // Who listens and misses something must know: they listen again, and look.
    if (this.#exchange.deaf === true) this.open?.end()
    try {
      await this.#exchange.send(notificationMessage(method, params))
    } catch (error) {
      this.#host.report(error, this)
    }
  }

  #lacks(method: string): boolean {
    const { version } = this.client.codec
    const lacks = lacksNotification(version, method)
    if (lacks) this.#host.warnings.once(method, `session.notify: ${version} has no ${method}, which was left out`)
    return lacks
  }

  async ping(): Promise<void> {
    if (this.#over) return
    if (this.client.codec.asks === 'request') await this.#exchange.send(pingMessage(this.#host.ids()))
    else await this.#exchange.comment?.()
  }

  /** Progress and logs for which `allows` says no are dropped from here on. */
  limitNotifications(allows: (method: string) => boolean): void {
    const before = this.#allowsNotification
    this.#allowsNotification = (method) => {
      if (before?.(method) === false) return false
      return !THROTTLED.includes(method) || allows(method)
    }
  }

  hasTool(name: string): boolean {
    return this.#offered.tools.has(name)
  }

  setLogLevel(level: LogLevel): void {
    if (!isLogLevel(level))
      throw new TypeError(`setLogLevel: ${JSON.stringify(level)} is none of ${LOG_LEVELS.join(', ')}`)
    if (this.client.codec.logScope === 'session') this.#keep(() => (this.client.logLevel = level))
    // 2026-07-28 server/utilities/logging: a call may be told less than it asked for, never more.
    else if (this.#logLevel === undefined || LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(this.#logLevel)) return
    this.#logLevel = level
  }

  async readResource(name: string, params: Readonly<Record<string, unknown>> = {}): Promise<ResourceContents> {
    return await readNamed(this.#catalogue, this, { name, params })
  }

  subscribe(uri: string): void {
    this.#keep(() => this.client.follow(followedUri(uri)))
  }

  unsubscribe(uri: string): void {
    this.#keep(() => this.client.unfollow(followedUri(uri)))
  }

  async finish(): Promise<void> {
    if (this.#over) return
    this.open?.end()
    // Earlier versions know of no connection that ends before its answer.
    if (this.client.codec.primesStreams) await this.#exchange.finish?.()
  }

  get shared(): boolean {
    return this.#exchange.shared === true
  }

  get canStream(): boolean {
    return this.#exchange.canStream
  }

  isOf(exchange: Exchange): boolean {
    return this.#exchange === exchange
  }

  /** Sends a message of ours on the stream of this call, whether the call is over or not. */
  send(message: string): Promise<void> | undefined {
    return this.#exchange.send(message)
  }

  get request(): RequestMessage {
    return this.#request
  }

  /** The session of another request for what this one called. */
  sibling(parts: Omit<CallSessionParts, 'catalogue' | 'host'>): CallSession {
    return new CallSession({ ...parts, catalogue: this.#offered, host: this.#host })
  }

  /**
   * Goes on with another request of the same call: what this session is told of its client, and sends, is that request's from
   * here on, and what ends the request ends this call.
   */
  follow(request: CallSession): void {
    if (this.progressToken !== request.progressToken) this.#progress = undefined
    this.client = request.client
    this.access = request.access
    this.#request = request.#request
    this.#exchange = request.#exchange
    this.#meta = request.#meta
    this.#logLevel = request.#logLevel
    this.#allowsNotification = request.#allowsNotification
    this.#over = false
    request.#goesOn = this
    if (this.#watching) request.watchClient()
  }

  /** Changes something that outlives the call. */
  #keep(change: () => unknown): void {
    change()
    this.client.changed = true
  }

  /** Ends the call for its client: the handler is told, and nothing more is sent for it. */
  cancel(reason?: string): void {
    if (this.#over) return
    this.#over = true
    this.#tellOver()
    this.expire(new CallCancelled(reason ?? 'The client cancelled the call'))
    this.#onEnd?.cancelled()
    this.open?.end()
    this.#goesOn?.cancel(reason)
  }

  /** From here on names are those of a mounted router; allow-lists have them with what was put in front. */
  enter(catalogue: Catalogue, prefix: string): void {
    this.#catalogue = catalogue
    this.#prefix = prefix
  }

  /** Tells the handler that its time is up; unlike a cancelled call, this one has an answer. */
  expire(reason: Error): void {
    this.#reason ??= reason
    this.#controller?.abort(reason)
    this.#goesOn?.expire(reason)
  }

  /** Nothing is sent for this call any more. */
  close(): void {
    this.#over = true
    // A middleware may end the call of what is still open.
    this.open?.end()
    // While the handler waits for its client the call is not over, only this request.
    if (this.thread?.phase !== 'parked') this.#tellOver()
    this.#goesOn?.close()
  }

  /** Why the call is over for its handler; undefined while it is not. */
  get reason(): Error | undefined {
    return this.#reason
  }

  /** Tells once when the call is over, in whatever way. */
  onOver(listener: () => void): void {
    this.#onOver = [...(this.#onOver ?? []), listener]
  }

  #tellOver(): void {
    const listeners = this.#onOver
    this.#onOver = undefined
    for (const listener of listeners ?? []) listener()
  }

  /** True when the call has its answer, or will have none. */
  get closed(): boolean {
    return this.#over
  }

  /** Who waits for the call is told when it is over before its handler is: by its client, or with an error of ours. */
  onEnd(end: CallEnd): void {
    this.#onEnd = end
  }

  /** Ends the call with an error that its client gets. */
  abort(error: Error): void {
    if (this.#over) return
    this.expire(error)
    this.#onEnd?.aborted(error)
  }

  /** Takes the client's hang-up for a cancelled call, where the version says so. */
  watchClient(): void {
    if (this.#watching || !this.client.codec.hangUpCancels) return
    this.#watching = true
    this.#exchange.onClosed?.(() => this.cancel('The client hung up'))
  }

  get deserted(): boolean {
    return this.#hungUp && this.pausing.paused
  }

  /** From here on it is known whether the client has let go of its connection, whatever that means for the call. */
  noteHangUp(): void {
    this.#exchange.onClosed?.(() => {
      this.#hungUp = true
    })
  }

  #openSignal(): AbortController {
    const controller = new AbortController()
    if (this.#reason !== undefined) controller.abort(this.#reason)
    this.watchClient()
    return controller
  }

  async #sendLog(level: LogLevel, data: unknown, logger = 'server'): Promise<void> {
    const least = this.#logLevel
    if (least === undefined || LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return
    await this.notify('notifications/message', { level, logger, data })
  }
}
