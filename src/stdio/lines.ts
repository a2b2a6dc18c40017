const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

/** A whole line without its end, or word of one that was too long and has been thrown away. */
export type Line = Uint8Array | 'too-long'

/**
 * Cuts a stream of bytes into lines. It works on bytes because a chunk may end inside of a character; a line's bytes are
 * whole. No more than `maxBytes` are held, however long a line may be.
 */
export class LineSplitter {
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #size = 0
  #skipping = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk.subarray(start, end))
      lines.push(this.#take())
      start = end + 1
    }
    this.#hold(chunk.subarray(start))
    return lines
  }

  /** What is left when the input ends without a line end; undefined when nothing is. */
  rest(): Line | undefined {
    return this.#size > 0 || this.#skipping ? this.#take() : undefined
  }

  #hold(part: Uint8Array): void {
    if (this.#skipping || part.length === 0) return
    if (this.#size + part.length > this.#maxBytes) {
      this.#skipping = true
      this.#parts = []
      return
    }
    this.#parts.push(part)
    this.#size += part.length
  }

  #take(): Line {
    const line = this.#skipping ? 'too-long' : this.#joined()
    this.#parts = []
    this.#size = 0
    this.#skipping = false
    return line
  }

  #joined(): Uint8Array {
    const [only] = this.#parts
    const line = this.#parts.length === 1 && only !== undefined ? only : concat(this.#parts, this.#size)
    return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
  }
}

function concat(parts: readonly Uint8Array[], size: number): Uint8Array {
  const line = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    line.set(part, at)
    at += part.length
  }
  return line
}
