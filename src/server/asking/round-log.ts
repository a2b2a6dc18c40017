import type { Backplane } from '../../backplane/backplane.js'
import { appendTo, LOOK_MS, LogFollower } from '../log-follower.js'
import type { Nodes } from '../nodes.js'
import type { Moved } from './moved.js'

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

/** The right to move a round on. */
export interface Claim {
  readonly round: RoundName
  readonly owner: string
  /** Milliseconds for which it is known that the round was moved on. */
  readonly ttlMs: number
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

  /** For the one who may move the round on: his right to it, which is undefined for all others. */
  async claim(round: RoundName, ttlMs: number): Promise<Claim | undefined> {
    const { backplane, nodes } = this.#options
    // Who waits for what comes of it must see that this node is alive.
    await nodes.start()
    const owner = this.#owner()
    const { mine } = await backplane.store.claim(keyOf(round), owner, ttlMs)
    return mine ? { round, owner, ttlMs } : undefined
  }

  /** The right to a round whose owner's node is gone; undefined when somebody else was quicker. */
  async takeOver(round: RoundName, ttlMs: number): Promise<Claim | undefined> {
    const { store } = this.#options.backplane
    const held = await store.get(keyOf(round))
    if (held === undefined) return await this.claim(round, ttlMs)
    if (held.value === DONE || (await this.#isOwned(held.value))) return undefined
    await this.#options.nodes.start()
    const owner = this.#owner()
    const revision = await store.set(keyOf(round), owner, { ttlMs, ifRevision: held.revision })
    if (revision === undefined) return undefined
    await this.tellMoved(nodeOf(held.value), round)
    return { round, owner, ttlMs }
  }

  /** A node that has lost a round hears of it, should it be there after all. Never rejects. */
  async tellMoved(node: string, { chain, round }: RoundName): Promise<void> {
    const { nodes, report } = this.#options
    if (node !== nodes.id) await nodes.send(node, 'moved', { chain, round } satisfies RoundName).catch(report)
  }

  /** Gives a round back that cannot be moved on here after all. */
  async giveBack({ round, owner }: Claim): Promise<void> {
    await this.#options.backplane.store.release(keyOf(round), owner)
  }

  /** Keeps what came of the round for a while, and tells who waits for it; who has lost the round tells nothing. Never rejects. */
  async done({ round, owner, ttlMs }: Claim, moved: Moved): Promise<void> {
    const { backplane, report } = this.#options
    try {
      const held = await backplane.store.get(keyOf(round))
      if (held?.value !== owner) return
      await appendTo(backplane, keyOf(round), { value: JSON.stringify(moved), ...BOUNDS })
      await backplane.store.set(keyOf(round), DONE, { ttlMs, ifRevision: held.revision })
    } catch (error) {
      report(error)
    }
  }

  /** What came of a round that another request moves on: `used` when that is known no more, `lost` when its node is gone. */
  async join(round: RoundName, signal: AbortSignal): Promise<Moved | 'used' | 'lost'> {
    const { backplane, nodes } = this.#options
    const lookMs = Math.min(LOOK_MS, nodes.lookMs)
    const follower = await LogFollower.open(backplane, keyOf(round))
    try {
      for (;;) {
        const owner = (await backplane.store.get(keyOf(round)))?.value
        const moved = await follower.next(owner === undefined || owner === DONE ? 0 : lookMs, signal)
        if (moved !== undefined) return JSON.parse(moved) as Moved
        if (owner === undefined || owner === DONE) return 'used'
        if (!(await this.#isOwned(owner))) return 'lost'
      }
    } finally {
      await follower.close()
    }
  }

  #owner(): string {
    return `${this.#options.nodes.id}/${this.#options.ids()}`
  }

  #isOwned(owner: string): Promise<boolean> {
    return this.#options.nodes.isAlive(nodeOf(owner))
  }
}

const nodeOf = (owner: string): string => owner.slice(0, owner.indexOf('/'))

const keyOf = ({ chain, round }: RoundName): string => `round/${chain}/${round}`
