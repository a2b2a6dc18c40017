import { type Expiring, ExpiryQueue } from './expiry-queue.js'

interface Item<Value> extends Expiring {
  readonly key: string
  value: Value
}

/** A map whose entries end. What has ended is never given out, and goes when it is asked for or swept. */
export class ExpiringMap<Value> {
  readonly #clock: () => number
  readonly #items = new Map<string, Item<Value>>()
  readonly #order = new ExpiryQueue<Item<Value>>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** How many entries take up memory, those that have ended but are still to be swept included. */
  get size(): number {
    return Math.max(this.#items.size, this.#order.size)
  }

  get(key: string): Value | undefined {
    const item = this.#items.get(key)
    if (item === undefined) return undefined
    if (item.expiresAt > this.#clock()) return item.value
    this.#remove(item)
    return undefined
  }

  set(key: string, value: Value, ttlMs: number): void {
    const expiresAt = this.#clock() + ttlMs
    let item = this.#items.get(key)
    if (item === undefined) {
      item = { key, value, expiresAt, place: -1 }
      this.#items.set(key, item)
    } else {
      item.value = value
      item.expiresAt = expiresAt
    }
    this.#order.put(item)
  }

  delete(key: string): void {
    const item = this.#items.get(key)
    if (item !== undefined) this.#remove(item)
  }

  /** The keys that start with a prefix, as they are at this moment. */
  keys(prefix: string): string[] {
    const found: string[] = []
    for (const key of this.#items.keys()) if (key.startsWith(prefix)) found.push(key)
    return found
  }

  /** Lets go of up to so many entries that have ended. */
  sweep(limit: number): void {
    const now = this.#clock()
    for (let swept = 0; swept < limit; swept += 1) {
      const item = this.#order.first
      if (item === undefined || item.expiresAt > now) return
      this.#remove(item)
    }
  }

  clear(): void {
    for (const item of [...this.#items.values()]) this.#remove(item)
  }

  #remove(item: Item<Value>): void {
    this.#items.delete(item.key)
    this.#order.remove(item)
  }
}
