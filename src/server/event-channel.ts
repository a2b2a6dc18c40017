import { quietTimer } from '../options.js'
import { GapError, type StreamEvent, type StreamLog } from './stream-log.js'

/** An open connection that takes the events of a channel. */
export interface EventSink {
  /** False when the connection is full. */
  write(event: StreamEvent): boolean
  /** Resolves when there is room again, or nobody left to write to. */
  drained(): Promise<void>
  /** True when its client has gone. */
  readonly closed: boolean
  /** Tells the client to come back after so many milliseconds; the stream goes on without it. */
  retry(ms: number): void
  /** Ends the connection at once; what has not been read is in the log. */
  cut(): void
  end(): void
}

/** Milliseconds that a full connection may take to be read from; it is cut then, and its client can come back. */
const STALLED_MS = 10_000
/** Milliseconds between two tries to make a log whole that could not be written. */
const MEND_MS = 1_000
/** Characters that may wait for a full connection before it is cut. */
const MAX_WAITING = 4_194_304

const DONE = Promise.resolve()

interface AttachOptions {
  readonly after?: string | undefined
  readonly prime?: boolean
  /** What the client is told when its connection is let go; undefined leaves it as it was. */
  readonly retryMs?: number | undefined
  /** Called when events after `after` are gone. */
  readonly onMissed?: () => void
}

/**
 * A stream that outlives its connections: each event is in its log before it is written, so that a client that comes back
 * gets what it missed. Events keep their order, whatever the store takes for each.
 */
export class EventChannel {
  readonly log: StreamLog
  /** Called once, when the stream has ended. */
  onEnded: (() => void) | undefined
  /** Called after something was kept. */
  onKept: (() => void) | undefined
  readonly #report: (error: unknown) => void
  #retryMs: number | undefined
  #sink: EventSink | undefined
  /** Characters of messages that have not had their turn. */
  #waiting = 0
  #full = false
  #attaching = 0
  /** The last step that has not been done. */
  #tail: Promise<void> | undefined
  #ended = false
  /** Something could not be kept: nothing is until the log has been dropped, so that who comes back to what was before is told of a gap. */
  #torn = false
  #mending: ReturnType<typeof setInterval> | undefined

  constructor(log: StreamLog, report: (error: unknown) => void) {
    this.log = log
    this.#report = report
  }

  /** Whether a connection has it, or is about to. */
  get attached(): boolean {
    return this.#sink !== undefined || this.#attaching > 0
  }

  /** Whether its log lacks something that was told. */
  get torn(): boolean {
    return this.#torn
  }

  /** Resolves when nothing is missing from the log that it does not tell of. @throws what the log throws. */
  async mend(): Promise<void> {
    if (!this.#torn) return
    await this.log.drop()
    this.leave()
  }

  /** The log is another node's from here on. */
  leave(): void {
    this.#torn = false
    clearInterval(this.#mending)
    this.#mending = undefined
  }

  /**
   * Connects the channel, in the place of an earlier connection. `after` is the last event that the client has seen;
   * without it the stream begins anew. It does so too where the log knows that event no more: then `onMissed` is called, unless
   * it was the last one.
   */
  attach(sink: EventSink, { after, prime = false, retryMs, onMissed }: AttachOptions = {}): Promise<void> {
    this.#attaching++
    return this.#next(async () => {
      this.#attaching--
      // Its client may have gone while it was let in.
      if (sink.closed) return
      this.#sink?.end()
      this.#sink = sink
      this.#retryMs = retryMs ?? this.#retryMs
      if (after !== undefined && (await this.#replay(after))) return
      // It has ended while its client was let in, and its log has gone with it.
      if (this.#ended) return this.#disconnect()
      const missed = after !== undefined && !this.log.isLast(after)
      if (prime) await this.#write({ id: await this.#kept(() => this.log.prime()), message: undefined, end: false })
      if (missed) onMissed?.()
    })
  }

  /** Whatever comes waits for this; it must not reject. */
  waitFor(done: Promise<unknown>): void {
    void this.#next(async () => void (await done))
  }

  /** Resolves when the event is kept, and the connection has room for another. */
  async send(message: string): Promise<void> {
    this.#waiting += message.length
    if (this.#full && this.#waiting > MAX_WAITING) this.#cut()
    await this.#next(async () => {
      this.#waiting -= message.length
      if (!this.#ended) await this.#write({ id: await this.#kept(() => this.log.append(message)), message, end: false })
    })
  }

  /** The last event, where there is one, and the end of the stream. */
  end(message?: string): Promise<void> {
    return this.#next(async () => {
      if (this.#ended) return
      if (message !== undefined) {
        await this.#write({ id: await this.#kept(() => this.log.append(message)), message, end: false })
      }
      this.#ended = true
      await this.#kept(() => this.log.end())
      this.#disconnect()
      this.onEnded?.()
    })
  }

  /** Lets the connection go, on our side; its client is told when to come back, where its version knows of that. */
  async release(retryMs: number | undefined = this.#retryMs): Promise<void> {
    await this.#next(() => {
      if (retryMs !== undefined) this.#sink?.retry(retryMs)
      this.#disconnect()
    })
  }

  /** The connection is gone; nothing happens when it was not the one in use. */
  lost(sink: EventSink): boolean {
    if (this.#sink !== sink) return false
    this.#sink = undefined
    return true
  }

  /** Undefined when the log cannot be written: who is connected gets the event all the same, and at once. */
  async #kept(append: () => Promise<string>): Promise<string | undefined> {
    if (this.#torn) return undefined
    try {
      const id = await append()
      this.onKept?.()
      return id
    } catch (error) {
      this.#report(error)
      this.#tear()
      return undefined
    }
  }

  /** It may be in the log after all, but nobody knows. */
  #tear(): void {
    this.#torn = true
    let trying = false
    this.#mending ??= quietTimer(() => {
      if (trying) return
      trying = true
      // Why it fails has been told.
      const tried = (): void => {
        trying = false
      }
      this.mend().then(tried, tried)
    }, MEND_MS)
  }

  /** False, and nothing written, where the log knows the event no more. @throws what the log throws. */
  async #replay(after: string): Promise<boolean> {
    let begun = false
    try {
      await this.mend()
      for await (const event of this.log.after(after)) {
        begun = true
        if (!event.end) await this.#write(event)
        else this.#ended = true
      }
    } catch (error) {
      if (error instanceof GapError && !begun) return false
      // What has gone just now cannot be made up for: the client comes back, and is told so.
      this.#disconnect()
      if (!(error instanceof GapError)) throw error
    }
    if (this.#ended) this.#disconnect()
    return true
  }

  /** Resolves when there is room for another: until then nothing else is written, so that what is not read stays in the log. */
  async #write(event: StreamEvent): Promise<void> {
    const sink = this.#sink
    if (sink === undefined || sink.write(event)) return
    this.#full = true
    await roomIn(sink, () => this.#cut())
    this.#full = false
  }

  /** The connection is not read from; what its client has missed it can come back for. */
  #cut(): void {
    this.#sink?.cut()
    this.#sink = undefined
  }

  #disconnect(): void {
    this.#sink?.end()
    this.#sink = undefined
  }

  #next(step: () => Promise<void> | void): Promise<void> {
    const before = this.#tail ?? DONE
    const done = before.then(step).catch((error: unknown) => this.#report(error))
    this.#tail = done
    // A promise less for each stream that has nothing to do.
    return done.finally(() => {
      if (this.#tail === done) this.#tail = undefined
    })
  }
}

/** Resolves when a connection that is full has room again, or nobody is left to write to; `stalled` is called when that takes too long. */
export async function roomIn(sink: EventSink, stalled: () => void): Promise<void> {
  const timer = setTimeout(stalled, STALLED_MS)
  await sink.drained()
  clearTimeout(timer)
}
