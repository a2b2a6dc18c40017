import type { AppendOptions, LogEntry, LogPart } from '../backplane/store.js'
import { fromFrame, toBytes, toFrame, toText } from './frame.js'
import { Parts, type PartsRef } from './parts.js'
import type { NatsHalf } from './shared.js'
import { Stream, type StreamMessage } from './stream.js'
import { tokenOf } from './token.js'

/** An entry says what the log is like with it, so that one message adds an entry, drops others and moves the end. */
interface EntryMeta {
  /** When the log ends, if this is the last entry. */
  readonly ends: number
  /** Counts the entries of the log's life, from 1 on, so that one that is missing is noticed. */
  readonly number: number
  /** Its own size, and that of all entries of the log's life up to this one. */
  readonly bytes: number
  readonly total: number
  readonly first: First
  readonly parts?: PartsRef
}

/** The oldest entry that is kept. */
interface First {
  readonly number: number
  /** 0 for the entry that says so. */
  readonly seq: number
  /** The bytes of all entries before it. */
  readonly before: number
}

interface Entry {
  readonly seq: number
  readonly meta: EntryMeta
  readonly body: Uint8Array
}

interface Trimmed {
  readonly first: First
  /** Of the newest entry that was dropped; 0 when none was. */
  readonly dropped: number
}

interface Reading {
  readonly last: Entry
  readonly limit: number
}

interface Place {
  readonly seq: number
  /** The number that the entry there must have. */
  readonly number: number
  readonly gap: boolean
}

const DAY_MS = 86_400_000
/** What was dropped is taken out of the stream when there is so much of it: that is a call of its own. */
const PURGED_ENTRIES = 16
const PURGED_BYTES = 64 * 1024
/** Up to so many entries are asked for one by one: reading them at once has a price of its own, of about as much. */
const FEW = 5

/** Logs as subjects of one stream. The number of the message is the entry's id, which no other entry of any log ever gets. */
export class Logs {
  readonly #stream: Stream
  readonly #parts: Parts
  readonly #subject: string
  readonly #clock: () => number
  /** The last append of each log that is being appended to: one node's own do not get in each other's way. */
  readonly #appending = new Map<string, Promise<unknown>>()

  constructor({ link, clock, prefix, storage, replicas }: NatsHalf) {
    this.#subject = `${prefix}.l`
    this.#clock = clock
    const partsSubject = `${prefix}.lp`
    this.#stream = new Stream(link, {
      name: `${prefix}_logs`,
      subjects: [`${this.#subject}.>`, `${partsSubject}.>`],
      lastOnly: false,
      ageMs: DAY_MS,
      ...{ storage, replicas },
    })
    this.#parts = new Parts(link, this.#stream, partsSubject)
  }

  async append(log: string, value: string, options: AppendOptions): Promise<string> {
    const before = this.#appending.get(log) ?? Promise.resolve()
    const appended = before.catch(() => undefined).then(() => this.#append(log, toBytes(value), options))
    this.#appending.set(log, appended)
    try {
      return await appended
    } finally {
      if (this.#appending.get(log) === appended) this.#appending.delete(log)
    }
  }

  async readAfter(log: string, id: string | undefined, limit: number): Promise<LogPart> {
    const token = await tokenOf(log)
    const last = await this.#last(token)
    if (last === undefined || last.meta.ends <= this.#clock()) return { entries: [], gap: id !== undefined }
    const place = await this.#placeAfter(token, id, last)
    return place.number > last.meta.number
      ? { entries: [], gap: place.gap }
      : await this.#read(token, place, { last, limit })
  }

  async drop(log: string): Promise<void> {
    const token = await tokenOf(log)
    await this.#stream.purge(`${this.#subject}.${token}`)
    await this.#parts.clear(token)
  }

  async #append(log: string, body: Uint8Array, options: AppendOptions): Promise<string> {
    // Half of the age may have gone when an entry is still to be read: each append gives the log its whole time again.
    await this.#stream.keep(options.ttlMs * 2)
    const token = await tokenOf(log)
    for (;;) {
      const last = await this.#last(token)
      const id = await this.#addAfter(token, last, { body, options })
      if (id !== undefined) return id
    }
  }

  /** Undefined when another node was faster. */
  async #addAfter(
    token: string,
    last: Entry | undefined,
    { body, options }: { body: Uint8Array; options: AppendOptions },
  ): Promise<string | undefined> {
    const lives = last !== undefined && last.meta.ends > this.#clock()
    const number = lives ? last.meta.number + 1 : 1
    const total = (lives ? last.meta.total : 0) + body.length
    const { first, dropped } = lives
      ? await this.#trim(token, last, { number, total, options })
      : { first: { number, seq: 0, before: 0 }, dropped: last?.seq ?? 0 }
    // After the look at the last entry, and again for each try: parts lie between the entry before and their own.
    const parts = this.#parts.isTooLarge(body) ? await this.#parts.write(token, body) : undefined
    const ends = this.#clock() + options.ttlMs
    const meta: EntryMeta = { ends, number, bytes: body.length, total, first, ...(parts && { parts }) }
    const frame = toFrame(meta, parts === undefined ? body : new Uint8Array())
    const seq = await this.#stream.add(`${this.#subject}.${token}`, frame, last?.seq ?? 0)
    if (seq === undefined && parts !== undefined) await this.#parts.remove(token, parts)
    if (seq !== undefined && dropped > 0 && (!lives || isMuch(last.meta.first, first)))
      await this.#purge(token, dropped)
    return seq === undefined ? undefined : idOf(seq)
  }

  /** What is the oldest entry to stay when one more comes. */
  async #trim(
    token: string,
    last: Entry,
    { number, total, options }: { number: number; total: number; options: AppendOptions },
  ): Promise<Trimmed> {
    let first: First = { ...last.meta.first, seq: last.meta.first.seq || last.seq }
    let dropped = 0
    const isTooMuch = (): boolean =>
      number - first.number >= options.maxEntries || total - first.before > options.maxBytes
    while (first.number < number && isTooMuch()) {
      dropped = first.seq
      const next = first.seq === last.seq ? undefined : await this.#next(token, first.seq + 1)
      first =
        next === undefined
          ? { number, seq: 0, before: last.meta.total }
          : { number: next.meta.number, seq: next.seq, before: next.meta.total - next.meta.bytes }
    }
    return { first, dropped }
  }

  async #purge(token: string, dropped: number): Promise<void> {
    await this.#stream.purge(`${this.#subject}.${token}`, dropped + 1)
    await this.#parts.clear(token, dropped)
  }

  async #placeAfter(token: string, id: string | undefined, last: Entry): Promise<Place> {
    const { number, seq: told } = last.meta.first
    const start = { number, seq: told || last.seq }
    if (id === undefined) return { ...start, gap: number > 1 }
    const seq = seqOf(id)
    if (seq === last.seq) return { seq: seq + 1, number: last.meta.number + 1, gap: false }
    const known = seq >= start.seq && seq < last.seq ? await this.#next(token, seq) : undefined
    return known?.seq === seq ? { seq: seq + 1, number: known.meta.number + 1, gap: false } : { ...start, gap: true }
  }

  async #read(token: string, { gap, ...place }: Place, { last, limit }: Reading): Promise<LogPart> {
    const entries: LogEntry[] = []
    let { number } = place
    let lost = gap
    for await (const entry of this.#from(token, place, { last, limit })) {
      const body = await this.#bodyOf(token, entry)
      if (entry.meta.number !== number || body === undefined) {
        // What was read so far has no hole. Whoever asks for what comes after it is told.
        if (entries.length > 0) break
        lost = true
      }
      if (body !== undefined) entries.push({ id: idOf(entry.seq), value: toText(body) })
      number = entry.meta.number + 1
      if (entries.length === limit) break
    }
    return { entries, gap: lost || entries.length === 0 }
  }

  /** The entries from a place to the last one. */
  async *#from(token: string, place: { seq: number; number: number }, { last, limit }: Reading): AsyncGenerator<Entry> {
    let { seq } = place
    const wanted = Math.min(limit, last.meta.number - place.number + 1)
    if (wanted > FEW) {
      const query = { filter: `${this.#subject}.${token}`, from: seq, limit: wanted }
      for await (const message of this.#stream.bulk(query)) {
        if (message.seq > last.seq) break
        yield toEntry(message)
        seq = message.seq + 1
      }
    }
    while (seq <= last.seq) {
      const next = seq === last.seq ? last : await this.#next(token, seq)
      if (next === undefined) return
      yield next
      seq = next.seq + 1
    }
  }

  async #bodyOf(token: string, { meta, body }: Entry): Promise<Uint8Array | undefined> {
    return meta.parts === undefined ? body : await this.#parts.read(token, meta.parts)
  }

  async #last(token: string): Promise<Entry | undefined> {
    const message = await this.#stream.last(`${this.#subject}.${token}`)
    return message && toEntry(message)
  }

  async #next(token: string, seq: number): Promise<Entry | undefined> {
    const message = await this.#stream.next(`${this.#subject}.${token}`, seq)
    return message && toEntry(message)
  }
}

function toEntry({ seq, bytes }: StreamMessage): Entry {
  return { seq, ...fromFrame<EntryMeta>(bytes) }
}

/** Sixteen digits, so that the order of the strings is that of the numbers. */
function idOf(seq: number): string {
  return String(seq).padStart(16, '0')
}

/** -1 for what is no id of ours. */
function seqOf(id: string): number {
  return /^\d{16}$/.test(id) ? Number(id) : -1
}

function isMuch(before: First, after: First): boolean {
  const steps = Math.floor(after.number / PURGED_ENTRIES) - Math.floor(before.number / PURGED_ENTRIES)
  return steps > 0 || after.before - before.before > PURGED_BYTES
}
