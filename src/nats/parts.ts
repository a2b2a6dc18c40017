import { join, split } from './frame.js'
import type { NatsLink } from './link.js'
import type { Stream } from './stream.js'

/** Where the parts of a body are that is too large for one message. */
export interface PartsRef {
  readonly id: string
  readonly count: number
}

/** What is too large for one message, in messages of its own beside the one that speaks of them. */
export class Parts {
  readonly #link: NatsLink
  readonly #stream: Stream
  readonly #subject: string

  /** Parts are at `<subject>.<owner>.<id>.<number>`. */
  constructor(link: NatsLink, stream: Stream, subject: string) {
    this.#link = link
    this.#stream = stream
    this.#subject = subject
  }

  isTooLarge(body: Uint8Array): boolean {
    return body.length > this.#link.wholeBytes
  }

  async write(owner: string, body: Uint8Array): Promise<PartsRef> {
    const id = crypto.randomUUID()
    const parts = split(body, this.#link.wholeBytes)
    await Promise.all(parts.map((part, index) => this.#stream.add(this.#at(owner, id, index), part, 0)))
    return { id, count: parts.length }
  }

  /** Undefined when they are gone, because what speaks of them is gone too. */
  async read(owner: string, { id, count }: PartsRef): Promise<Uint8Array | undefined> {
    const subjects = Array.from({ length: count }, (_, index) => this.#at(owner, id, index))
    const found = await Promise.all(subjects.map((subject) => this.#stream.last(subject)))
    const parts = found.flatMap((part) => part?.bytes ?? [])
    return parts.length === count ? join(parts) : undefined
  }

  async remove(owner: string, { id }: PartsRef): Promise<void> {
    await this.#stream.purge(`${this.#subject}.${owner}.${id}.*`)
  }

  /** Removes all of an owner, or those before a number. */
  async clear(owner: string, before?: number): Promise<void> {
    await this.#stream.purge(`${this.#subject}.${owner}.>`, before)
  }

  #at(owner: string, id: string, index: number): string {
    return `${this.#subject}.${owner}.${id}.${index}`
  }
}
