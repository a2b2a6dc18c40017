import type { RequestId } from '../protocol/jsonrpc.js'

/** A call that can be ended from outside, by the client's word. */
export interface RunningCall {
  /** It does nothing but wait for an answer of its client, which has let go of its connection. */
  readonly deserted?: boolean
  cancel(reason?: string): void
  /** Ends it with an error that its client gets. */
  abort(error: Error): void
}

/** Running calls by id. Most clients have none at most times: then nothing is kept. */
export class RunningCalls {
  #calls: Map<RequestId, RunningCall> | undefined
  /** What is to be done when ids are free again. */
  #onFree: Map<RequestId, () => void> | undefined

  get size(): number {
    return this.#calls?.size ?? 0
  }

  /** Calls that wait for a client that has gone. */
  get deserted(): number {
    return [...(this.#calls?.values() ?? [])].filter((call) => call.deserted === true).length
  }

  has(id: RequestId): boolean {
    return this.#calls?.has(id) === true
  }

  get(id: RequestId): RunningCall | undefined {
    return this.#calls?.get(id)
  }

  set(id: RequestId, call: RunningCall): void {
    this.#calls ??= new Map()
    this.#calls.set(id, call)
  }

  delete(id: RequestId): void {
    this.#calls?.delete(id)
    if (this.#calls?.size === 0) this.#calls = undefined
    const free = this.#onFree?.get(id)
    this.#onFree?.delete(id)
    free?.()
  }

  /** Calls `free` once, and no other, when the id of the call may be used anew: at once where the call is over. */
  onFree(id: RequestId, call: RunningCall, free: () => void): void {
    if (this.get(id) !== call) return free()
    this.#onFree ??= new Map()
    this.#onFree.set(id, free)
  }

  /** Ends them all. */
  cancelAll(reason: string): void {
    for (const call of [...(this.#calls?.values() ?? [])]) call.cancel(reason)
  }
}
