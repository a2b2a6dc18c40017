import type { Store } from '../backplane/store.js'

/** How much of a stream is kept for a client that comes back. */
export interface ResumeOptions {
  /** Messages per stream. @default 1000 */
  readonly entries?: number
  /** Bytes per stream. @default 4_194_304 */
  readonly bytes?: number
  /** Milliseconds since the last message. @default 600_000, ten minutes */
  readonly ttlMs?: number
}

/** One event of a stream. */
export interface StreamEvent {
  /** What a client names to go on from here, and which stream it is of; undefined for one that could not be kept. */
  readonly id: string | undefined
  /** The message; undefined for an event that only tells its id, and for the end. */
  readonly message: string | undefined
  readonly end: boolean
}

const MESSAGE = 'm'
const PRIMING = 'p'
const END = 'e'
/** Events that are read at once. */
const BATCH = 100

/** The events of one stream, in the Store: whoever comes back with an id gets what came after it, on any node. */
export class StreamLog {
  readonly name: string
  readonly #store: Store
  /** Its name among all logs. */
  readonly key: string
  readonly #options: Required<ResumeOptions>
  #characters = 0
  /** The entry that this node has written last. */
  #last: string | undefined

  constructor(store: Store, sessionId: string, { name, options }: { name: string; options: Required<ResumeOptions> }) {
    this.name = name
    this.#store = store
    this.key = `stream/${sessionId}/${name}`
    this.#options = options
  }

  /** About how much this node has written that is still there, in characters. */
  get size(): number {
    return Math.min(this.#characters, this.#options.bytes)
  }

  append(message: string): Promise<string> {
    return this.#append(MESSAGE + message)
  }

  /** An event without a message, so that the client has an id before there is anything to say. */
  prime(): Promise<string> {
    return this.#append(PRIMING)
  }

  /** Nothing comes after this. */
  end(): Promise<string> {
    return this.#append(END)
  }

  drop(): Promise<void> {
    this.#last = undefined
    return this.#store.drop(this.key)
  }

  /** Whether this node has written nothing after an event. */
  isLast(eventId: string): boolean {
    return this.#entry(eventId) === this.#last
  }

  /** Whether everything after an event is still here. */
  async knows(eventId: string): Promise<boolean> {
    return !(await this.#store.readAfter(this.key, this.#entry(eventId), 1)).gap
  }

  /** Everything after an event, up to now. @throws GapError when some of it is gone. */
  async *after(eventId: string): AsyncGenerator<StreamEvent> {
    let last = this.#entry(eventId)
    for (;;) {
      const { entries, gap } = await this.#store.readAfter(this.key, last, BATCH)
      if (gap) throw new GapError('Events of this stream are gone')
      for (const { id, value } of entries) {
        last = id
        if (value !== PRIMING) yield this.#event(id, value)
      }
      if (entries.length < BATCH) return
    }
  }

  #entry(eventId: string): string {
    return eventId.slice(this.name.length + 1)
  }

  #event(id: string, value: string): StreamEvent {
    const message = value.startsWith(MESSAGE) ? value.slice(MESSAGE.length) : undefined
    return { id: `${this.name}.${id}`, message, end: value === END }
  }

  async #append(value: string): Promise<string> {
    const { entries: maxEntries, bytes: maxBytes, ttlMs } = this.#options
    this.#characters += value.length
    this.#last = undefined
    this.#last = await this.#store.append(this.key, value, { ttlMs, maxEntries, maxBytes })
    return `${this.name}.${this.#last}`
  }
}

/** What a client missed cannot be told any more. */
export class GapError extends Error {
  override readonly name = 'GapError'
}

/** The stream that an event id is of; undefined for text that is no id of ours. */
export function streamOf(eventId: string): string | undefined {
  return /^([\x21-\x7e]{1,128})\.[A-Za-z0-9-]{1,64}$/.exec(eventId)?.[1]
}
