import type { Backplane } from '../backplane/backplane.js'
import type { Unsubscribe } from '../backplane/pub-sub.js'

/** Milliseconds between two looks at a log that nothing has told of: a doorbell may be missed. */
export const LOOK_MS = 5_000
const BATCH = 100

/** Reads a log from its beginning, entry by entry, as they come. */
export class LogFollower {
  readonly #backplane: Backplane
  readonly #log: string
  readonly #entries: string[] = []
  /** Entries were dropped before they could be read. */
  missed = false
  #last: string | undefined
  #unsubscribe: Unsubscribe | undefined
  #ring: () => void = () => undefined

  private constructor(backplane: Backplane, log: string) {
    this.#backplane = backplane
    this.#log = log
  }

  /** Rings with whoever appends to the log by {@link appendTo}. */
  static async open(backplane: Backplane, log: string): Promise<LogFollower> {
    const follower = new LogFollower(backplane, log)
    follower.#unsubscribe = await backplane.pubSub.subscribe(log, () => follower.#ring())
    return follower
  }

  /** The next entry; undefined when there is none within `ms`. @throws what the signal is aborted with. */
  async next(ms: number, signal: AbortSignal): Promise<string | undefined> {
    const deadline = Date.now() + ms
    for (;;) {
      signal.throwIfAborted()
      const rung = new Promise<void>((resolve) => {
        this.#ring = resolve
      })
      if (this.#entries.length === 0) await this.#read()
      const entry = this.#entries.shift()
      const left = deadline - Date.now()
      if (entry !== undefined || left <= 0) return entry
      await within(rung, Math.min(left, LOOK_MS), signal)
    }
  }

  async close(): Promise<void> {
    await this.#unsubscribe?.()
  }

  async #read(): Promise<void> {
    const { entries, gap } = await this.#backplane.store.readAfter(this.#log, this.#last, BATCH)
    this.missed ||= gap
    for (const { id, value } of entries) {
      if (this.#last !== undefined && id <= this.#last) continue
      this.#last = id
      this.#entries.push(value)
    }
  }
}

export interface LogBounds {
  readonly ttlMs: number
  readonly maxEntries: number
  readonly maxBytes: number
}

/** Appends to a log, then tells who follows it: what is there is not lost, whoever misses the bell, or if it cannot be rung. */
export async function appendTo(
  { store, pubSub }: Backplane,
  log: string,
  entry: { readonly value: string } & LogBounds,
): Promise<void> {
  const { value, ...bounds } = entry
  await store.append(log, value, bounds)
  await pubSub.publish(log, '').catch(() => undefined)
}

/** Resolves when it has rung, or after `ms`. @throws what the signal is aborted with. */
function within(rung: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    const abort = (): void => {
      settle()
      reject(signal.reason as Error)
    }
    const go = (): void => {
      settle()
      resolve()
    }
    const timer = setTimeout(go, ms)
    signal.addEventListener('abort', abort, { once: true })
    void rung.then(go)
  })
}
