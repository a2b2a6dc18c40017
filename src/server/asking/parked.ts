import { ContinuationMoved } from './chain.js'

/** A handler that waits for its client, with nothing else of its call here. */
export interface Parked {
  readonly chain: string
  readonly principal: string | null
  /** It may be let go, and run again when its client comes back. */
  readonly replay: boolean
  /** Takes it out of its wait. */
  release(): void
  abort(reason: Error): void
}

export interface ParkedOptions {
  readonly maxParked: number
  readonly maxPerPrincipal: number
}

/** Handlers that wait on this node. There is room for so many; those that may run again make room for others. */
export class ParkedHandlers<Handler extends Parked> {
  readonly #options: ParkedOptions
  readonly #all = new Map<string, Handler>()
  #moving = false

  constructor(options: ParkedOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#all.size
  }

  get(chain: string): Handler | undefined {
    return this.#all.get(chain)
  }

  /** False when there is no room for it. */
  add(handler: Handler): boolean {
    const { maxParked, maxPerPrincipal } = this.#options
    const { principal } = handler
    if (this.#moving && handler.replay) return false
    const others = principal === null ? [] : [...this.#all.values()].filter((other) => other.principal === principal)
    if (others.length >= maxPerPrincipal && !this.#makeRoom(others)) return false
    if (this.#all.size >= maxParked && !this.#makeRoom(this.#all.values())) return false
    this.#all.set(handler.chain, handler)
    return true
  }

  /** False when it does not wait here any more. */
  take(handler: Handler): boolean {
    if (this.#all.get(handler.chain) !== handler) return false
    this.#all.delete(handler.chain)
    handler.release()
    return true
  }

  /** Its call goes on somewhere else. */
  move(handler: Handler): void {
    if (this.take(handler)) handler.abort(new ContinuationMoved())
  }

  /** Lets go all that may run again elsewhere, those too that are still to come. */
  moveAll(): void {
    this.#moving = true
    for (const handler of [...this.#all.values()]) if (handler.replay) this.move(handler)
  }

  abortAll(reason: Error, which: (handler: Handler) => boolean = () => true): void {
    for (const handler of [...this.#all.values()]) if (which(handler) && this.take(handler)) handler.abort(reason)
  }

  /** The one that has waited longest goes, of those that may. */
  #makeRoom(among: Iterable<Handler>): boolean {
    for (const handler of among) {
      if (!handler.replay) continue
      this.move(handler)
      return true
    }
    return false
  }
}
