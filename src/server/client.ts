import type { Codec } from '../protocol/codec.js'
import type { RequestId, ResponseMessage } from '../protocol/jsonrpc.js'
import type { ClientCapabilities, Implementation, LogLevel } from '../protocol/model.js'
import type { Access } from '../router/access.js'

/** A call that can be ended from outside, by the client's word. */
export interface RunningCall {
  /** It does nothing but wait for an answer of its client, which has let go of its connection. */
  readonly deserted?: boolean
  cancel(reason?: string): void
}

/**
 * Who is calling: the version they speak, what they said of themselves, and their running calls. Where each request stands
 * alone it is made for one request; elsewhere it lives as long as the session.
 */
export class Client {
  codec: Codec
  info: Implementation | undefined
  capabilities: ClientCapabilities
  logLevel: LogLevel | undefined
  readonly sessionId: string | undefined
  /** There is a stream on which the client can be told what belongs to no call. */
  readonly reachable: boolean
  /** An operation has changed what has to be kept for the session's next request. */
  changed = false
  #subscriptions: Set<string> | undefined
  /** Who waits for the client's answers to requests of ours. */
  #expected: Map<RequestId, (response: ResponseMessage | undefined) => void> | undefined
  /** Running calls by id, where one sender's ids must differ; undefined where ids mean nothing between two requests. */
  readonly calls: Map<RequestId, RunningCall> | undefined

  constructor(codec: Codec, options: ClientOptions = {}) {
    this.codec = codec
    this.info = options.info
    this.capabilities = options.capabilities ?? {}
    this.logLevel = options.logLevel
    this.sessionId = options.sessionId
    this.reachable = options.reachable ?? false
    this.calls = options.calls
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

  /** The client has answered; an answer that nobody waits for is ignored, for it may have crossed the end of its call. */
  answered(response: ResponseMessage): void {
    if (response.id !== undefined) this.#expected?.get(response.id)?.(response)
  }

  /** Nothing more will come from the client. */
  gone(): void {
    for (const take of [...(this.#expected?.values() ?? [])]) take(undefined)
  }

  follow(uri: string): void {
    this.#subscriptions ??= new Set()
    this.#subscriptions.add(uri)
  }

  unfollow(uri: string): void {
    this.#subscriptions?.delete(uri)
  }
}

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
  readonly calls?: Map<RequestId, RunningCall> | undefined
}
