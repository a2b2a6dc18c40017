import type { GapError, StreamEvent, StreamLog } from './stream-log.js'

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

/** Events that a connection may leave unread before it is cut; its client can come back for them. */
const MAX_UNREAD = 256

interface AttachOptions {
  readonly after?: string | undefined
  readonly prime?: boolean
}

/**
 * A stream that outlives its connections: each event is in its log before it is written, so that a client that comes back
 * gets what it missed. Events keep their order, whatever the store takes for each.
 */
export class EventChannel {
  readonly log: StreamLog
  readonly #report: (error: unknown) => void
  readonly #retryMs: number | undefined
  #sink: EventSink | undefined
  #unread = 0
  #attaching = 0
  #tail: Promise<void> = Promise.resolve()
  #ended = false

  constructor(log: StreamLog, report: (error: unknown) => void, retryMs?: number) {
    this.log = log
    this.#retryMs = retryMs
    this.#report = report
  }

  /** Whether a connection has it, or is about to. */
  get attached(): boolean {
    return this.#sink !== undefined || this.#attaching > 0
  }

  /**
   * Connects the channel, in the place of an earlier connection. `after` is the last event that the client has seen;
   * without it the stream begins anew.
   */
  attach(sink: EventSink, { after, prime = false }: AttachOptions = {}): Promise<void> {
    this.#attaching++
    return this.#next(async () => {
      this.#attaching--
      // Its client may have gone while it was let in.
      if (sink.closed) return
      this.#sink?.end()
      this.#sink = sink
      this.#unread = 0
      if (after !== undefined) await this.#replay(after)
      else if (prime) this.#write({ id: await this.#kept(() => this.log.prime()), message: undefined, end: false })
    })
  }

  /** Resolves when the event is kept, and the connection has room for another. */
  async send(message: string): Promise<void> {
    await this.#next(async () => {
      if (!this.#ended) this.#write({ id: await this.#kept(() => this.log.append(message)), message, end: false })
    })
    if (this.#unread === 0 || this.#sink === undefined) return
    await this.#sink.drained()
    this.#unread = 0
  }

  /** The last event, where there is one, and the end of the stream. */
  end(message?: string): Promise<void> {
    return this.#next(async () => {
      if (this.#ended) return
      if (message !== undefined) {
        this.#write({ id: await this.#kept(() => this.log.append(message)), message, end: false })
      }
      this.#ended = true
      await this.#kept(() => this.log.end())
      this.#disconnect()
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

  /** Undefined when the log cannot be written: who is connected gets the event all the same. */
  async #kept(append: () => Promise<string>): Promise<string | undefined> {
    try {
      return await append()
    } catch (error) {
      this.#report(error)
      return undefined
    }
  }

  async #replay(after: string): Promise<void> {
    try {
      for await (const event of this.log.after(after)) {
        if (!event.end) this.#write(event)
        else this.#ended = true
      }
    } catch (error) {
      // What is gone cannot be made up for; the client sees this connection end and begins anew.
      this.#disconnect()
      if ((error as GapError).name !== 'GapError') throw error
    }
    if (this.#ended) this.#disconnect()
  }

  #write(event: StreamEvent): void {
    if (this.#sink === undefined) return
    this.#unread = this.#sink.write(event) ? 0 : this.#unread + 1
    if (this.#unread <= MAX_UNREAD) return
    this.#sink.cut()
    this.#sink = undefined
  }

  #disconnect(): void {
    this.#sink?.end()
    this.#sink = undefined
  }

  #next(step: () => Promise<void> | void): Promise<void> {
    this.#tail = this.#tail.then(step).catch((error: unknown) => this.#report(error))
    return this.#tail
  }
}
