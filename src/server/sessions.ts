import type { PubSub } from '../backplane/pub-sub.js'
import type { Store } from '../backplane/store.js'
import { quietTimer } from '../options.js'
import type { Codec } from '../protocol/codec.js'
import type { Unsaved } from './client.js'
import { LiveSession, type SessionStream } from './live-session.js'
import type { Nodes } from './nodes.js'
import { OpenedSessions } from './opened-sessions.js'
import { type OperatorLog, shownId } from './operator-log.js'
import { SessionLetters } from './session-letters.js'
import { SESSION_KEYS, type SessionRecord } from './session-record.js'
import { StandingSubscription } from './standing-subscription.js'

export interface SessionsOptions {
  readonly store: Store
  readonly pubSub: PubSub
  readonly report: (error: unknown) => void
  readonly ttlMs: number
  readonly max: number
  /** Of one caller; those without a name are not counted. */
  readonly maxOfCaller: number
  readonly log: OperatorLog
  readonly clock: () => number
  readonly ids: () => string
  /** Those that share the sessions. @default none */
  readonly nodes?: Nodes
  /** The one among them that has the stream of a session. */
  readonly ownerOf?: (session: string) => Promise<string | undefined>
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
  readonly #opened = new OpenedSessions()

  readonly #hears: readonly StandingSubscription[]
  readonly #letters: SessionLetters | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#letters = this.#openLetters(options)
    const { pubSub, report } = options
    const changed = (id: string): void => void this.#changed(id).catch(report)
    this.#hears = [
      new StandingSubscription({ pubSub, report, topic: ENDED, listener: (id) => this.#forget(id) }),
      new StandingSubscription({ pubSub, report, topic: CHANGED, listener: changed }),
    ]
  }

  #openLetters({ nodes, ownerOf, store, pubSub, ttlMs, report }: SessionsOptions): SessionLetters | undefined {
    if (nodes?.shared !== true || ownerOf === undefined) return undefined
    const here = { live: (id: string) => this.live(id), uses: (id: string) => this.#uses(id) }
    return new SessionLetters({
      ...{ nodes, ownerOf, store, pubSub, ttlMs, report, ...here },
      onEnded: (id) => this.#forget(id),
    })
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
    const { id, principal, client } = session
    const leaving = this.#dropExpired()
    const crowded = this.#crowded(principal)
    // Taken before anything is waited for, so that many who begin at once do not all find the same place.
    this.#opened.add(id, principal, this.#options.clock())
    if (crowded !== undefined) {
      const evicted = await this.#evictOne(crowded, id)
      if (evicted === undefined) {
        this.#opened.delete(id)
        this.#options.log.tell('session_refused', { principal })
        return false
      }
      leaving.push(evicted)
    }
    await Promise.all(leaving.map((left) => this.#options.store.delete(keyOf(left))))
    await this.#write(session)
    if (!this.#opened.has(id)) {
      // It had to make room again before it was there.
      await this.#options.store.delete(keyOf(id))
      return false
    }
    this.#options.log.tell('session_opened', { session: shownId(id), principal, version: client.codec.version })
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
      this.#opened.touch(id, this.#options.clock())
      await this.#renew(session)
      if (session.ended) return undefined
      session.holds++
      return session
    } finally {
      this.#came(id)
    }
  }

  /** The session of an id where something of it is here. */
  live(id: string): LiveSession | undefined {
    return this.#live.get(id)
  }

  /** The streams of sessions that are here. */
  *streams(): Generator<SessionStream> {
    for (const { stream } of [...this.#live.values()]) if (stream !== undefined) yield stream
  }

  /** What its client says here is heard where it is waited for. */
  #reaching(session: LiveSession): LiveSession {
    session.client.elsewhere = this.#letters
    return session
  }

  release(session: LiveSession): void {
    session.holds--
    this.#dropIdle(session.id)
  }

  async #find(id: string, principal: string | null): Promise<LiveSession | undefined> {
    const before = this.#live.get(id)?.revision
    const stored = await this.#options.store.get(keyOf(id))
    const live = this.#live.get(id)
    const record = stored && (JSON.parse(stored.value) as SessionRecord)
    const session = live ?? (record && this.#reaching(LiveSession.restore(id, record)))
    if (session !== undefined && session.principal !== principal) return undefined
    if (session === undefined || session.ended || this.#isOver(session, record)) {
      this.#expired(id)
      if (record !== undefined) await this.#options.store.delete(keyOf(id))
      return undefined
    }
    this.#live.set(id, session)
    this.#timer ??= quietTimer(() => this.#checkAll(), this.#options.ttlMs / 4)
    if (stored === undefined || record === undefined) await this.#write(session)
    else this.#seen(session, record, { before, now: stored.revision })
    return session
  }

  /** The store is the truth: what it does not have has run out of time unused, or was ended, be it on another node. */
  #isOver(session: LiveSession, record: SessionRecord | undefined): boolean {
    const inUse = this.#live.has(session.id) && !session.idle
    if (inUse) return record === undefined && !this.#isOutOfTime(session)
    return record === undefined || this.#isLate(session.id, record)
  }

  /** Another node may have written the record last. */
  #seen(session: LiveSession, record: SessionRecord, revision: SeenRevision): void {
    const { writtenMs } = record
    session.writtenMs = Math.max(session.writtenMs, writtenMs)
    session.keptUntilMs = Math.max(session.keptUntilMs, writtenMs + this.#keptMs)
    // What was written here while the record was read is newer than what was read.
    if (session.revision === revision.now || (session.revision ?? undefined) !== (revision.before ?? undefined)) return
    if (session.revision !== null) session.client.adopt(record)
    session.revision = revision.now
  }

  /** What another node has written of a session before its stream came here. */
  async refresh({ id }: LiveSession): Promise<void> {
    if (this.#letters !== undefined) await this.#changed(id)
  }

  /** Another node has changed a session that is here too. */
  async #changed(id: string): Promise<void> {
    const before = this.#live.get(id)?.revision
    if (before === undefined) return
    const stored = await this.#options.store.get(keyOf(id))
    const session = this.#live.get(id)
    if (stored === undefined || session === undefined) return
    this.#seen(session, JSON.parse(stored.value) as SessionRecord, { before, now: stored.revision })
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
    const stored = await this.#options.store.get(keyOf(session.id))
    if (stored === undefined) return this.#expired(session.id)
    // It may be in use elsewhere.
    const { writtenMs } = JSON.parse(stored.value) as SessionRecord
    if (writtenMs > (this.#opened.usedMs(session.id) ?? writtenMs)) this.#opened.touch(session.id, writtenMs)
  }

  #expired(id: string): void {
    const known = this.#opened.has(id) || this.#live.has(id)
    this.#forget(id)
    if (known) this.#options.log.tell('session_ended', { session: shownId(id), how: 'expired' })
  }

  /** Writes what an operation has changed. */
  async save(session: LiveSession): Promise<void> {
    session.client.changed = false
    if (!session.ended) await this.#write(session)
  }

  /** The session is over once its record is gone; until then its client may ask again. */
  async end(session: LiveSession): Promise<void> {
    await session.written?.catch(() => undefined)
    await this.#options.store.delete(keyOf(session.id))
    this.#forget(session.id)
    this.#options.log.tell('session_ended', { session: shownId(session.id), how: 'terminated' })
    // Where it is in use on other nodes it ends there too, at once if they hear of it.
    await this.#options.pubSub.publish(ENDED, session.id).catch(this.#options.report)
    await this.#letters?.changed(session.id, { ended: true }).catch(this.#options.report)
  }

  /** Ends what is here of every session, but not the sessions: another node, or this one later, may go on with them. */
  leave(): void {
    this.#stopTimer()
    for (const session of [...this.#live.values()]) session.leave()
    this.#letters?.close()
    for (const subscription of this.#hears) void subscription.end()
  }

  /** The store keeps a record somewhat longer than asked for; who opened the session knows better. */
  #isLate(id: string, record: SessionRecord): boolean {
    // Another node may have seen it later than this one.
    const usedMs = Math.max(this.#opened.usedMs(id) ?? 0, record.writtenMs)
    return this.#opened.has(id) && this.#options.clock() - usedMs > this.#options.ttlMs
  }

  async #renew(session: LiveSession): Promise<void> {
    if (this.#options.clock() - session.writtenMs > this.#options.ttlMs / 4) await this.#write(session)
  }

  async #write(session: LiveSession): Promise<void> {
    session.writtenMs = this.#options.clock()
    const write = (): Promise<void> => this.#put(session)
    // In order: the last one to begin is the one that counts.
    const written = session.written === undefined ? write() : session.written.catch(() => undefined).then(write)
    session.written = written
    await written.finally(() => {
      if (session.written === written) session.written = undefined
    })
  }

  /** Writes over what another node has written, but never what has ended there. */
  async #put(session: LiveSession): Promise<void> {
    const { store } = this.#options
    const ttlMs = this.#keptMs
    const key = keyOf(session.id)
    const unsaved = session.client.takeUnsaved()
    while (!session.ended) {
      const revision = await store.set(key, JSON.stringify(session.record), { ttlMs, ifRevision: session.revision })
      if (revision !== undefined) {
        session.revision = revision
        session.keptUntilMs = session.writtenMs + ttlMs
        return await this.#tellChanged(session, unsaved)
      }
      const found = await store.get(key)
      if (found === undefined && !this.#isOutOfTime(session)) return this.#forget(session.id)
      if (found !== undefined) session.client.adopt(JSON.parse(found.value) as SessionRecord, unsaved)
      session.revision = found?.revision ?? null
    }
  }

  /** The node that has the stream of the session has to know what it follows. */
  async #tellChanged({ id }: LiveSession, unsaved: Unsaved): Promise<void> {
    const { pubSub, report } = this.#options
    const { resources } = unsaved
    if (resources.size > 0 || 'logLevel' in unsaved) pubSub.publish(CHANGED, id).catch(report)
    if (resources.size > 0) await this.#letters?.changed(id, { follows: [...resources] })
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

  /**
   * Those of whom one has to leave for a session of this caller; undefined where there is room. A caller takes the place of
   * their own sessions before that of others.
   */
  #crowded(principal: string | null): Iterable<string> | undefined {
    const { max, maxOfCaller } = this.#options
    const own = this.#opened.of(principal)
    if (this.#opened.size < max && (principal === null || own.size < maxOfCaller)) return undefined
    return own.size > 0 ? own : this.#opened.ids()
  }

  /** Those out of time; the store has dropped what it keeps of them by itself, unless they are held here. */
  #dropExpired(): string[] {
    const held: string[] = []
    for (const id of this.#opened.ids()) {
      if (this.#uses(id)) continue
      if (this.#options.clock() - (this.#opened.usedMs(id) ?? 0) <= this.#keptMs) return held
      if (this.#live.has(id)) held.push(id)
      this.#expired(id)
    }
    return held
  }

  /** The one that is unused longest, on whatever node, and is not the new one; undefined where all are in use. */
  async #evictOne(crowd: Iterable<string>, newcomer: string): Promise<string | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const idle = this.#idleOf(crowd, newcomer)
      const used = idle.length === 0 ? [] : ((await this.#letters?.usedElsewhere(idle)) ?? [])
      for (const id of used) this.#opened.touch(id, this.#options.clock())
      // Meanwhile another one who came may have taken its place, or its client may have come back.
      const evicted = idle.find((id) => !used.includes(id) && this.#opened.has(id) && !this.#uses(id))
      if (evicted !== undefined) {
        this.#forget(evicted)
        this.#options.log.tell('session_evicted', { session: shownId(evicted) })
        return evicted
      }
      if (idle.length === 0) return undefined
    }
    return undefined
  }

  /** Some that this node does not use, the longest unused first. */
  #idleOf(crowd: Iterable<string>, newcomer: string): string[] {
    const idle: string[] = []
    for (const id of crowd) {
      if (id === newcomer || this.#uses(id)) continue
      idle.push(id)
      // Where nobody has to be asked one is enough.
      if (this.#letters === undefined || idle.length === MAX_ASKED) break
    }
    return idle
  }

  /** Whether a request or a connection of the session is here. */
  #uses(id: string): boolean {
    return this.#coming.has(id) || this.#live.get(id)?.idle === false
  }
}

/** Idle sessions that other nodes are asked about at once, and how often. */
const MAX_ASKED = 32
const MAX_TRIES = 3

interface SeenRevision {
  /** What was known of it before the record was read. */
  readonly before: string | null | undefined
  readonly now: string
}

/** Topic of the ids of sessions that something has changed of. */
const CHANGED = 'sessions/changed'

/** Topic of the ids of sessions that have ended. */
const ENDED = 'sessions/ended'

const keyOf = (id: string): string => SESSION_KEYS + id
