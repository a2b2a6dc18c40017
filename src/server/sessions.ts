import type { PubSub, Unsubscribe } from '../backplane/pub-sub.js'
import type { Store } from '../backplane/store.js'
import { LONGEST_TIMER_MS } from '../options.js'
import type { Codec } from '../protocol/codec.js'
import { codecOf } from '../protocol/codecs.js'
import type { RequestId } from '../protocol/jsonrpc.js'
import type { ClientCapabilities, Implementation, LogLevel } from '../protocol/model.js'
import type { ProtocolVersion } from '../protocol/versions.js'
import { Client, type RunningCall } from './client.js'

/** What is kept of a session between two requests, as JSON. */
interface SessionRecord {
  readonly version: ProtocolVersion
  readonly info?: Implementation | undefined
  readonly capabilities: ClientCapabilities
  readonly logLevel?: LogLevel | undefined
  readonly principal: string | null
  readonly subscriptions: readonly string[]
  /** When this was written: it is written again once a quarter of its time has gone. */
  readonly writtenMs: number
}

/** A session while something of it is here: a request, a running call, or its stream. */
export class LiveSession {
  readonly id: string
  readonly client: Client
  readonly principal: string | null
  /** Requests and streams that hold it here. */
  holds = 0
  /** Its stream, where it was opened here: without a connection it holds the session, but does not use it. */
  stream: { readonly attached: boolean } | undefined
  writtenMs = 0
  /** Of its record; null before there is one. */
  revision: string | null = null
  /** When the store drops the record if nobody writes it again. */
  keptUntilMs = 0
  /** The last write of its record. */
  written: Promise<unknown> = Promise.resolve()
  ended = false
  #onEnd: Set<EndListener> | undefined

  constructor(id: string, codec: Codec, principal: string | null) {
    this.id = id
    this.principal = principal
    this.client = new Client(codec, { sessionId: id, reachable: true, calls: new Map<RequestId, RunningCall>() })
  }

  /** Whether no request and no connection uses it: a call that waits for who has gone does not count. */
  get idle(): boolean {
    const calls = [...(this.client.calls?.values() ?? [])]
    const deserted = calls.filter((call) => call.deserted === true).length
    return this.holds === (this.stream?.attached === false ? 1 : 0) + deserted
  }

  /** Returns the way to stop being told. */
  onEnd(listener: EndListener): () => void {
    this.#onEnd ??= new Set()
    this.#onEnd.add(listener)
    return () => this.#onEnd?.delete(listener)
  }

  /** The session is over. Nothing happens the second time. */
  end(): void {
    if (this.ended) return
    for (const call of [...(this.client.calls?.values() ?? [])]) call.cancel('The session has ended')
    this.#close('ended')
  }

  /** This node lets the session go; another one, or a later one, may go on with it. */
  leave(): void {
    if (!this.ended) this.#close('left')
  }

  #close(how: Ending): void {
    this.ended = true
    for (const listener of [...(this.#onEnd ?? [])]) listener(how)
  }
}

/** A session that ends is gone for ever; one that was left goes on elsewhere. */
export type Ending = 'ended' | 'left'
type EndListener = (how: Ending) => void

export interface SessionsOptions {
  readonly store: Store
  readonly pubSub: PubSub
  readonly report: (error: unknown) => void
  readonly ttlMs: number
  readonly max: number
  readonly clock: () => number
  readonly ids: () => string
}

/**
 * Sessions by id. The Store has them; what is in use is also here, so that the requests of one session share its running
 * calls. An idle session costs this node no more than its id.
 */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #live = new Map<string, LiveSession>()
  /** Requests that are waiting for the store to give them their session, which must be the one that others hold. */
  readonly #coming = new Map<string, number>()
  /** Sessions that were opened here, with the time of their last use: the first is the next to go. */
  readonly #opened = new Map<string, number>()

  readonly #subscribed: Promise<Unsubscribe | undefined>
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#subscribed = options.pubSub
      .subscribe(ENDED, (id) => this.#forget(id))
      .catch((error: unknown) => void options.report(error))
  }

  /** A quarter more than asked for, since that much of it may pass before a record is written again. */
  get #keptMs(): number {
    return Math.ceil(this.#options.ttlMs * 1.25)
  }

  /** A session that is not kept yet: {@link keep} it when its `initialize` has succeeded. */
  open(codec: Codec, principal: string | null): LiveSession {
    return new LiveSession(this.#options.ids(), codec, principal)
  }

  /** False when there is no room: all sessions are in use. */
  async keep(session: LiveSession): Promise<boolean> {
    if (!(await this.#makeRoom())) return false
    this.#opened.set(session.id, this.#options.clock())
    await this.#write(session)
    return true
  }

  /**
   * The session of an id that is known, in time and the caller's own; its time starts anew. {@link release} it when the
   * request is over.
   */
  async use(id: string, principal: string | null): Promise<LiveSession | undefined> {
    this.#coming.set(id, (this.#coming.get(id) ?? 0) + 1)
    try {
      const session = await this.#find(id, principal)
      if (session === undefined) return undefined
      if (this.#opened.delete(id)) this.#opened.set(id, this.#options.clock())
      await this.#renew(session)
      if (session.ended) return undefined
      session.holds++
      return session
    } finally {
      this.#came(id)
    }
  }

  release(session: LiveSession): void {
    session.holds--
    this.#dropIdle(session.id)
  }

  async #find(id: string, principal: string | null): Promise<LiveSession | undefined> {
    const stored = await this.#options.store.get(keyOf(id))
    const live = this.#live.get(id)
    const record = stored && (JSON.parse(stored.value) as SessionRecord)
    if ((live?.principal ?? record?.principal ?? null) !== principal) return undefined
    const session = live ?? (record && restore(id, record))
    if (session === undefined || session.ended || this.#isOver(session, record)) {
      this.#forget(id)
      if (record !== undefined) await this.#options.store.delete(keyOf(id))
      return undefined
    }
    this.#live.set(id, session)
    this.#timer ??= quietTimer(() => this.#checkAll(), this.#options.ttlMs / 4)
    if (stored === undefined || record === undefined) await this.#write(session)
    else this.#seen(session, record, stored.revision)
    return session
  }

  /** The store is the truth: what it does not have has run out of time unused, or was ended, be it on another node. */
  #isOver(session: LiveSession, record: SessionRecord | undefined): boolean {
    const inUse = this.#live.has(session.id) && !session.idle
    if (inUse) return record === undefined && !this.#isOutOfTime(session)
    return record === undefined || this.#isLate(session.id, record)
  }

  /** Another node may have written the record last. */
  #seen(session: LiveSession, { writtenMs }: SessionRecord, revision: string): void {
    session.writtenMs = Math.max(session.writtenMs, writtenMs)
    session.keptUntilMs = Math.max(session.keptUntilMs, writtenMs + this.#keptMs)
    session.revision ??= revision
  }

  #came(id: string): void {
    const coming = (this.#coming.get(id) ?? 1) - 1
    if (coming > 0) this.#coming.set(id, coming)
    else this.#coming.delete(id)
    this.#dropIdle(id)
  }

  /** What nobody holds and nobody is about to take goes; the next one begins with what the store has. */
  #dropIdle(id: string): void {
    if (this.#coming.has(id) || (this.#live.get(id)?.holds ?? 0) > 0) return
    this.#live.delete(id)
  }

  /** A session in use is in time, however long its request or stream has been open; one that has stayed away has left. */
  #checkAll(): void {
    for (const session of this.#live.values()) {
      const checked = session.idle ? this.#expire(session) : this.#renew(session)
      checked.catch(this.#options.report)
    }
    if (this.#live.size === 0) this.#stopTimer()
  }

  #stopTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #expire(session: LiveSession): Promise<void> {
    if ((await this.#options.store.get(keyOf(session.id))) === undefined) this.#forget(session.id)
  }

  /** Writes what an operation has changed. */
  async save(session: LiveSession): Promise<void> {
    session.client.changed = false
    if (!session.ended) await this.#write(session)
  }

  /** The session is over once its record is gone; until then its client may ask again. */
  async end(session: LiveSession): Promise<void> {
    await session.written.catch(() => undefined)
    await this.#options.store.delete(keyOf(session.id))
    this.#forget(session.id)
    // Where it is in use on other nodes it ends there too, at once if they hear of it.
    await this.#options.pubSub.publish(ENDED, session.id).catch(this.#options.report)
  }

  /** Ends what is here of every session, but not the sessions: another node, or this one later, may go on with them. */
  leave(): void {
    this.#stopTimer()
    for (const session of [...this.#live.values()]) session.leave()
    this.#subscribed.then((unsubscribe) => unsubscribe?.()).catch(this.#options.report)
  }

  /** The store keeps a record somewhat longer than asked for; who opened the session knows better. */
  #isLate(id: string, record: SessionRecord): boolean {
    // Another node may have seen it later than this one.
    const usedMs = Math.max(this.#opened.get(id) ?? 0, record.writtenMs)
    return this.#opened.has(id) && this.#options.clock() - usedMs > this.#options.ttlMs
  }

  async #renew(session: LiveSession): Promise<void> {
    if (this.#options.clock() - session.writtenMs > this.#options.ttlMs / 4) await this.#write(session)
  }

  async #write(session: LiveSession): Promise<void> {
    const { client, principal } = session
    session.writtenMs = this.#options.clock()
    const record: SessionRecord = {
      version: client.codec.version,
      info: client.info,
      capabilities: client.capabilities,
      logLevel: client.logLevel,
      principal,
      subscriptions: [...client.subscriptions],
      writtenMs: session.writtenMs,
    }
    const write = (): Promise<void> => this.#put(session, JSON.stringify(record))
    // In order: the last one to begin is the one that counts.
    session.written = session.written.catch(() => undefined).then(write)
    await session.written
  }

  /** Writes over what another node has written, but never what has ended there. */
  async #put(session: LiveSession, value: string): Promise<void> {
    const { store } = this.#options
    const ttlMs = this.#keptMs
    const key = keyOf(session.id)
    while (!session.ended) {
      const revision = await store.set(key, value, { ttlMs, ifRevision: session.revision })
      if (revision !== undefined) {
        session.revision = revision
        session.keptUntilMs = session.writtenMs + ttlMs
        return
      }
      const found = await store.get(key)
      if (found === undefined && !this.#isOutOfTime(session)) return this.#forget(session.id)
      session.revision = found?.revision ?? null
    }
  }

  /** A record that the store has dropped by itself, while its session was in use here, may be written anew. */
  #isOutOfTime(session: LiveSession): boolean {
    return this.#options.clock() >= session.keptUntilMs
  }

  #forget(id: string): void {
    this.#opened.delete(id)
    this.#live.get(id)?.end()
    this.#dropIdle(id)
  }

  /** Those out of time are gone already; when that is not enough, the one that has been idle longest makes room. */
  async #makeRoom(): Promise<boolean> {
    const { clock, max, store } = this.#options
    for (const [id, usedMs] of this.#opened) {
      const live = this.#live.get(id)
      if (live?.idle === false) continue
      const expired = clock() - usedMs > this.#keptMs
      if (!expired && this.#opened.size < max) return true
      this.#forget(id)
      if (!expired || live !== undefined) await store.delete(keyOf(id))
    }
    return this.#opened.size < max
  }
}

/** A timer that does not keep the process alive, on hosts where that is a question. */
function quietTimer(run: () => void, everyMs: number): ReturnType<typeof setInterval> {
  const timer = setInterval(run, Math.min(Math.max(10, Math.floor(everyMs)), LONGEST_TIMER_MS))
  ;(timer as { unref?(): void }).unref?.()
  return timer
}

/** Topic of the ids of sessions that have ended. */
const ENDED = 'sessions/ended'

const keyOf = (id: string): string => `session/${id}`

function restore(id: string, record: SessionRecord): LiveSession {
  const session = new LiveSession(id, codecOf(record.version), record.principal)
  const { client } = session
  client.info = record.info
  client.capabilities = record.capabilities
  client.logLevel = record.logLevel
  for (const uri of record.subscriptions) client.follow(uri)
  return session
}
