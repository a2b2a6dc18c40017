import { ExpiringMap } from './expiring-map.js'
import { MemoryLog } from './memory-log.js'
import { assertInRange } from './range.js'
import type { AppendOptions, Lease, LogPart, SetOptions, Store, StoredValue } from './store.js'

/** Options of {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /** The time in milliseconds by which everything ends. @default Date.now */
  readonly clock?: () => number
}

/** More than one, so that writes alone bring the number of ended entries down. */
const SWEPT_PER_WRITE = 16

const SWEPT_AT_REST = 10_000
const REST_MS = 5_000

/**
 * A {@link Store} in the memory of one process. Every call takes effect before it returns.
 *
 * What has ended goes when it is asked for, and a little of it with every write. Where the platform has timers that keep no
 * process alive, one of them sweeps too while anything is kept, so that an idle process gives its memory back.
 */
export class MemoryStore implements Store {
  readonly #values: ExpiringMap<StoredValue>
  readonly #logs: ExpiringMap<MemoryLog>
  #revisions = 0
  #ids = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #rests = true

  constructor(options: MemoryStoreOptions = {}) {
    const { clock = Date.now } = options
    this.#values = new ExpiringMap(clock)
    this.#logs = new ExpiringMap(clock)
  }

  /**
   * How many values, leases and logs take up memory, ended or not.
   *
   * @internal
   */
  get size(): number {
    return this.#values.size + this.#logs.size
  }

  async get(key: string): Promise<StoredValue | undefined> {
    return this.#values.get(key)
  }

  async set(key: string, value: string, options: SetOptions): Promise<string | undefined> {
    assertInRange('ttlMs', options.ttlMs)
    const { ifRevision } = options
    if (ifRevision !== undefined && ifRevision !== (this.#values.get(key)?.revision ?? null)) return undefined
    return this.#write(key, value, options.ttlMs)
  }

  async delete(key: string, ifRevision?: string): Promise<boolean> {
    const stored = this.#values.get(key)
    if (stored === undefined || (ifRevision !== undefined && stored.revision !== ifRevision)) return false
    this.#values.delete(key)
    return true
  }

  async claim(key: string, owner: string, ttlMs: number): Promise<Lease> {
    assertInRange('ttlMs', ttlMs)
    const holder = this.#values.get(key)?.value ?? owner
    if (holder === owner) this.#write(key, owner, ttlMs)
    return { owner: holder, mine: holder === owner }
  }

  async release(key: string, owner: string): Promise<void> {
    if (this.#values.get(key)?.value === owner) this.#values.delete(key)
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    for (const key of this.#values.keys(prefix)) if (this.#values.get(key) !== undefined) yield key
  }

  async append(log: string, value: string, options: AppendOptions): Promise<string> {
    assertInRange('ttlMs', options.ttlMs)
    assertInRange('maxEntries', options.maxEntries)
    assertInRange('maxBytes', options.maxBytes)
    this.#ids += 1
    // One count for all logs, so that a log that starts anew knows no id of its earlier life; sixteen digits, so that the
    // order of the strings is that of the numbers.
    const id = String(this.#ids).padStart(16, '0')
    const entries = this.#logs.get(log) ?? new MemoryLog()
    entries.append(id, value, options)
    this.#logs.set(log, entries, options.ttlMs)
    this.#tidy()
    return id
  }

  async readAfter(log: string, id: string | undefined, limit: number): Promise<LogPart> {
    assertInRange('limit', limit)
    return this.#logs.get(log)?.readAfter(id, limit) ?? { entries: [], gap: id !== undefined }
  }

  async drop(log: string): Promise<void> {
    this.#logs.delete(log)
  }

  /** Forgets everything and stops sweeping. */
  clear(): void {
    this.#values.clear()
    this.#logs.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #write(key: string, value: string, ttlMs: number): string {
    this.#revisions += 1
    const revision = String(this.#revisions)
    this.#values.set(key, { value, revision }, ttlMs)
    this.#tidy()
    return revision
  }

  #tidy(): void {
    this.#sweep(SWEPT_PER_WRITE)
    if (this.#rests && this.#timer === undefined) this.#rest()
  }

  #sweep(limit: number): void {
    this.#values.sweep(limit)
    this.#logs.sweep(limit)
  }

  #rest(): void {
    // Weak, so that the timer of a store that everyone has forgotten does not keep what it holds.
    const self = new WeakRef(this)
    const timer = setTimeout(() => {
      const store = self.deref()
      if (store !== undefined) store.#wake()
    }, REST_MS)
    if (unref(timer)) {
      this.#timer = timer
    } else {
      clearTimeout(timer)
      this.#rests = false
    }
  }

  #wake(): void {
    this.#timer = undefined
    this.#sweep(SWEPT_AT_REST)
    if (this.size > 0) this.#rest()
  }
}

/** False where timers cannot be told to keep no process alive. */
function unref(timer: unknown): boolean {
  if (typeof timer !== 'object' || timer === null || !('unref' in timer)) return false
  if (typeof timer.unref !== 'function') return false
  timer.unref()
  return true
}
