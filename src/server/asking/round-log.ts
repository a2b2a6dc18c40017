import type { Backplane } from '../../backplane/backplane.js'
import { type Failure, McpError, toFailure } from '../../errors.js'
import type { Result } from '../../protocol/model.js'
import { InputRequiredResult } from './input-required-result.js'

/** How a round was moved on: with a result or a further round, or with an error. */
type Moved = { readonly result: object } | { readonly round: object } | { readonly failure: Failure }

/** Milliseconds that the answer of a round is kept for a client that asks twice. */
const KEPT_MS = 60_000
/** Milliseconds between two looks at a round that another request is moving on. */
const LOOK_MS = 5_000
/** The one entry of a log. */
const BOUNDS = { ttlMs: KEPT_MS, maxEntries: 1, maxBytes: 67_108_864 }
/** Owner of a round whose answer is there. */
const DONE = 'done'

export interface RoundLogOptions {
  readonly backplane: Backplane
  readonly ids: () => string
  readonly report: (error: unknown) => void
}

/** A round of a chain, as it is named among nodes. */
export interface RoundName {
  readonly chain: string
  readonly round: number
}

/**
 * Who moves a round on, and what came of it. Of all who try, requests on any node and the clock, one wins; whoever sends the
 * same answer again gets the same result.
 */
export class RoundLog {
  readonly #options: RoundLogOptions

  constructor(options: RoundLogOptions) {
    this.#options = options
  }

  /** True for the one who may move the round on. */
  async claim(round: RoundName, ttlMs: number): Promise<boolean> {
    const { backplane, ids } = this.#options
    return (await backplane.store.claim(keyOf(round), ids(), ttlMs)).mine
  }

  /** Gives the round back, for it cannot be moved on here. */
  async giveBack(round: RoundName): Promise<void> {
    await this.#options.backplane.store.delete(keyOf(round))
  }

  /** Keeps what came of the round for a while, and tells who waits for it. Never rejects. */
  async done(round: RoundName, moved: Moved, ttlMs: number): Promise<void> {
    const { store, pubSub } = this.#options.backplane
    try {
      await store.append(keyOf(round), JSON.stringify(moved), BOUNDS)
      await store.set(keyOf(round), DONE, { ttlMs })
      await pubSub.publish(keyOf(round), '')
    } catch (error) {
      this.#options.report(error)
    }
  }

  /** What came of a round that another request moves on; undefined when that is known no more. @throws its failure. */
  async join(round: RoundName, signal: AbortSignal): Promise<Result | undefined> {
    const { store, pubSub } = this.#options.backplane
    const key = keyOf(round)
    let ring = (): void => undefined
    const unsubscribe = await pubSub.subscribe(key, () => ring())
    try {
      for (;;) {
        const rung = new Promise<void>((resolve) => {
          ring = resolve
        })
        const [found] = (await store.readAfter(key, undefined, 1)).entries
        if (found !== undefined) return unwrap(JSON.parse(found.value) as Moved)
        const claimed = await store.get(key)
        if (claimed === undefined || claimed.value === DONE) return undefined
        await either(rung, LOOK_MS, signal)
      }
    } finally {
      await unsubscribe()
    }
  }
}

/** Resolves when it has rung, or after `ms`. @throws what the signal was aborted with. */
function either(rung: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', abort, { once: true })
    void rung.then(resolve)
    void rung.finally(() => clearTimeout(timer))
  })
}

function unwrap(moved: Moved): Result {
  if ('result' in moved) return moved.result
  if ('round' in moved) return new InputRequiredResult(moved.round as InputRequiredResult)
  const { code, message, data } = moved.failure
  throw new McpError(code, message, { data })
}

/** What a request ended with, in the form in which others may have it. */
export function toMoved(result: object): Moved {
  return result instanceof InputRequiredResult ? { round: result } : { result }
}

/** The failure as its client sees it; who was not told of its cause is not told of it here either. */
export function toFailed(error: unknown): Moved {
  return { failure: toFailure(error, () => undefined) }
}

const keyOf = ({ chain, round }: RoundName): string => `round/${chain}/${round}`
