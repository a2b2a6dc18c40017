import type { Store } from '../server/extension.js'

/** What is to be in the place of a value, undefined for none so far; undefined leaves what is there. */
type ValueChange = (value: string | undefined) => string | undefined

const MAX_TRIES = 30
/** Tries after which whoever changes the same value is given some time. */
const AT_ONCE = 3
const LONGEST_WAIT_MS = 50

/**
 * Changes a value by what it is; of several changes at once, on whatever node, each counts. `change` may run again. Resolves to
 * whether something was written.
 */
export async function changeStored(store: Store, key: string, how: ChangeOptions): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries >= AT_ONCE) await elapsed(Math.random() * Math.min(2 ** tries, LONGEST_WAIT_MS))
    const stored = await store.get(key)
    const next = how.change(stored?.value)
    if (next === undefined) return false
    const written = await store.set(key, next, { ttlMs: how.ttlMs, ifRevision: stored?.revision ?? null })
    if (written !== undefined) return true
  }
  throw new Error(`${key} has been changed by others ${MAX_TRIES} times in a row`)
}

interface ChangeOptions {
  readonly ttlMs: number
  readonly change: ValueChange
}

export function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
