import { headersOf } from './client.js'
import { toBytes, toText } from './frame.js'
import type { NatsLink } from './link.js'
import { fromBase64 } from './token.js'

/** How a stream is made where it is not there yet. */
export interface StreamOptions {
  readonly name: string
  readonly subjects: readonly string[]
  /** Of one subject the last message alone stays. */
  readonly lastOnly: boolean
  readonly storage: 'file' | 'memory'
  readonly replicas: number
  readonly ageMs: number
}

export interface StreamMessage {
  readonly subject: string
  readonly seq: number
  readonly bytes: Uint8Array
}

/** Which messages to read at once. */
export interface BulkQuery {
  /** A subject, or a pattern. */
  readonly filter: string
  /** From this number on; left out, of each subject the last one. */
  readonly from?: number
  readonly limit: number
}

const STREAM_NOT_FOUND = 10059
const STREAM_IN_USE = 10058
const MESSAGE_NOT_FOUND = 10037
const SEQUENCE_NOT_FOUND = 10043
const DELETE_FAILED = 10057
const CONSUMER_NOT_FOUND = 10014
const WRONG_SEQUENCE = 10071

/** Bounds what is on its way at once. */
const BATCH = 64

const NS_PER_MS = 1_000_000
const HOUR_MS = 3_600_000
/** A stream's age is an int64 of nanoseconds. */
const LONGEST_AGE_MS = 9_000_000_000_000

interface ApiError {
  readonly err_code?: number
  readonly description?: string
}

interface Asking {
  /** The errors that only say that something is not as it was asked for. */
  readonly none?: readonly number[]
  readonly consumer?: string
}

interface Stored {
  readonly subject: string
  readonly seq: number
  /** In Base64. */
  readonly data?: string
}

interface Consumer {
  readonly name: string
  /** When it was made, by the clock of the server. */
  readonly created: string
  readonly num_pending: number
}

interface StreamState {
  readonly config: { readonly max_age: number } & Readonly<Record<string, unknown>>
  readonly state: { readonly subjects?: Readonly<Record<string, number>> }
  readonly total?: number
}

/** One stream of JetStream, by its JSON API. What it is asked, its leader answers: a replica may be behind. */
export class Stream {
  readonly #link: NatsLink
  readonly #options: StreamOptions
  /** The age that it has, once it is known to be there. */
  #ready: Promise<number> | undefined

  constructor(link: NatsLink, options: StreamOptions) {
    this.#link = link
    this.#options = options
  }

  /** Makes sure that nothing leaves the stream before its time. */
  async keep(ageMs: number): Promise<void> {
    if ((await this.#there()) >= Math.min(ageMs, LONGEST_AGE_MS)) return
    this.#ready = this.#settled(this.#grow(ageMs))
    await this.#ready
  }

  /**
   * Adds a message, and gives its number; undefined when the last one of its subject is not the expected one. 0 expects that there
   * is none.
   */
  async add(subject: string, bytes: Uint8Array, expected: number): Promise<number | undefined> {
    await this.#there()
    const headers = headersOf('Nats-Expected-Last-Subject-Sequence', expected)
    const reply = await this.#reply<{ seq: number }>(this.#link.request(subject, bytes, headers), [WRONG_SEQUENCE])
    return reply?.seq
  }

  last(subject: string): Promise<StreamMessage | undefined> {
    return this.#get({ last_by_subj: subject })
  }

  /** The first message of a subject that has this number or a greater one. */
  next(subject: string, seq: number): Promise<StreamMessage | undefined> {
    return this.#get({ next_by_subj: subject, seq })
  }

  /** Whether it was there. */
  async remove(seq: number): Promise<boolean> {
    const gone = [SEQUENCE_NOT_FOUND, DELETE_FAILED, MESSAGE_NOT_FOUND]
    return (await this.#ask('STREAM.MSG.DELETE', { seq, no_erase: true }, { none: gone })) !== undefined
  }

  /** Removes the messages of a subject, or of a pattern: those before a number, or all. */
  async purge(filter: string, before?: number): Promise<void> {
    await this.#ask('STREAM.PURGE', { filter, ...(before !== undefined && { seq: before }) })
  }

  /** The subjects that have messages. */
  async subjects(filter: string): Promise<readonly string[]> {
    const found = new Set<string>()
    for (let offset = 0, total = 1; offset < total; ) {
      const page = await this.#ask<StreamState>('STREAM.INFO', { subjects_filter: filter, offset })
      const names = Object.keys(page?.state.subjects ?? {})
      for (const name of names) found.add(name)
      offset += names.length
      total = names.length === 0 ? 0 : (page?.total ?? 0)
    }
    return [...found]
  }

  /**
   * Messages, the oldest first: for many of them this is faster than asking for each. A replica may answer that does not have the
   * newest yet, so what matters has to be looked up.
   */
  async *bulk({ filter, from, limit }: BulkQuery): AsyncGenerator<StreamMessage, void, void> {
    const start =
      from === undefined
        ? { deliver_policy: 'last_per_subject' }
        : { deliver_policy: 'by_start_sequence', opt_start_seq: from }
    const consumer = await this.#consumer({ ...start, filter_subject: filter })
    if (consumer === undefined) return
    try {
      let left = Math.min(limit, consumer.num_pending)
      while (left > 0) {
        const before = left
        for await (const message of this.#batch(consumer.name, Math.min(left, BATCH))) {
          left -= 1
          yield message
        }
        if (left === before) return
      }
    } finally {
      await this.#forget(consumer)
    }
  }

  /** The time of the server in milliseconds: no request asks for it, but what is made has it. */
  async time(): Promise<number> {
    const consumer = await this.#consumer({ deliver_policy: 'new' })
    if (consumer === undefined) throw new Error(`NATS: ${this.#options.name} has no consumers`)
    await this.#forget(consumer)
    return Date.parse(consumer.created)
  }

  #consumer(of: object): Promise<Consumer | undefined> {
    const config = { ...of, ack_policy: 'none', mem_storage: true, inactive_threshold: 60_000 * NS_PER_MS }
    return this.#ask<Consumer>('CONSUMER.CREATE', { stream_name: this.#options.name, config })
  }

  async #forget({ name }: Consumer): Promise<void> {
    await this.#ask('CONSUMER.DELETE', {}, { consumer: name, none: [CONSUMER_NOT_FOUND] })
  }

  async *#batch(consumer: string, count: number): AsyncGenerator<StreamMessage, void, void> {
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#options.name}.${consumer}`
    const query = toBytes(JSON.stringify({ batch: count, no_wait: true }))
    for await (const { subject: of, reply = '', data } of await this.#link.requestMany(subject, query, count)) {
      const seq = sequenceOf(reply)
      // Without one it is a status: there is nothing more.
      if (seq === undefined) return
      yield { subject: of, seq, bytes: data }
    }
  }

  async #get(query: object): Promise<StreamMessage | undefined> {
    const reply = await this.#ask<{ message: Stored }>('STREAM.MSG.GET', query, { none: [MESSAGE_NOT_FOUND] })
    if (reply === undefined) return undefined
    const { subject, seq, data = '' } = reply.message
    return { subject, seq, bytes: fromBase64(data) }
  }

  async #ask<Reply>(command: string, query: object, { none = [], consumer }: Asking = {}): Promise<Reply | undefined> {
    await this.#there()
    return await this.#reply<Reply>(this.#send(command, query, consumer), none)
  }

  #send(command: string, query: object, consumer?: string): Promise<Uint8Array> {
    const name = consumer === undefined ? this.#options.name : `${this.#options.name}.${consumer}`
    return this.#link.request(`$JS.API.${command}.${name}`, toBytes(JSON.stringify(query)))
  }

  /** Undefined for the errors that only say that something is not as it was asked for. */
  async #reply<Reply>(answer: Promise<Uint8Array>, none: readonly number[]): Promise<Reply | undefined> {
    let reply: Reply & { error?: ApiError }
    try {
      reply = JSON.parse(toText(await answer)) as Reply & { error?: ApiError }
    } catch (error) {
      // It may be that the stream is gone: whoever comes next makes it again.
      this.#ready = undefined
      throw error
    }
    const { error } = reply
    if (error === undefined) return reply
    if (none.includes(error.err_code ?? 0)) return undefined
    this.#ready = undefined
    throw new Error(`NATS: ${error.description ?? 'an error without a description'} (${error.err_code ?? 'no code'})`)
  }

  #there(): Promise<number> {
    this.#ready ??= this.#settled(this.#open())
    return this.#ready
  }

  #settled(ready: Promise<number>): Promise<number> {
    ready.catch(() => {
      if (this.#ready === ready) this.#ready = undefined
    })
    return ready
  }

  async #open(): Promise<number> {
    const { subjects, lastOnly, storage, replicas, ageMs } = this.#options
    const found = await this.#state()
    if (found !== undefined) return found.config.max_age / NS_PER_MS
    const config = {
      ...{ name: this.#options.name, subjects, storage, num_replicas: replicas, max_age: ageMs * NS_PER_MS },
      ...{ retention: 'limits', discard: 'old', max_msgs_per_subject: lastOnly ? 1 : -1, allow_direct: false },
    }
    // Another node may have been faster, perhaps with another age.
    const made = await this.#reply<StreamState>(this.#send('STREAM.CREATE', config), [STREAM_IN_USE])
    const there = made ?? (await this.#state())
    if (there === undefined) throw new Error(`NATS: the stream ${this.#options.name} was made and is not there`)
    return there.config.max_age / NS_PER_MS
  }

  /** The age grows in steps, so that nodes that keep things for about as long agree on one. */
  async #grow(ageMs: number): Promise<number> {
    const found = await this.#state()
    if (found === undefined) return await this.#open()
    const hours = 2 ** Math.ceil(Math.log2(Math.max(1, ageMs / HOUR_MS)))
    const max_age = Math.max(found.config.max_age, Math.min(hours * HOUR_MS, LONGEST_AGE_MS) * NS_PER_MS)
    await this.#reply(this.#send('STREAM.UPDATE', { ...found.config, max_age }), [])
    return max_age / NS_PER_MS
  }

  #state(): Promise<StreamState | undefined> {
    return this.#reply<StreamState>(this.#send('STREAM.INFO', {}), [STREAM_NOT_FOUND])
  }
}

/** The number of a message in its stream, which the subject tells that a receipt would go to. */
function sequenceOf(reply: string): number | undefined {
  const tokens = reply.split('.')
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK') return undefined
  // With a domain and an account's hash in front since 2.8 of some servers: $JS.ACK.domain.hash.stream.consumer.delivered.seq…
  return Number(tokens[tokens.length === 9 ? 5 : 7])
}
