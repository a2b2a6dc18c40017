import type { Store } from '../backplane/store.js'

/** The names of nodes, and which write they are from. */
export interface Roll {
  readonly names: readonly string[]
  readonly revision: string | null
}

const KEY = 'nodes'
const KEPT_MS = 3_600_000

/**
 * The nodes of a server by their names, those that are gone among them until somebody strikes them off. It is one value, since a
 * store that is asked for the keys of nodes looks at all keys that it has, those of sessions too.
 */
export class NodeRoll {
  readonly #store: Store
  readonly #id: string
  #writtenMs = Number.NEGATIVE_INFINITY

  constructor(store: Store, id: string) {
    this.#store = store
    this.#id = id
  }

  async read(): Promise<Roll> {
    const found = await this.#store.get(KEY)
    if (found === undefined) return { names: [], revision: null }
    return { names: JSON.parse(found.value) as readonly string[], revision: found.revision }
  }

  /**
   * Sees to it that this node is on it, as what the engine had may be lost. `anew` when its lease may have run out: whoever has
   * seen that and is about to strike it off is then too late.
   */
  async enter(anew: boolean): Promise<void> {
    for (;;) {
      const roll = await this.read()
      const isRecent = Date.now() - this.#writtenMs < KEPT_MS / 2
      if (!anew && isRecent && roll.names.includes(this.#id)) return
      if (await this.#write(roll, [...without(roll, [this.#id]), this.#id])) return
    }
  }

  async leave(): Promise<void> {
    for (;;) {
      const roll = await this.read()
      if (!roll.names.includes(this.#id) || (await this.#write(roll, without(roll, [this.#id])))) return
    }
  }

  /** Those that were found to be gone after the roll was read; nothing happens when it has changed since. */
  async strike(roll: Roll, gone: readonly string[]): Promise<void> {
    await this.#write(roll, without(roll, gone))
  }

  async #write({ revision }: Roll, names: readonly string[]): Promise<boolean> {
    const written = await this.#store.set(KEY, JSON.stringify(names), { ttlMs: KEPT_MS, ifRevision: revision })
    if (written === undefined) return false
    this.#writtenMs = Date.now()
    return true
  }
}

const without = ({ names }: Roll, some: readonly string[]): readonly string[] =>
  names.filter((name) => !some.includes(name))
