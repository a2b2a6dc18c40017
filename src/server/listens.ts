import { McpError } from '../errors.js'

/** Listen streams per caller: one caller must not take what is there for all. Callers without a name are not counted. */
export class Listens {
  readonly #max: number
  readonly #open = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** @throws McpError `INTERNAL_ERROR`, retryable, when the caller has too many. */
  enter(principal: string | null): void {
    if (principal === null) return
    const open = this.#open.get(principal) ?? 0
    if (open >= this.#max) {
      const data = { reason: 'too_many_listens', retryable: true }
      throw new McpError('INTERNAL_ERROR', `No more than ${this.#max} streams at once: close one`, { data })
    }
    this.#open.set(principal, open + 1)
  }

  /** Once for each time that the caller has entered. */
  leave(principal: string | null): void {
    if (principal === null) return
    const left = (this.#open.get(principal) ?? 1) - 1
    if (left === 0) this.#open.delete(principal)
    else this.#open.set(principal, left)
  }
}
