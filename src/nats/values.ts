import { fromFrame, toBytes, toFrame, toText } from './frame.js'
import { Parts, type PartsRef } from './parts.js'
import type { NatsHalf } from './shared.js'
import { Stream } from './stream.js'
import { nameOf, tokenOf } from './token.js'

interface ValueMeta {
  /** When it ends. */
  readonly ends: number
  /** The key, when its token does not tell it. */
  readonly key?: string
  readonly parts?: PartsRef
}

/** What the stream holds for a key, which may have ended. */
export interface Held {
  /** Of the message; 0 when there is none. */
  readonly seq: number
  /** Undefined for what is not there or has ended. */
  readonly value: string | undefined
  readonly parts: PartsRef | undefined
}

interface Head {
  readonly seq: number
  readonly meta: ValueMeta
  readonly body: Uint8Array
}

const HOUR_MS = 3_600_000
const ABSENT: Held = { seq: 0, value: undefined, parts: undefined }
/** How many keys a listing looks at at once. */
const AT_ONCE = 64

/**
 * Values as the last messages of their subjects. The number of the message is the revision, which the server compares when it
 * adds or removes one. When a value ends is told by itself: a server before 2.11 ends whole streams only.
 */
export class Values {
  readonly #stream: Stream
  readonly #parts: Parts
  readonly #subject: string
  readonly #clock: () => number

  constructor({ link, clock, prefix, storage, replicas }: NatsHalf) {
    this.#subject = `${prefix}.v`
    this.#clock = clock
    const partsSubject = `${prefix}.vp`
    this.#stream = new Stream(link, {
      name: `${prefix}_values`,
      subjects: [`${this.#subject}.>`, `${partsSubject}.>`],
      lastOnly: true,
      ageMs: HOUR_MS,
      ...{ storage, replicas },
    })
    this.#parts = new Parts(link, this.#stream, partsSubject)
  }

  /** The time of the server. */
  time(): Promise<number> {
    return this.#stream.time()
  }

  async get(key: string): Promise<Held> {
    const token = await tokenOf(key)
    for (;;) {
      const head = await this.#head(token)
      if (head === undefined) return ABSENT
      const { seq, meta, body } = head
      if (meta.ends <= this.#clock()) return { seq, value: undefined, parts: meta.parts }
      const whole = meta.parts === undefined ? body : await this.#parts.read(token, meta.parts)
      if (whole !== undefined) return { seq, value: toText(whole), parts: meta.parts }
      // Replaced between the two looks; if not, something has taken the parts away.
      if ((await this.#head(token))?.seq === seq) throw new Error('NATS: a value has lost some of its parts')
    }
  }

  /** Puts a value in the place of what is held; undefined when that is not there any more. */
  async put(key: string, value: string, { held, ttlMs }: { held: Held; ttlMs: number }): Promise<number | undefined> {
    await this.#stream.keep(ttlMs)
    const token = await tokenOf(key)
    const bytes = toBytes(value)
    const parts = this.#parts.isTooLarge(bytes) ? await this.#parts.write(token, bytes) : undefined
    const ends = this.#clock() + ttlMs
    const meta: ValueMeta = { ends, ...(nameOf(token) === undefined && { key }), ...(parts && { parts }) }
    const frame = toFrame(meta, parts === undefined ? bytes : new Uint8Array())
    const seq = await this.#stream.add(`${this.#subject}.${token}`, frame, held.seq)
    const useless = seq === undefined ? parts : held.parts
    if (useless !== undefined) await this.#parts.remove(token, useless)
    return seq
  }

  /** Whether what was held is gone by this call. */
  async remove(key: string, held: Held): Promise<boolean> {
    const removed = await this.#stream.remove(held.seq)
    if (removed && held.parts !== undefined) await this.#parts.remove(await tokenOf(key), held.parts)
    return removed
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    const filter = `${this.#subject}.>`
    const left = new Set(await this.#stream.subjects(filter))
    for await (const { subject, bytes } of this.#stream.bulk({ filter, limit: Number.POSITIVE_INFINITY })) {
      const key = this.#livingKey(this.#tokenIn(subject), fromFrame<ValueMeta>(bytes).meta)
      // What has ended here may have been renewed where it matters.
      if (key !== undefined && left.delete(subject) && key.startsWith(prefix)) yield key
    }
    const tokens = [...left].map((subject) => this.#tokenIn(subject))
    for (let from = 0; from < tokens.length; from += AT_ONCE) {
      const keys = await Promise.all(tokens.slice(from, from + AT_ONCE).map((token) => this.#look(token)))
      for (const key of keys) if (key?.startsWith(prefix)) yield key
    }
  }

  /** The key of a token, if its value has not ended; what has ended goes. */
  async #look(token: string): Promise<string | undefined> {
    const head = await this.#head(token)
    const key = head && this.#livingKey(token, head.meta)
    if (head !== undefined && key === undefined) {
      const removed = await this.#stream.remove(head.seq)
      if (removed && head.meta.parts !== undefined) await this.#parts.remove(token, head.meta.parts)
    }
    return key
  }

  #livingKey(token: string, meta: ValueMeta): string | undefined {
    return meta.ends <= this.#clock() ? undefined : (nameOf(token) ?? meta.key)
  }

  #tokenIn(subject: string): string {
    return subject.slice(this.#subject.length + 1)
  }

  async #head(token: string): Promise<Head | undefined> {
    const message = await this.#stream.last(`${this.#subject}.${token}`)
    return message && { seq: message.seq, ...fromFrame<ValueMeta>(message.bytes) }
  }
}
