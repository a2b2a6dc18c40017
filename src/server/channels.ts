import type { Store } from '../backplane/store.js'
import type { RequestId } from '../protocol/jsonrpc.js'
import type { Access } from '../router/access.js'
import type { CallStreams } from './call-streams.js'
import { DoneLogs } from './done-logs.js'
import { EventChannel, type EventSink } from './event-channel.js'
import type { Listener, Listeners } from './listeners.js'
import { type Ending, type LiveSession, SessionStream } from './live-session.js'
import type { Notices } from './notices.js'
import type { Sessions } from './sessions.js'
import { type ResumeOptions, StreamLog, streamOf } from './stream-log.js'
import type { StreamOwners, Yielded } from './stream-owners.js'
import type { TrackedStream } from './tracker.js'

/** The name of the stream that belongs to no call. */
const SESSION_STREAM = 'session'

export interface ChannelsOptions {
  readonly store: Store
  readonly resume: Required<ResumeOptions>
  readonly listeners: Listeners
  readonly sessions: Sessions
  readonly ids: () => string
  /** A session's stream goes on behind a gap. */
  readonly missed: (listener: Listener) => Promise<void>
  readonly notices: Notices
  readonly owners: StreamOwners
  readonly callStreams: CallStreams
  readonly report: (error: unknown) => void
}

/** The streams of sessions on this node: one a session for what belongs to no call, and one a call that streams. */
export class Channels {
  readonly #options: ChannelsOptions
  /** Streams of calls that run here. */
  readonly #calls = new Map<string, EventChannel>()
  readonly #done: DoneLogs

  constructor(options: ChannelsOptions) {
    this.#options = options
    this.#done = new DoneLogs(options.resume.ttlMs, (log) => this.#drop(log))
    options.owners.onYield((id, takeOver) => this.#yield(id, takeOver))
  }

  /** A stream for one call; it is forgotten when it ends, and what is in its log stays for a while. */
  openCall(session: LiveSession, ids: readonly RequestId[]): EventChannel {
    const { callStreams } = this.#options
    const channel = this.#channel(session, this.#options.ids())
    const { key } = channel.log
    this.#calls.set(keyOf(session.id, channel.log.name), channel)
    const begun = callStreams.begun(key, ids, () => void channel.release())
    if (begun !== undefined) channel.waitFor(begun)
    channel.onKept = () => callStreams.appended(key)
    const forget = session.onEnd((how) => {
      if (how === 'ended') void channel.end()
    })
    channel.onEnded = () => {
      forget()
      callStreams.ended(key)
      this.#calls.delete(keyOf(session.id, channel.log.name))
      if (session.gone) this.#drop(channel.log)
      else this.#done.keep(channel.log)
    }
    return channel
  }

  #drop(log: Pick<StreamLog, 'drop'>): void {
    log.drop().catch(this.#options.report)
  }

  /** The session's own stream where it is here. */
  ofSession(id: string): EventChannel | undefined {
    return this.#options.sessions.live(id)?.stream?.channel
  }

  /**
   * Makes the session's own stream one of this node, from where it was told before; false while a client is connected to it, here or
   * elsewhere, unless `takeOver`.
   */
  async take(session: LiveSession, access: Access, takeOver: boolean): Promise<boolean> {
    const { owners, notices, sessions, missed } = this.#options
    const here = session.stream
    if (here !== undefined) {
      const free = takeOver || !here.attached
      here.coming ||= free
      return free
    }
    const taken = await owners.take(session.id, takeOver)
    if (taken.refused) return false
    // What it has begun to follow meanwhile was told to who had the stream.
    await sessions.refresh(session)
    if (session.stream !== undefined) return await this.take(session, access, takeOver)
    if (session.ended) {
      owners.leave(session.id, 'ended')
      return false
    }
    const stream = this.#begin(session, access)
    // What was told while the stream was nowhere, nobody knows.
    if (taken.lost) await missed(stream)
    else if (taken.told !== undefined) await notices.catchUp(stream, taken.told)
    return true
  }

  /** Connects the session's own stream, and goes on with it where `after` is one of its events. {@link take} it before. */
  async connect({ stream }: LiveSession, sink: EventSink, { access, ...attaching }: Connecting): Promise<void> {
    if (stream === undefined) return sink.end()
    stream.coming = false
    // Who comes back may be allowed less than before.
    stream.access = access
    const onMissed = (): void => void this.#options.missed(stream).catch(this.#options.report)
    await stream.channel.attach(sink, { ...attaching, onMissed })
  }

  /** Another node goes on with the stream of a session; it gets what was told here. */
  async #yield(id: string, takeOver: boolean): Promise<Yielded> {
    const { notices, sessions } = this.#options
    const stream = sessions.live(id)?.stream
    if (stream?.attached && !takeOver) return { attached: true }
    const told = notices.recent
    if (stream === undefined) return undefined
    this.#leave(stream, 'left')
    await notices.settled()
    await stream.channel.release()
    const { torn } = stream.channel
    stream.channel.leave()
    // What could not be kept is not known to who comes back.
    if (torn) return undefined
    return { told, heldMs: Date.now() - stream.sinceMs }
  }

  /** The stream of a call, to go on with after an event; undefined when that is none of this session's, or has gone. */
  async ofCall(session: LiveSession, after: string): Promise<((sink: EventSink) => Promise<void>) | undefined> {
    const name = streamOf(after)
    if (name === undefined) return undefined
    const running = this.#calls.get(keyOf(session.id, name))
    await running?.mend()
    const channel = running ?? this.#channel(session, name)
    if (!(await channel.log.knows(after))) return undefined
    if (running !== undefined) return (sink) => running.attach(sink, { after })
    return (sink) => this.#options.callStreams.follow(session, { log: channel.log, after }, sink)
  }

  /** Streams that are open here. */
  tracked(): Omit<TrackedStream, 'node'>[] {
    const ofSessions = [...this.#options.sessions.streams()].map(({ session, channel }) => ({
      sessionId: session.id,
      of: 'session' as const,
      connected: channel.attached,
    }))
    const ofCalls = [...this.#calls].map(([key, { log, attached }]) => ({
      sessionId: key.slice(0, -log.name.length - 1),
      of: 'call' as const,
      connected: attached,
    }))
    return [...ofSessions, ...ofCalls]
  }

  /** Lets all connections go: their clients may come back, to another node or to this one later. */
  endAll(): void {
    for (const { channel } of this.#options.sessions.streams()) void channel.release()
    this.#options.callStreams.leave()
  }

  /** Nothing is kept up for other nodes any more. */
  leave(): void {
    this.#options.owners.close()
  }

  isOfSession(after: string | undefined): boolean {
    return after === undefined || streamOf(after) === SESSION_STREAM
  }

  /** From its first connection on a session hears what happens, also while its client is away for a moment. */
  #begin(session: LiveSession, access: Access): SessionStream {
    const channel = this.#channel(session, SESSION_STREAM)
    const stream = new SessionStream({ session, channel, access, onOver: this.#onOver })
    session.holds++
    session.stream = stream
    this.#options.listeners.add(stream)
    return stream
  }

  #leave(stream: SessionStream, how: Ending): void {
    const { listeners, owners, sessions } = this.#options
    const { session } = stream
    listeners.remove(stream)
    owners.leave(session.id, how)
    session.stream = undefined
    sessions.release(session)
  }

  /** One for all of them. */
  readonly #onOver = (stream: SessionStream, how: Ending): void => {
    const { channel } = stream
    this.#leave(stream, how)
    if (how === 'ended') void channel.end().then(() => this.#drop(channel.log))
    else void channel.release().then(() => channel.leave())
  }

  #channel(session: LiveSession, name: string): EventChannel {
    const { store, resume: options, report } = this.#options
    return new EventChannel(new StreamLog(store, session.id, { name, options }), report)
  }
}

interface Connecting {
  readonly access: Access
  readonly after: string | undefined
  readonly prime: boolean
  /** Milliseconds after which the client is to come back when its stream is let go; undefined where its version knows of none. */
  readonly retryMs: number | undefined
}

const keyOf = (sessionId: string, name: string): string => `${sessionId}/${name}`
