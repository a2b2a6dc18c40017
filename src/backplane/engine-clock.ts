/** Milliseconds for which it is known how far two clocks are apart. */
const KNOWN_MS = 60_000

/** The time of an engine, told from here: by the clock of this process, and how far that one is behind. */
export class EngineClock {
  readonly #ask: () => Promise<number>
  #aheadMs = 0
  #askedMs = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined

  /** `ask` gives the time of the engine in milliseconds. */
  constructor(ask: () => Promise<number>) {
    this.#ask = ask
  }

  /** By the clock of this process alone as long as the engine has not been asked. */
  readonly now = (): number => Date.now() + this.#aheadMs

  /** Asks the engine when it was not asked for a minute; it is waited for the first time only. @throws what asking it throws the first time. */
  keep(): Promise<void> | undefined {
    const known = this.#askedMs !== Number.NEGATIVE_INFINITY
    if (known && Math.abs(Date.now() - this.#askedMs) < KNOWN_MS) return undefined
    this.#asking ??= this.#measure().finally(() => {
      this.#asking = undefined
    })
    if (!known) return this.#asking
    // What was known before is good enough until the engine answers.
    this.#asking.catch(() => undefined)
    return undefined
  }

  /** The engine has said it about in the middle of the time that its answer took. */
  async #measure(): Promise<void> {
    const before = Date.now()
    const time = await this.#ask()
    const after = Date.now()
    this.#aheadMs = Math.round(time - (before + after) / 2)
    this.#askedMs = after
  }
}
