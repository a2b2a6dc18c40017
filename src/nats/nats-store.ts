import { EngineClock } from '../backplane/engine-clock.js'
import { assertInRange } from '../backplane/range.js'
import type { AppendOptions, Lease, LogPart, SetOptions, Store, StoredValue } from '../backplane/store.js'
import { Logs } from './logs.js'
import type { NatsShared } from './shared.js'
import { type Held, Values } from './values.js'

/** A {@link Store} in JetStream. A write names what it has seen before, and begins again when someone was faster. */
export class NatsStore implements Store {
  readonly #values: Values
  readonly #logs: Logs
  /** Undefined where the clock is the user's. */
  readonly #clock: EngineClock | undefined
  readonly #now: () => number

  constructor(shared: NatsShared) {
    this.#clock = shared.clock === undefined ? new EngineClock(() => this.#values.time()) : undefined
    this.#now = shared.clock ?? this.#clock?.now ?? Date.now
    const half = { ...shared, clock: this.#now }
    this.#values = new Values(half)
    this.#logs = new Logs(half)
  }

  async time(): Promise<number> {
    await this.#clock?.keep()
    return this.#now()
  }

  async get(key: string): Promise<StoredValue | undefined> {
    await this.#clock?.keep()
    const { value, seq } = await this.#values.get(key)
    return value === undefined ? undefined : { value, revision: String(seq) }
  }

  async set(key: string, value: string, options: SetOptions): Promise<string | undefined> {
    const { ttlMs, ifRevision } = options
    assertInRange('ttlMs', ttlMs)
    await this.#clock?.keep()
    for (;;) {
      const held = await this.#values.get(key)
      if (ifRevision !== undefined && ifRevision !== revisionOf(held)) return undefined
      const seq = await this.#values.put(key, value, { held, ttlMs })
      if (seq !== undefined) return String(seq)
    }
  }

  async delete(key: string, ifRevision?: string): Promise<boolean> {
    await this.#clock?.keep()
    for (;;) {
      const held = await this.#values.get(key)
      if (held.value === undefined || (ifRevision !== undefined && ifRevision !== revisionOf(held))) return false
      if (await this.#values.remove(key, held)) return true
    }
  }

  async claim(key: string, owner: string, ttlMs: number): Promise<Lease> {
    assertInRange('ttlMs', ttlMs)
    await this.#clock?.keep()
    for (;;) {
      const held = await this.#values.get(key)
      const holder = held.value ?? owner
      if (holder !== owner) return { owner: holder, mine: false }
      if ((await this.#values.put(key, owner, { held, ttlMs })) !== undefined) return { owner, mine: true }
    }
  }

  async release(key: string, owner: string): Promise<void> {
    await this.#clock?.keep()
    const held = await this.#values.get(key)
    if (held.value === owner) await this.#values.remove(key, held)
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    await this.#clock?.keep()
    yield* this.#values.list(prefix)
  }

  async append(log: string, value: string, options: AppendOptions): Promise<string> {
    assertInRange('ttlMs', options.ttlMs)
    assertInRange('maxEntries', options.maxEntries)
    assertInRange('maxBytes', options.maxBytes)
    await this.#clock?.keep()
    return await this.#logs.append(log, value, options)
  }

  async readAfter(log: string, id: string | undefined, limit: number): Promise<LogPart> {
    assertInRange('limit', limit)
    await this.#clock?.keep()
    return await this.#logs.readAfter(log, id, limit)
  }

  drop(log: string): Promise<void> {
    return this.#logs.drop(log)
  }
}

function revisionOf({ value, seq }: Held): string | null {
  return value === undefined ? null : String(seq)
}
