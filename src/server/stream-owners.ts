import type { Store } from '../backplane/store.js'
import type { Nodes } from './nodes.js'

/** Milliseconds that another node has to let a stream go. */
const YIELD_MS = 2_000

/** What a node says that is to let the stream of a session go. */
export type Yielded = { readonly attached: true } | { readonly told: readonly string[] }

export interface StreamOwnersOptions {
  readonly store: Store
  readonly nodes: Nodes
  /** How long a session is known, in milliseconds. */
  readonly ttlMs: number
  readonly report: (error: unknown) => void
}

/** How a session's stream came to this node. */
export type Taken =
  | { readonly refused: true }
  /** `told`: what another node has told on it; undefined when nobody is there who knows. */
  | { readonly refused: false; readonly told?: readonly string[] | undefined; readonly lost: boolean }

const NEW: Taken = { refused: false, lost: false }

/** Which node has the stream of a session: one at a time, so that an event is told once. */
export class StreamOwners {
  readonly #options: StreamOwnersOptions

  constructor(options: StreamOwnersOptions) {
    this.#options = options
  }

  /** What to do when another node wants the stream. */
  onYield(listener: (sessionId: string, takeOver: boolean) => Promise<Yielded>): void {
    this.#options.nodes.on('yield-stream', ({ session, takeOver }: YieldLetter) => listener(session, takeOver))
  }

  /** Takes the stream for this node, from whichever node has it; refused while a client is connected there, unless `takeOver`. */
  async take(sessionId: string, takeOver: boolean): Promise<Taken> {
    const { store, nodes, ttlMs } = this.#options
    if (!nodes.shared) return NEW
    const owner = await this.ownerOf(sessionId)
    const taken =
      owner === undefined || owner === nodes.id ? NEW : await this.#from(owner, { session: sessionId, takeOver })
    if (!taken.refused) await store.set(keyOf(sessionId), nodes.id, { ttlMs })
    return taken
  }

  /** The session is over. Never rejects. */
  async forget(sessionId: string): Promise<void> {
    const { store, nodes, report } = this.#options
    if (nodes.shared) await store.release(keyOf(sessionId), nodes.id).catch(report)
  }

  /** The node that has the stream; it may be gone. */
  async ownerOf(sessionId: string): Promise<string | undefined> {
    return (await this.#options.store.get(keyOf(sessionId)))?.value
  }

  async #from(owner: string, letter: YieldLetter): Promise<Taken> {
    const { nodes } = this.#options
    if (!(await nodes.isAlive(owner))) return { refused: false, lost: true }
    const yielded = await nodes.ask<Yielded>(owner, { type: 'yield-stream', body: letter }, YIELD_MS)
    if (yielded === undefined) return { refused: false, lost: true }
    return 'attached' in yielded ? { refused: true } : { refused: false, told: yielded.told, lost: false }
  }
}

interface YieldLetter {
  readonly session: string
  readonly takeOver: boolean
}

const keyOf = (sessionId: string): string => `stream-owner/${sessionId}`
