/** Something of a call that costs while it runs: its time, its place among others. */
export interface Pausable {
  pause(): void
  /** Resolves when the call may go on. */
  resume(): Promise<void> | void
}

/** Lets a call stand still while its client is asked. Questions overlap: it goes on when none is open. */
export class Pausing {
  #parts: Set<Pausable> | undefined
  #pauses = 0

  /** Returns the way out. */
  add(part: Pausable): () => void {
    this.#parts ??= new Set()
    this.#parts.add(part)
    return () => this.#parts?.delete(part)
  }

  get paused(): boolean {
    return this.#pauses > 0
  }

  pause(): void {
    this.#pauses++
    if (this.#pauses === 1) for (const part of this.#parts ?? []) part.pause()
  }

  async resume(): Promise<void> {
    this.#pauses--
    if (this.#pauses === 0) for (const part of [...(this.#parts ?? [])]) await part.resume()
  }
}
