import { Lost } from './wire.js'

/** What is done to the nodes. */
export interface Nodes {
  kill(at: number): Promise<void>
  restart(at: number): Promise<void>
}

interface Outage {
  readonly fromMs: number
  toMs: number
}

/** What a node took before it was killed may still be on its way to us. */
const MARGIN_MS = 250

/** Times at which a node was away: from its kill until it listens again. */
export class Outages {
  readonly #nodes: Nodes
  readonly #all: Outage[] = []

  constructor(nodes: Nodes) {
    this.#nodes = nodes
  }

  get count(): number {
    return this.#all.length
  }

  /** Kills a node and starts it again. */
  async cause(at: number): Promise<void> {
    const outage: Outage = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY }
    this.#all.push(outage)
    await this.#nodes.kill(at)
    await this.#nodes.restart(at)
    outage.toMs = Date.now()
  }

  /** Whether a node was away at some time of what began then and ends now: only so something may have been lost. */
  explain(error: unknown, beganMs: number): boolean {
    if (!(error instanceof Lost)) return false
    return this.#all.some(({ toMs }) => toMs + MARGIN_MS >= beganMs)
  }
}
