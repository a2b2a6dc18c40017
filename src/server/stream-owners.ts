import type { Store } from '../backplane/store.js'
import { quietTimer } from '../options.js'
import type { Nodes } from './nodes.js'

/** Milliseconds that another node has to let a stream go. */
const YIELD_MS = 2_000

/**
 * What a node says that is to let the stream of a session go: what it has told, and for how many milliseconds it has had the stream.
 * Undefined where it has none.
 */
export type Yielded =
  | { readonly attached: true }
  | { readonly told: readonly string[]; readonly heldMs: number }
  | undefined

/** What the node that had a stream has told, and since when it has told all there was. */
export interface ToldBefore {
  readonly ids: readonly string[]
  readonly sinceMs: number
}

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
  | { readonly refused: false; readonly told?: ToldBefore; readonly lost: boolean }

const NEW: Taken = { refused: false, lost: false }
const LOST: Taken = { refused: false, lost: true }
const REFUSED: Taken = { refused: true }
/** Nodes that may take the stream while this one does. */
const MAX_OVERTAKEN = 3

/** Which node has the stream of a session: one at a time, so that an event is told once. */
export class StreamOwners {
  readonly #options: StreamOwnersOptions
  /** Sessions whose stream is here. */
  readonly #held = new Set<string>()
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(options: StreamOwnersOptions) {
    this.#options = options
  }

  /** What to do when another node wants the stream. */
  onYield(listener: (sessionId: string, takeOver: boolean) => Promise<Yielded>): void {
    this.#options.nodes.on('yield-stream', ({ session, takeOver }: YieldLetter) => listener(session, takeOver))
  }

  /** Takes the stream for this node, from whichever node has it; refused while a client is connected there, unless `takeOver`. */
  async take(sessionId: string, takeOver: boolean): Promise<Taken> {
    if (!this.#options.nodes.shared) return NEW
    for (let overtaken = 0; overtaken < MAX_OVERTAKEN; overtaken++) {
      const taken = await this.#take({ session: sessionId, takeOver })
      if (taken === undefined) continue
      if (!taken.refused) this.#hold(sessionId)
      return taken
    }
    return REFUSED
  }

  /** The stream is not here any more; `ended` when it is nowhere. */
  leave(sessionId: string, how: 'ended' | 'left'): void {
    const { store, nodes, report } = this.#options
    if (!this.#held.delete(sessionId)) return
    if (this.#held.size === 0) this.close()
    if (how === 'ended') store.release(keyOf(sessionId), nodes.id).catch(report)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Undefined when another node was faster. */
  async #take(letter: YieldLetter): Promise<Taken | undefined> {
    const { store, nodes, ttlMs } = this.#options
    const key = keyOf(letter.session)
    const found = await store.get(key)
    if (found === undefined) return (await store.claim(key, nodes.id, ttlMs)).mine ? NEW : undefined
    // It was here, and whoever wanted it has not taken it.
    if (found.value === nodes.id) return LOST
    const taken = await this.#from(found.value, letter)
    if (taken.refused) return taken
    const revision = await store.set(key, nodes.id, { ttlMs, ifRevision: found.revision })
    return revision === undefined ? undefined : taken
  }

  /** A stream may be open for longer than its session is known without being used. */
  #hold(sessionId: string): void {
    this.#held.add(sessionId)
    const { store, nodes, ttlMs, report } = this.#options
    this.#timer ??= quietTimer(() => {
      for (const id of this.#held) store.claim(keyOf(id), nodes.id, ttlMs).catch(report)
    }, ttlMs / 4)
  }

  /** The node that has the stream; it may be gone. */
  async ownerOf(sessionId: string): Promise<string | undefined> {
    return (await this.#options.store.get(keyOf(sessionId)))?.value
  }

  async #from(owner: string, letter: YieldLetter): Promise<Taken> {
    const { nodes } = this.#options
    if (!(await nodes.isAlive(owner))) return LOST
    const askedMs = Date.now()
    const yielded = await nodes.ask<Yielded>(owner, { type: 'yield-stream', body: letter }, YIELD_MS)
    if (yielded === undefined) return LOST
    if ('attached' in yielded) return REFUSED
    return { refused: false, told: { ids: yielded.told, sinceMs: askedMs - yielded.heldMs }, lost: false }
  }
}

interface YieldLetter {
  readonly session: string
  readonly takeOver: boolean
}

const keyOf = (sessionId: string): string => `stream-owner/${sessionId}`
