import type { Writable } from 'node:stream'

/** Characters, or bytes once they are on their way, that a client may leave unread. */
const MAX_UNREAD = 16_777_216

/**
 * Writes messages as lines, in order. Those of one turn go out in one write: under load that is most of what stdio costs.
 */
export class LineWriter {
  readonly #output: Writable
  #lines: string[] = []
  #characters = 0
  #full: Promise<void> | undefined
  #broken = false

  constructor(output: Writable) {
    this.#output = output
    // The reader at the other end may go at any time; then there is nobody left to write to.
    output.on('error', () => {
      this.#broken = true
    })
  }

  /** A promise where the output is full; it resolves when there is room again. */
  write(message: string): Promise<void> | undefined {
    this.#characters += message.length
    if (this.#lines.push(message) === 1) queueMicrotask(() => this.#flush())
    return this.#full
  }

  /** Whether more waits to be read than a client may leave. */
  get overfull(): boolean {
    return this.#characters + this.#output.writableLength > MAX_UNREAD
  }

  /** Resolves when what waits has been read, or nobody is left to read it. */
  async room(): Promise<void> {
    this.#flush()
    await this.#full
  }

  /** Resolves when everything that was written has left the process, or cannot any more. */
  async drained(): Promise<void> {
    this.#flush()
    if (this.#broken || this.#output.destroyed) return
    await new Promise<void>((resolve) => {
      this.#output.write('', () => resolve())
    })
  }

  #flush(): void {
    if (this.#lines.length === 0) return
    const text = `${this.#lines.join('\n')}\n`
    this.#lines = []
    this.#characters = 0
    if (this.#broken || this.#output.destroyed || this.#output.write(text)) return
    this.#full ??= this.#room()
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#output.off('drain', done)
        this.#output.off('close', done)
        this.#full = undefined
        resolve()
      }
      this.#output.on('drain', done)
      this.#output.on('close', done)
    })
  }
}
