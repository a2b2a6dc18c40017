import { copyJson, isRecord, setOwn } from './json-value.js'
import { findHolding } from './schema-keywords.js'
import type { JsonSchema } from './schema-model.js'

/** Decides what becomes of one schema's own keywords: the new value, or undefined to leave the keyword out. */
export type RewriteKeyword = (keyword: string, value: unknown, schema: JsonSchema) => unknown

/**
 * Copies a schema with its keywords rewritten in every subschema. `enter` says whether to go into a schema at all.
 * Values that are not schemas (`const`, `default`, `enum`) are kept as they are, whatever they look like.
 */
export function rewriteSchema(
  schema: JsonSchema,
  rewrite: RewriteKeyword,
  enter: (schema: JsonSchema) => boolean = () => true,
): Record<string, unknown> {
  if (!enter(schema)) return { ...schema }
  const inner = (held: unknown): unknown => (isRecord(held) ? rewriteSchema(held, rewrite, enter) : held)
  const copy: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const kept = rewrite(keyword, value, schema)
    if (kept !== undefined) setOwn(copy, keyword, rewriteHeld(keyword, kept, inner))
  }
  return copy
}

function rewriteHeld(keyword: string, held: unknown, inner: (held: unknown) => unknown): unknown {
  const holding = findHolding(keyword)
  if (holding === undefined) return held
  if (Array.isArray(held)) return held.map(inner)
  if (holding !== 'map' && holding !== 'dependencies') return inner(held)
  if (!isRecord(held)) return held
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(held)) setOwn(copy, name, inner(member))
  return copy
}

/**
 * Moves a schema to a place inside another document: `#` and `#/…` references get the place in front.
 * A part with an `$id` is its own document and stays as it is.
 */
export function relocateReferences(schema: JsonSchema, pointer: string): Record<string, unknown> {
  const isLocal = (value: unknown): value is string =>
    typeof value === 'string' && (value === '#' || value.startsWith('#/'))
  return rewriteSchema(
    schema,
    (keyword, value) => {
      const moves = (keyword === '$ref' || keyword === '$dynamicRef') && isLocal(value)
      return moves ? `#${pointer}${value.slice(1)}` : value
    },
    (part) => part['$id'] === undefined,
  )
}

/** Words outside the standard to which a validator would give a meaning, and the dialect, which it is told otherwise. */
const NOT_FOR_ENGINES = ['$async', '$schema', 'discriminator', 'id', 'nullable']

/** A mutable copy for a validator library, with only what the standard gives a meaning. */
export function toEngineSchema(schema: JsonSchema): Record<string, unknown> {
  return rewriteSchema(schema, (keyword, value) => (NOT_FOR_ENGINES.includes(keyword) ? undefined : copyJson(value)))
}
