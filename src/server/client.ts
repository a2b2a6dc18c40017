import type { Codec } from '../protocol/codec.js'
import type { RequestId, ResponseMessage } from '../protocol/jsonrpc.js'
import type { ClientCapabilities, Implementation, LogLevel } from '../protocol/model.js'
import type { Access } from '../router/access.js'
import type { RunningCalls } from './running-calls.js'
import type { SessionRecord } from './session-record.js'

/** What a client says here of what another node has. */
export interface Elsewhere {
  /** Its answer to a request that was not made here. Resolves when whoever has made it is sure to get it. */
  answered(session: string, response: ResponseMessage): Promise<undefined>
  /** A call begins here; resolves to false while another node runs one by its id. */
  begins(session: string, id: RequestId): Promise<boolean>
  /** It gives up a call that does not run here. */
  cancelled(session: string, requestId: RequestId, reason: string | undefined): void
}

/**
 * Who is calling: the version they speak, what they said of themselves, and their running calls. Where each request stands
 * alone it is made for one request; elsewhere it lives as long as the session.
 */
export class Client {
  codec: Codec
  info: Implementation | undefined
  capabilities: ClientCapabilities
  #logLevel: LogLevel | undefined
  /** What has changed since the session's record was written: resources that are followed or not, and the log level. */
  #unsaved: Unsaved | undefined
  readonly sessionId: string | undefined
  /** There is a stream on which the client can be told what belongs to no call. */
  readonly reachable: boolean
  /** Where sessions are shared by nodes, the way to the others. */
  elsewhere: Elsewhere | undefined
  /** An operation has changed what has to be kept for the session's next request. */
  changed = false
  #subscriptions: Set<string> | undefined
  /** Who waits for the client's answers to requests of ours. */
  #expected: Map<RequestId, (response: ResponseMessage | undefined) => void> | undefined
  /** Running calls by id, where one sender's ids must differ; undefined where ids mean nothing between two requests. */
  readonly calls: RunningCalls | undefined

  constructor(codec: Codec, options: ClientOptions = {}) {
    this.codec = codec
    this.info = options.info
    this.capabilities = options.capabilities ?? {}
    this.#logLevel = options.logLevel
    this.sessionId = options.sessionId
    this.reachable = options.reachable ?? false
    this.calls = options.calls
  }

  get logLevel(): LogLevel | undefined {
    return this.#logLevel
  }

  set logLevel(level: LogLevel | undefined) {
    this.#logLevel = level
    this.#unsaved = { ...(this.#unsaved ?? NOTHING_UNSAVED), logLevel: level }
  }

  /** What was changed since the last time, for whoever writes it. */
  takeUnsaved(): Unsaved {
    const unsaved = this.#unsaved ?? NOTHING_UNSAVED
    this.#unsaved = undefined
    return unsaved
  }

  /** Takes what the session's record has, which another node may have written; what was changed here since then stays. */
  adopt(record: Pick<SessionRecord, 'logLevel' | 'subscriptions'>, unsaved: Unsaved = NOTHING_UNSAVED): void {
    this.#logLevel = record.logLevel
    this.#subscriptions = record.subscriptions.length === 0 ? undefined : new Set(record.subscriptions)
    for (const changes of [unsaved, this.#unsaved ?? NOTHING_UNSAVED]) {
      if ('logLevel' in changes) this.#logLevel = changes.logLevel
      for (const [uri, follows] of changes.resources) this.#set(uri, follows)
    }
  }

  /** Canonical URIs of the resources that the session follows. */
  get subscriptions(): ReadonlySet<string> {
    return this.#subscriptions ?? NONE
  }

  /** The answer to a request of ours is for `take`; undefined when it will never come. */
  expect(id: RequestId, take: (response: ResponseMessage | undefined) => void): void {
    this.#expected ??= new Map()
    this.#expected.set(id, take)
  }

  unexpect(id: RequestId): void {
    this.#expected?.delete(id)
  }

  /**
   * The client has answered; an answer that nobody waits for is ignored, for it may have crossed the end of its call. A promise where
   * that is for another node: until it resolves the client may have to say it again.
   */
  answered(response: ResponseMessage): Promise<undefined> | undefined {
    if (this.take(response) || this.sessionId === undefined) return undefined
    return this.elsewhere?.answered(this.sessionId, response)
  }

  /** False when nobody waits for the answer here. */
  take(response: ResponseMessage): boolean {
    const take = response.id === undefined ? undefined : this.#expected?.get(response.id)
    take?.(response)
    return take !== undefined
  }

  /** A call begins; resolves to false while another node runs one by its id. Undefined where there is no other. */
  begins(id: RequestId): Promise<boolean> | undefined {
    return this.sessionId === undefined ? undefined : this.elsewhere?.begins(this.sessionId, id)
  }

  /** The client gives a call up; one that is over is ignored likewise. */
  cancelled(requestId: RequestId, reason: string | undefined): void {
    if (!this.cancel(requestId, reason) && this.sessionId !== undefined)
      this.elsewhere?.cancelled(this.sessionId, requestId, reason)
  }

  /** False when no such call runs here. */
  cancel(requestId: RequestId, reason: string | undefined): boolean {
    const call = this.calls?.get(requestId)
    call?.cancel(reason)
    return call !== undefined
  }

  /** Nothing more will come from the client. */
  gone(): void {
    for (const take of [...(this.#expected?.values() ?? [])]) take(undefined)
  }

  follow(uri: string): void {
    this.#change(uri, true)
  }

  unfollow(uri: string): void {
    this.#change(uri, false)
  }

  /** Another node has written what the session follows from here on. */
  heard(changes: Iterable<readonly [uri: string, follows: boolean]>): void {
    for (const [uri, follows] of changes) this.#set(uri, follows)
  }

  #change(uri: string, follows: boolean): void {
    this.#set(uri, follows)
    const { resources, ...rest } = this.#unsaved ?? NOTHING_UNSAVED
    this.#unsaved = { ...rest, resources: new Map([...resources, [uri, follows]]) }
  }

  #set(uri: string, follows: boolean): void {
    if (follows) {
      this.#subscriptions ??= new Set()
      this.#subscriptions.add(uri)
    } else this.#subscriptions?.delete(uri)
  }
}

/** Changes of a session that its record does not have. */
export interface Unsaved {
  readonly resources: ReadonlyMap<string, boolean>
  readonly logLevel?: LogLevel | undefined
}

const NOTHING_UNSAVED: Unsaved = { resources: new Map() }
const NONE: ReadonlySet<string> = new Set()

/** A client together with what it may do: what an access is made of is asked for each request, the client may live longer. */
export interface Caller {
  readonly client: Client
  /** What `connect` left behind; without `connect` everyone sees everything. */
  readonly access: Access | undefined
}

export interface ClientOptions {
  readonly info?: Implementation | undefined
  readonly capabilities?: ClientCapabilities
  readonly logLevel?: LogLevel | undefined
  readonly sessionId?: string | undefined
  readonly reachable?: boolean
  readonly calls?: RunningCalls | undefined
}
