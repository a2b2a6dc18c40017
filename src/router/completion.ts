import type { Awaitable } from '../awaitable.js'
import type { Session } from './session.js'

/** The other arguments that the client has filled in already. */
export type CompletionContext = Readonly<Record<string, string>>

/** Values, or a first part of them with how many there are. */
export type CompletionReturn =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean }

/**
 * Completes one argument from what the user has typed so far: best match first. All matches may be returned; the client
 * gets 100 and is told of the rest.
 */
export type Completer<Assigns extends object = object> = (
  value: string,
  session: Session<Assigns>,
  context: CompletionContext,
) => Awaitable<CompletionReturn>

/** The `completion` member of a result. */
export interface Completion {
  readonly values: readonly string[]
  readonly total?: number
  readonly hasMore: boolean
}

/** 2026-07-28 server/utilities/completion: at most 100 values in an answer. */
const MAX_VALUES = 100

/** @throws TypeError when the completer returned something else than strings. */
export function toCompletion(returned: unknown): Completion {
  const all = Array.isArray(returned) ? { values: returned } : returned
  const { values, total, hasMore } = (all ?? {}) as { values?: unknown; total?: unknown; hasMore?: unknown }
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) {
    throw new TypeError('A completer must return an array of strings, or { values, total?, hasMore? }')
  }
  const cut = values.length > MAX_VALUES
  const known = typeof total === 'number' ? total : Array.isArray(returned) ? values.length : undefined
  return {
    values: cut ? values.slice(0, MAX_VALUES) : values,
    ...(known === undefined ? {} : { total: known }),
    hasMore: cut || hasMore === true || (known !== undefined && known > values.length),
  }
}
