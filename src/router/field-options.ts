import type { FieldOptions } from './field-types.js'

/** The kinds of fields, by the names of their builders. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'map' | 'union' | 'schema'

/** The options of a builder, and whether each limits the values: most fields need not be asked for every limit. */
type Known = ReadonlyMap<string, boolean>

const COMMON = ['required', 'default', 'nullable', 'title', 'description', 'message', 'validate']
const NUMBER_LIMITS = ['in', 'exclusion', 'minimum', 'maximum', 'greaterThan', 'lessThan']
const LENGTHS = ['length', 'minLength', 'maxLength']

function known(limits: readonly string[], ...others: readonly string[]): Known {
  const names = [...COMMON, ...limits, ...others]
  return new Map(names.map((name) => [name, limits.includes(name)]))
}

const KNOWN: { readonly [Type in FieldType]: Known } = {
  string: known(['in', 'titles', 'exclusion', ...LENGTHS, 'pattern', 'format'], 'header'),
  // A mirrored integer has to be a safe one: here the header is a limit, too.
  integer: known([...NUMBER_LIMITS, 'header']),
  // 2026-07-28 tools: x-mcp-header is not for numbers, whose text form is ambiguous.
  number: known(NUMBER_LIMITS),
  boolean: known([], 'header'),
  array: known([...LENGTHS, 'uniqueItems']),
  map: known([]),
  union: known([]),
  schema: known([]),
}

/**
 * Whether any of the options limits the values.
 * @throws TypeError for an option that the builder does not have: a typing mistake must not go unnoticed.
 */
export function isConstrained(type: FieldType, options: FieldOptions): boolean {
  const names = KNOWN[type]
  let constrained = false
  for (const name in options) {
    const limits = names.get(name)
    if (limits === undefined) {
      throw new TypeError(`field.${type}: unknown option '${name}'. It takes ${[...names.keys()].join(', ')}.`)
    }
    if (limits) constrained = true
  }
  return constrained
}
