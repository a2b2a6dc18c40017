/** What a key holds, with the mark of the write that put it there. */
export interface StoredValue {
  readonly value: string
  /** Opaque. Another one after every `set`; a key never gets the same one twice, not even after its value was deleted. */
  readonly revision: string
}

/** How to {@link Store.set} a value. */
export interface SetOptions {
  /** How long the value stays, in milliseconds from this write on: a whole number from 1 on. */
  readonly ttlMs: number
  /**
   * Sets only if nobody was faster: the revision that the key must have, or `null` when there must be no value. Left out, the
   * value is set whatever is there. `ifRevision: (await store.get(key))?.revision ?? null` is read-then-write.
   */
  readonly ifRevision?: string | null
}

/** Who holds a key that was claimed. */
export interface Lease {
  readonly owner: string
  /** Whether that is the one who asked. */
  readonly mine: boolean
}

/** How to {@link Store.append} to a log. The numbers are whole and from 1 on. */
export interface AppendOptions {
  /** How long the whole log stays, in milliseconds from this append on. */
  readonly ttlMs: number
  /** The oldest entries go when there are more. */
  readonly maxEntries: number
  /** The oldest entries go when their values have more bytes together (UTF-8). The newest stays, whatever its size. */
  readonly maxBytes: number
}

/** One entry of a log. */
export interface LogEntry {
  /**
   * Increases within a log: of two ids the later one is the greater string (`<`). Letters, digits and `-` only, at most 64 of
   * them. No id is used twice in a log, not even after it was dropped or has expired.
   */
  readonly id: string
  readonly value: string
}

/** What {@link Store.readAfter} found. */
export interface LogPart {
  /** Oldest first. With a gap: what is left, which may be nothing. */
  readonly entries: readonly LogEntry[]
  /** True when entries that should have been here are lost: whoever follows the log has missed something. */
  readonly gap: boolean
}

/**
 * The truth that the nodes share: values, leases and logs, each with an end of its own. Nothing is kept without a `ttlMs`;
 * what is past its time is absent in every respect.
 *
 * Keys, logs and values are any strings, values of 8 MiB included. A key and a log of the same name have nothing to do with
 * each other. Each call is atomic among all nodes, and what it wrote is seen by every call that starts after it has resolved.
 *
 * Every method rejects with a `RangeError` when a number is out of its range, and with an error of the implementation when
 * the engine cannot be reached: then it is not known whether a write took place.
 */
export interface Store {
  /** The value of a key, a lease's owner included. */
  get(key: string): Promise<StoredValue | undefined>

  /** Resolves to the new revision, or to `undefined` when `ifRevision` does not hold: then nothing has changed, nor has the time. */
  set(key: string, value: string, options: SetOptions): Promise<string | undefined>

  /** Resolves to whether there was a value that is now gone; false too when it has another revision than `ifRevision`. */
  delete(key: string, ifRevision?: string): Promise<boolean>

  /**
   * Takes a key that nobody holds, or renews one's own: its value is then the owner, for `ttlMs` from now on. Of many who ask
   * at once exactly one gets it. A lease is a key like any other: `get` shows its owner, `list` lists it, a renewal may
   * change its revision.
   */
  claim(key: string, owner: string, ttlMs: number): Promise<Lease>

  /** Gives a lease back; does nothing when another one holds it. */
  release(key: string, owner: string): Promise<void>

  /**
   * The keys that start with the prefix, which is no pattern; all with an empty one. In no order, each once. A key that is there
   * from the first step to the last is among them; one that comes or goes meanwhile may be.
   */
  list(prefix: string): AsyncIterable<string>

  /** Adds an entry at the end, drops the oldest while there is too much, and resolves to the new entry's id. */
  append(log: string, value: string, options: AppendOptions): Promise<string>

  /**
   * The entries after `id`, or from the very first on when it is `undefined`; at most `limit` of them (a whole number from 1
   * on), the oldest ones.
   *
   * `gap` is true when one of those was dropped, and when the log does not know the id, because it is foreign or because the
   * log was dropped or has expired since. An id that has itself been dropped may count as unknown even when nothing after it
   * was. A log that is not there has no entries and, read from the start, no gap.
   */
  readAfter(log: string, id: string | undefined, limit: number): Promise<LogPart>

  /** Removes a log. */
  drop(log: string): Promise<void>
}
