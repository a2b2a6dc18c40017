import type { AppendOptions, LogEntry, LogPart } from './store.js'

interface KeptEntry extends LogEntry {
  readonly bytes: number
}

const NONE: KeptEntry[] = []

/** The entries of one log, the oldest first. The caller sees to it that ids increase. */
export class MemoryLog {
  #entries: KeptEntry[] = NONE
  #bytes = 0
  /** The id of the newest entry that was dropped. */
  #droppedId: string | undefined

  append(id: string, value: string, bounds: AppendOptions): void {
    const bytes = utf8Length(value)
    const entry = { id, value, bytes }
    // Most logs are those of streams with one event: an array that grows has room for many.
    if (this.#entries.length === 0) this.#entries = [entry]
    else this.#entries.push(entry)
    this.#bytes += bytes
    while (this.#entries.length > 1 && this.#exceeds(bounds)) this.#dropOldest()
  }

  readAfter(id: string | undefined, limit: number): LogPart {
    const start = id === undefined ? 0 : this.#indexAfter(id)
    const entries = this.#entries.slice(start, start + limit).map((entry) => ({ id: entry.id, value: entry.value }))
    const idBefore = start === 0 ? this.#droppedId : this.#entries[start - 1]?.id
    return { entries, gap: id !== idBefore }
  }

  #exceeds(bounds: AppendOptions): boolean {
    return this.#entries.length > bounds.maxEntries || this.#bytes > bounds.maxBytes
  }

  #dropOldest(): void {
    const oldest = this.#entries.shift()
    if (oldest === undefined) return
    this.#bytes -= oldest.bytes
    this.#droppedId = oldest.id
  }

  /** The index of the first entry with a greater id. */
  #indexAfter(id: string): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      const entry = this.#entries[middle]
      if (entry !== undefined && entry.id <= id) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The bytes of a string in UTF-8. */
function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // Each half of a surrogate pair counts two of its four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}
