import { McpError } from '../errors.js'
import { shuttingDown } from './shutting-down.js'

/** A `subscriptions/listen` that is open. */
export interface OpenListen {
  readonly principal: string | null
  /** The server ends it. */
  end(): void
}

/**
 * Listen streams that are open, and how many each caller has: one caller must not take what is there for all. Callers without a
 * name are not counted.
 */
export class Listens {
  readonly #max: number
  readonly #open = new Set<OpenListen>()
  readonly #counts = new Map<string, number>()
  #over = false

  constructor(max: number) {
    this.#max = max
  }

  /** @throws McpError `INTERNAL_ERROR`, retryable, when the caller has too many, or the server closes. */
  enter(listen: OpenListen): void {
    if (this.#over) throw shuttingDown()
    const { principal } = listen
    const count = this.#countOf(principal)
    if (count >= this.#max) {
      const data = { reason: 'too_many_listens', retryable: true }
      throw new McpError('INTERNAL_ERROR', `No more than ${this.#max} streams at once: close one`, { data })
    }
    this.#open.add(listen)
    if (principal !== null) this.#counts.set(principal, count + 1)
  }

  /** Nothing happens the second time. */
  leave(listen: OpenListen): void {
    const { principal } = listen
    if (!this.#open.delete(listen) || principal === null) return
    const left = this.#countOf(principal) - 1
    if (left === 0) this.#counts.delete(principal)
    else this.#counts.set(principal, left)
  }

  /** The server closes. */
  endAll(): void {
    this.#over = true
    for (const listen of [...this.#open]) listen.end()
  }

  #countOf(principal: string | null): number {
    return principal === null ? 0 : (this.#counts.get(principal) ?? 0)
  }
}
