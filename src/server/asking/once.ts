import type { Awaitable } from '../../awaitable.js'
import type { Store } from '../../backplane/store.js'
import type { Chain } from './chain.js'
import { digest } from './digest.js'

/** Milliseconds that a value is kept past the time in which its call may run again. */
const MARGIN_MS = 60_000

/** Parts of handlers that must not run twice. */
export class Once {
  readonly #store: Store
  readonly #clock: () => number

  constructor(store: Store, clock: () => number) {
    this.#store = store
    this.#clock = clock
  }

  /** The value of a part that has run, or of running it now. @throws TypeError for a value that JSON cannot hold. */
  run<Value>(chain: Chain, key: string, part: (idempotencyKey: string) => Awaitable<Value>): Promise<Value> {
    if (typeof key !== 'string' || key === '')
      throw new TypeError('session.once: the key must be a string that is not empty')
    if (typeof part !== 'function')
      throw new TypeError(`session.once, '${key}': the second argument must be a function`)
    const known = chain.once.get(key)
    if (known !== undefined) return known as Promise<Value>
    const running = this.#run(chain, key, part)
    chain.once.set(key, running)
    // A throw is not kept: the next one tries again.
    running.catch(() => chain.once.delete(key))
    return running as Promise<Value>
  }

  async #run(chain: Chain, key: string, part: (idempotencyKey: string) => Awaitable<unknown>): Promise<unknown> {
    const name = `once/${chain.id}/${key}`
    const known = chain.round === 0 ? undefined : await this.#store.get(name)
    if (known === undefined) return await this.#runNow(chain, key, part)
    return record(chain, key, known.value)
  }

  async #runNow(chain: Chain, key: string, part: (idempotencyKey: string) => Awaitable<unknown>): Promise<unknown> {
    const json = toJson(key, await part(await digest(`${chain.id}\n${key}`)))
    // Nobody can run this call again before it has asked something; then the state that the client gets has the value.
    if (chain.round === 0) return record(chain, key, json)
    const name = `once/${chain.id}/${key}`
    const ttlMs = Math.max(0, chain.deadlineMs - this.#clock()) + MARGIN_MS
    const first = await this.#store.set(name, json, { ttlMs, ifRevision: null })
    // Another run of the same call was quicker: what it has recorded counts.
    const kept = first === undefined ? await this.#store.get(name) : undefined
    return record(chain, key, kept?.value ?? json)
  }
}

/** From here on each state that a client gets has the value. */
function record(chain: Chain, key: string, json: string): unknown {
  const value: unknown = JSON.parse(json)
  chain.onceValues.set(key, value)
  return value
}

/** @throws TypeError for a value that JSON cannot hold. */
function toJson(key: string, value: unknown): string {
  const json = value === undefined ? 'null' : JSON.stringify(value)
  if (json === undefined) throw new TypeError(`session.once, '${key}': the value must be one that JSON can hold`)
  return json
}
