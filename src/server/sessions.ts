import type { Codec } from '../protocol/codec.js'
import type { RequestId } from '../protocol/jsonrpc.js'
import { Client, type RunningCall } from './client.js'

/** An open channel to a client that ends with its session. */
export interface OpenStream {
  end(): void
}

/** A client that comes back with an id. */
export class StoredSession {
  readonly id: string
  readonly client: Client
  lastUsedMs: number
  /** The stream for what belongs to no call, while it is open. */
  stream: OpenStream | undefined
  /** Who the session belongs to: for anyone else it is not there. */
  principal: string | null = null

  constructor(id: string, codec: Codec, nowMs: number) {
    this.id = id
    this.client = new Client(codec, { sessionId: id, calls: new Map<RequestId, RunningCall>() })
    this.lastUsedMs = nowMs
  }

  get busy(): boolean {
    return this.stream !== undefined || (this.client.calls?.size ?? 0) > 0
  }

  end(): void {
    for (const call of this.client.calls?.values() ?? []) call.cancel('The session has ended')
    this.stream?.end()
  }
}

export interface SessionsOptions {
  readonly ttlMs: number
  readonly max: number
  readonly clock: () => number
  readonly ids: () => string
}

/** Sessions by id, in the order of their last use: the first is the next to go. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #byId = new Map<string, StoredSession>()

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#byId.size
  }

  /** A session that is not kept yet: {@link keep} it when its `initialize` has succeeded. */
  open(codec: Codec, principal: string | null): StoredSession {
    const session = new StoredSession(this.#options.ids(), codec, this.#options.clock())
    session.principal = principal
    return session
  }

  /** False when there is no room: all sessions are in use. */
  keep(session: StoredSession): boolean {
    this.#makeRoom()
    if (this.#byId.size >= this.#options.max) return false
    this.#byId.set(session.id, session)
    return true
  }

  /** The session of an id that is known and in time; its time starts anew. */
  use(id: string, principal: string | null): StoredSession | undefined {
    const session = this.#byId.get(id)
    if (session === undefined || session.principal !== principal) return undefined
    this.#byId.delete(id)
    if (this.#expired(session)) {
      session.end()
      return undefined
    }
    session.lastUsedMs = this.#options.clock()
    this.#byId.set(id, session)
    return session
  }

  end(session: StoredSession): void {
    this.#byId.delete(session.id)
    session.end()
  }

  endStreams(): void {
    for (const session of this.#byId.values()) session.stream?.end()
  }

  endAll(): void {
    for (const session of [...this.#byId.values()]) this.end(session)
  }

  #expired(session: StoredSession): boolean {
    return !session.busy && this.#options.clock() - session.lastUsedMs > this.#options.ttlMs
  }

  /** Those out of time go; when that is not enough, so does the one that has been idle longest. */
  #makeRoom(): void {
    for (const session of this.#byId.values()) {
      if (session.busy) continue
      if (!this.#expired(session) && this.#byId.size < this.#options.max) return
      this.end(session)
    }
  }
}
