import type { RequestId } from '../protocol/jsonrpc.js'

/** A call that can be ended from outside, by the client's word. */
export interface RunningCall {
  cancel(reason?: string): void
}

/** Running calls by id. Most clients have none at most times: then nothing is kept. */
export class RunningCalls {
  #calls: Map<RequestId, RunningCall> | undefined

  get size(): number {
    return this.#calls?.size ?? 0
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
  }

  /** Ends them all. */
  cancelAll(reason: string): void {
    for (const call of [...(this.#calls?.values() ?? [])]) call.cancel(reason)
  }
}
