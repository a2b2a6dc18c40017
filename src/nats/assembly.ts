import { type Frame, join, split, toBytes, toFrame, toText } from './frame.js'

interface PartMeta {
  /** Who publishes; left out for a message that is whole. */
  readonly from?: string
  readonly index?: number
  readonly count?: number
}

/** A node publishes one message after the other, so that more publishers than this never have one under way. */
const PUBLISHERS = 64

/** Makes messages of what one message cannot hold, and puts them together again. */
export class Assembly {
  readonly #id: string = crypto.randomUUID()
  readonly #coming = new Map<string, Uint8Array[]>()

  toFrames(message: string, size: number): readonly Uint8Array[] {
    const body = toBytes(message)
    if (body.length <= size) return [toFrame({}, body)]
    const parts = split(body, size)
    return parts.map((part, index) => toFrame({ from: this.#id, index, count: parts.length }, part))
  }

  /** The message that is whole with this part. One that lacks a part is never told of. */
  take({ meta, body }: Frame<PartMeta>): string | undefined {
    const { from, index, count } = meta
    if (from === undefined) return toText(body)
    const parts = index === 0 ? [] : this.#coming.get(from)
    this.#coming.delete(from)
    if (parts === undefined || parts.length !== index) return undefined
    parts.push(body)
    if (parts.length === count) return toText(join(parts))
    this.#coming.set(from, parts)
    const [oldest] = this.#coming.keys()
    if (this.#coming.size > PUBLISHERS && oldest !== undefined) this.#coming.delete(oldest)
    return undefined
  }
}
