import type { Backplane } from '../../backplane/backplane.js'
import type { Result } from '../../protocol/model.js'
import { appendTo, LOOK_MS, LogFollower } from '../log-follower.js'
import type { Nodes } from '../nodes.js'
import { type Moved, nodeDied, unwrap } from './moved.js'

/** Milliseconds that the answer of a round is kept for a client that asks twice. */
const KEPT_MS = 60_000
const BOUNDS = { ttlMs: KEPT_MS, maxEntries: 1, maxBytes: 67_108_864 }
/** Owner of a round whose answer is there. */
const DONE = 'done'

export interface RoundLogOptions {
  readonly backplane: Backplane
  readonly nodes: Nodes
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
    const { backplane, ids, nodes } = this.#options
    return (await backplane.store.claim(keyOf(round), `${nodes.id}/${ids()}`, ttlMs)).mine
  }

  /** Gives a round back that cannot be moved on here after all. */
  async giveBack(round: RoundName): Promise<void> {
    await this.#options.backplane.store.delete(keyOf(round))
  }

  /** Keeps what came of the round for a while, and tells who waits for it. Never rejects. */
  async done(round: RoundName, moved: Moved, ttlMs: number): Promise<void> {
    const { backplane, report } = this.#options
    try {
      await appendTo(backplane, keyOf(round), { value: JSON.stringify(moved), ...BOUNDS })
      await backplane.store.set(keyOf(round), DONE, { ttlMs })
    } catch (error) {
      report(error)
    }
  }

  /**
   * What came of a round that another request moves on; undefined when that is known no more.
   *
   * @throws McpError, the round's own failure, or a retryable one when the node that had it is gone.
   */
  async join(round: RoundName, signal: AbortSignal): Promise<Result | undefined> {
    const { backplane } = this.#options
    const follower = await LogFollower.open(backplane, keyOf(round))
    try {
      for (;;) {
        const owner = (await backplane.store.get(keyOf(round)))?.value
        const moved = await follower.next(owner === undefined || owner === DONE ? 0 : LOOK_MS, signal)
        if (moved !== undefined) return unwrap(JSON.parse(moved) as Moved)
        if (owner === undefined || owner === DONE) return undefined
        if (!(await this.#options.nodes.isAlive(owner.slice(0, owner.indexOf('/'))))) throw nodeDied()
      }
    } finally {
      await follower.close()
    }
  }
}

const keyOf = ({ chain, round }: RoundName): string => `round/${chain}/${round}`
