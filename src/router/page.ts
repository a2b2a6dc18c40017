import { decodeBase64, encodeBase64 } from '../base64.js'
import { McpError } from '../errors.js'

/** A part of a list, and the cursor of what follows. */
export interface Page<Entry> {
  readonly entries: readonly Entry[]
  readonly nextCursor: string | undefined
}

interface Cut {
  readonly cursor: unknown
  readonly size: number
}

/**
 * Cuts a page. A cursor names the entry that its page begins with, so that it survives other changes of the list.
 *
 * @throws McpError `INVALID_PARAMS` for a cursor that was not issued for this list, or whose entry is gone.
 */
export function cutPage<Entry extends { readonly name: string }>(
  list: string,
  entries: readonly Entry[],
  { cursor, size }: Cut,
): Page<Entry> {
  const start = cursor === undefined ? 0 : startOf(list, entries, cursor)
  const next = entries[start + size]
  return {
    entries: entries.slice(start, start + size),
    nextCursor: next === undefined ? undefined : toCursor(`${list}:${next.name}`),
  }
}

export function toCursor(text: string): string {
  return encodeBase64(new TextEncoder().encode(text))
}

/** What a cursor of ours says; undefined for one that is none. */
export function fromCursor(cursor: unknown): string | undefined {
  const bytes = typeof cursor === 'string' ? decodeBase64(cursor) : undefined
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

export function foreignCursor(): McpError {
  return new McpError('INVALID_PARAMS', 'The cursor is not one of this list: begin again without one')
}

function startOf(list: string, entries: readonly { readonly name: string }[], cursor: unknown): number {
  const text = fromCursor(cursor)
  const start = text === undefined ? -1 : entries.findIndex(({ name }) => text === `${list}:${name}`)
  if (start < 0) throw foreignCursor()
  return start
}
