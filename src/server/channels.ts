import type { Store } from '../backplane/store.js'
import { notificationMessage, type RequestId } from '../protocol/jsonrpc.js'
import type { Access } from '../router/access.js'
import type { Kind } from '../router/catalogue.js'
import type { CallStreams } from './call-streams.js'
import { EventChannel, type EventSink } from './event-channel.js'
import { ALL_LISTS, type Listener, type Listeners } from './listeners.js'
import type { Ending, LiveSession } from './live-session.js'
import type { Notices } from './notices.js'
import type { Sessions } from './sessions.js'
import { type ResumeOptions, StreamLog, streamOf } from './stream-log.js'
import type { StreamOwners, Yielded } from './stream-owners.js'
import type { TrackedStream } from './tracker.js'

/** The name of the stream that belongs to no call. */
const SESSION_STREAM = 'session'

/** Characters that the logs of this node's calls that are done may have together. */
const MAX_DONE = 67_108_864

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
  readonly #byKey = new Map<string, EventChannel>()
  /** Sessions with a stream of their own here, by id. */
  readonly #sessions = new Map<string, SessionStream>()

  /** Logs of calls that are done, the oldest first. */
  readonly #done: StreamLog[] = []
  #doneSize = 0

  constructor(options: ChannelsOptions) {
    this.#options = options
    options.owners.onYield((id, takeOver) => this.#yield(id, takeOver))
  }

  /** A stream for one call; it is forgotten when it ends, and what is in its log stays for a while. */
  openCall(session: LiveSession, ids: readonly RequestId[]): EventChannel {
    const { callStreams } = this.#options
    const channel = this.#open(session, this.#options.ids())
    const { key } = channel.log
    const begun = callStreams.begun(key, ids, () => void channel.release())
    if (begun !== undefined) channel.waitFor(begun)
    channel.onKept = () => callStreams.appended(key)
    const forget = session.onEnd((how) => {
      if (how === 'ended') void channel.end()
    })
    channel.onEnded = () => {
      forget()
      callStreams.ended(key)
      this.#byKey.delete(keyOf(session.id, channel.log.name))
      if (session.ended) this.#drop(channel.log)
      else this.#keep(channel.log)
    }
    return channel
  }

  /** Who comes back to a call that is done gets the rest of it, as long as not too many others are done since. */
  #keep(log: StreamLog): void {
    this.#done.push(log)
    this.#doneSize += log.size
    while (this.#doneSize > MAX_DONE) {
      const oldest = this.#done.shift()
      if (oldest === undefined) return
      this.#doneSize -= oldest.size
      this.#drop(oldest)
    }
  }

  #drop(log: StreamLog): void {
    log.drop().catch(this.#options.report)
  }

  /** The session's own stream where it is open here. */
  ofSession(id: string): EventChannel | undefined {
    return this.#byKey.get(keyOf(id, SESSION_STREAM))
  }

  /**
   * Makes the session's own stream one of this node, from where it was told before; false while a client is connected to it, here or
   * elsewhere, unless `takeOver`.
   */
  async take(session: LiveSession, access: Access, takeOver: boolean): Promise<boolean> {
    const { owners, notices, missed } = this.#options
    const here = this.#sessions.get(session.id)
    if (here !== undefined) {
      const free = takeOver || !(here.coming || here.channel.attached)
      here.coming ||= free
      return free
    }
    const taken = await owners.take(session.id, takeOver)
    if (taken.refused) return false
    if (this.#sessions.has(session.id)) return await this.take(session, access, takeOver)
    const listener = this.#begin(session, access)
    // What was told while the stream was nowhere, nobody knows.
    if (taken.lost) await missed(listener)
    else if (taken.told !== undefined) await notices.catchUp(listener, taken.told)
    return true
  }

  /** Connects the session's own stream, and goes on with it where `after` is one of its events. {@link take} it before. */
  async connect(session: LiveSession, sink: EventSink, { access, ...attaching }: Connecting): Promise<void> {
    const stream = this.#sessions.get(session.id)
    if (stream === undefined) return sink.end()
    const { channel, listener } = stream
    stream.coming = false
    // Who comes back may be allowed less than before.
    listener.access = access
    const onMissed = (): void => void this.#options.missed(listener).catch(this.#options.report)
    await channel.attach(sink, { ...attaching, onMissed })
  }

  /** Another node goes on with the stream of a session; it gets what was told here. */
  async #yield(id: string, takeOver: boolean): Promise<Yielded> {
    const { notices } = this.#options
    const stream = this.#sessions.get(id)
    if ((stream?.coming || stream?.channel.attached) && !takeOver) return { attached: true }
    const told = notices.recent
    stream?.leave('left')
    await stream?.channel.release()
    return { told }
  }

  /** The stream of a call, to go on with after an event; undefined when that is none of this session's, or has gone. */
  async ofCall(session: LiveSession, after: string): Promise<((sink: EventSink) => Promise<void>) | undefined> {
    const name = streamOf(after)
    if (name === undefined) return undefined
    const running = this.#byKey.get(keyOf(session.id, name))
    const channel = running ?? this.#channel(session, name)
    if (!(await channel.log.knows(after))) return undefined
    if (running !== undefined) return (sink) => running.attach(sink, { after })
    return (sink) => this.#options.callStreams.follow(session, { log: channel.log, after }, sink)
  }

  /** Streams that are open here. */
  tracked(): Omit<TrackedStream, 'node'>[] {
    return [...this.#byKey].map(([key, { log, attached }]) => ({
      sessionId: key.slice(0, -log.name.length - 1),
      of: log.name === SESSION_STREAM ? 'session' : 'call',
      connected: attached,
    }))
  }

  /** Lets all connections go: their clients may come back, to another node or to this one later. */
  endAll(): void {
    for (const channel of [...this.#byKey.values()]) if (channel.log.name === SESSION_STREAM) void channel.release()
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
  #begin(session: LiveSession, access: Access): SessionListener {
    const { listeners, sessions, owners } = this.#options
    const channel = this.#open(session, SESSION_STREAM)
    session.holds++
    session.stream = channel
    const listener = new SessionListener(session, access, channel)
    const remove = listeners.add(listener)
    const leave = (how: Ending): void => {
      remove()
      owners.leave(session.id, how)
      forget()
      this.#sessions.delete(session.id)
      session.stream = undefined
      sessions.release(session)
      this.#byKey.delete(keyOf(session.id, SESSION_STREAM))
    }
    const forget = session.onEnd((how) => {
      leave(how)
      void (how === 'ended' ? channel.end().then(() => this.#drop(channel.log)) : channel.release())
    })
    this.#sessions.set(session.id, { channel, listener, leave, coming: true })
    return listener
  }

  #open(session: LiveSession, name: string): EventChannel {
    const channel = this.#channel(session, name)
    this.#byKey.set(keyOf(session.id, name), channel)
    return channel
  }

  #channel(session: LiveSession, name: string): EventChannel {
    const { store, resume: options, report } = this.#options
    return new EventChannel(new StreamLog(store, session.id, { name, options }), report)
  }
}

interface SessionStream {
  readonly channel: EventChannel
  readonly listener: SessionListener
  /** A client is being let in. */
  coming: boolean
  /** This node has nothing to do with it any more. */
  leave(how: Ending): void
}

/** A session that hears what happens on its stream. */
class SessionListener implements Listener {
  access: Access
  readonly lists: ReadonlySet<Kind> = ALL_LISTS
  readonly #session: LiveSession
  readonly #channel: EventChannel

  constructor(session: LiveSession, access: Access, channel: EventChannel) {
    this.#session = session
    this.access = access
    this.#channel = channel
  }

  get resources(): ReadonlySet<string> {
    return this.#session.client.subscriptions
  }

  tell(method: string, params: object): void {
    void this.#channel.send(notificationMessage(method, params))
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
