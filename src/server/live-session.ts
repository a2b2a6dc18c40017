import type { Codec } from '../protocol/codec.js'
import { codecOf } from '../protocol/codecs.js'
import { notificationMessage } from '../protocol/jsonrpc.js'
import type { Access } from '../router/access.js'
import type { Kind } from '../router/catalogue.js'
import { Client } from './client.js'
import type { EventChannel } from './event-channel.js'
import { ALL_LISTS, type Listener } from './listeners.js'
import { RunningCalls } from './running-calls.js'
import type { SessionRecord } from './session-record.js'

/** A session while something of it is here: a request, a running call, or its stream. */
export class LiveSession {
  readonly id: string
  readonly client: Client
  readonly principal: string | null
  /** Requests and streams that hold it here. */
  holds = 0
  /** Its stream, where that is here: without a connection it holds the session, but does not use it. */
  stream: SessionStream | undefined
  writtenMs = 0
  /** Of its record; null before there is one. */
  revision: string | null = null
  /** When the store drops the record if nobody writes it again. */
  keptUntilMs = 0
  /** The last write of its record. */
  written: Promise<unknown> | undefined
  #over: Ending | undefined
  #onEnd: readonly EndListener[] = NOBODY

  constructor(id: string, codec: Codec, principal: string | null) {
    this.id = id
    this.principal = principal
    this.client = new Client(codec, { sessionId: id, reachable: true, calls: new RunningCalls() })
  }

  /** One that was kept. */
  static restore(id: string, record: SessionRecord): LiveSession {
    const session = new LiveSession(id, codecOf(record.version), record.principal)
    const { client } = session
    client.info = record.info
    client.capabilities = record.capabilities
    client.adopt(record)
    return session
  }

  /** What is kept of it. */
  get record(): SessionRecord {
    const { client, principal, writtenMs } = this
    return {
      version: client.codec.version,
      info: client.info,
      capabilities: client.capabilities,
      logLevel: client.logLevel,
      principal,
      subscriptions: [...client.subscriptions],
      writtenMs,
    }
  }

  /** Whether no request and no connection uses it: a call that waits for who has gone does not count. */
  get idle(): boolean {
    return this.holds === (this.stream?.attached === false ? 1 : 0) + (this.client.calls?.deserted ?? 0)
  }

  /** Whether it is over here. */
  get ended(): boolean {
    return this.#over !== undefined
  }

  /** Whether it is over everywhere. */
  get gone(): boolean {
    return this.#over === 'ended'
  }

  /** Returns the way to stop being told. */
  onEnd(listener: EndListener): () => void {
    this.#onEnd = [...this.#onEnd, listener]
    return () => {
      this.#onEnd = this.#onEnd.filter((other) => other !== listener)
    }
  }

  /** The session is over. Nothing happens the second time. */
  end(): void {
    if (this.ended) return
    this.client.calls?.cancelAll('The session has ended')
    this.#close('ended')
  }

  /** This node lets the session go; another one, or a later one, may go on with it. */
  leave(): void {
    if (!this.ended) this.#close('left')
  }

  #close(how: Ending): void {
    this.#over = how
    this.stream?.over(how)
    for (const listener of this.#onEnd) listener(how)
  }
}

/** A session that ends is gone for ever; one that was left goes on elsewhere. */
export type Ending = 'ended' | 'left'
type EndListener = (how: Ending) => void
const NOBODY: readonly EndListener[] = []

/** The stream of a session while it is on this node: what belongs to no call is told on it. Methods, since there are many of it. */
export class SessionStream implements Listener {
  readonly session: LiveSession
  readonly channel: EventChannel
  access: Access
  /** When this node began to tell on it. */
  readonly sinceMs: number = Date.now()
  /** A client is being let in. */
  coming = true
  readonly #onOver: SessionStreamOptions['onOver']

  constructor({ session, channel, access, onOver }: SessionStreamOptions) {
    this.session = session
    this.channel = channel
    this.access = access
    this.#onOver = onOver
  }

  get lists(): ReadonlySet<Kind> {
    return ALL_LISTS
  }

  get resources(): ReadonlySet<string> {
    return this.session.client.subscriptions
  }

  /** Whether a client is connected, or about to be. */
  get attached(): boolean {
    return this.coming || this.channel.attached
  }

  tell(method: string, params: object): void {
    void this.channel.send(notificationMessage(method, params))
  }

  /** Its session is over. */
  over(how: Ending): void {
    this.#onOver(this, how)
  }
}

export interface SessionStreamOptions {
  readonly session: LiveSession
  readonly channel: EventChannel
  /** What its client may see. */
  readonly access: Access
  readonly onOver: (stream: SessionStream, how: Ending) => void
}
