/** Characters that the logs of this node's calls that are done may have together. */
const MAX_SIZE = 67_108_864
/** What a log takes besides: most calls say little, and many of them would take much more than their characters. */
const LOG_SIZE = 2_048

/** The part of a stream's log that matters here. */
interface DoneLog {
  /** In characters. */
  readonly size: number
  drop(): Promise<void>
}

interface Kept {
  readonly size: number
  readonly untilMs: number
}

/** Logs of calls that are done: who comes back gets the rest, as long as there is time, and not too many others are done since. */
export class DoneLogs {
  readonly #ttlMs: number
  readonly #drop: (log: DoneLog) => void
  readonly #clock: () => number
  /** The oldest first. */
  readonly #logs = new Map<DoneLog, Kept>()
  #size = 0

  constructor(ttlMs: number, drop: (log: DoneLog) => void, clock: () => number = Date.now) {
    this.#ttlMs = ttlMs
    this.#drop = drop
    this.#clock = clock
  }

  get count(): number {
    return this.#logs.size
  }

  keep(log: DoneLog): void {
    const now = this.#clock()
    const size = log.size + LOG_SIZE
    this.#logs.set(log, { size, untilMs: now + this.#ttlMs })
    this.#size += size
    for (const [oldest, kept] of this.#logs) {
      // The store drops by itself what is out of time.
      const isOver = kept.untilMs <= now
      if (!isOver && this.#size <= MAX_SIZE) return
      this.#logs.delete(oldest)
      this.#size -= kept.size
      if (!isOver) this.#drop(oldest)
    }
  }
}
