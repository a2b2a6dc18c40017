interface Opened {
  readonly principal: string | null
  usedMs: number
}

/** Sessions that were opened here, with the time of their last use: the longest unused are first, among all and among those of each caller. */
export class OpenedSessions {
  readonly #all = new Map<string, Opened>()
  readonly #own = new Map<string | null, Set<string>>()

  get size(): number {
    return this.#all.size
  }

  has(id: string): boolean {
    return this.#all.has(id)
  }

  /** When it was used last; undefined for one that was not opened here. */
  usedMs(id: string): number | undefined {
    return this.#all.get(id)?.usedMs
  }

  add(id: string, principal: string | null, nowMs: number): void {
    this.#all.set(id, { principal, usedMs: nowMs })
    const own = this.#own.get(principal)
    if (own === undefined) this.#own.set(principal, new Set([id]))
    else own.add(id)
  }

  /** It is used, if it was opened here. */
  touch(id: string, nowMs: number): void {
    const opened = this.#all.get(id)
    if (opened === undefined) return
    this.delete(id)
    this.add(id, opened.principal, nowMs)
  }

  delete(id: string): void {
    const opened = this.#all.get(id)
    if (opened === undefined) return
    this.#all.delete(id)
    const own = this.#own.get(opened.principal)
    own?.delete(id)
    if (own?.size === 0) this.#own.delete(opened.principal)
  }

  /** All ids, the longest unused first. */
  ids(): Iterable<string> {
    return this.#all.keys()
  }

  /** Those of one caller; null for all callers without a name. */
  of(principal: string | null): ReadonlySet<string> {
    return this.#own.get(principal) ?? NONE
  }
}

const NONE: ReadonlySet<string> = new Set()
