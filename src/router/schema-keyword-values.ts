import { isRecord } from './json-value.js'
import { type Dialect, findHolding, TYPE_WORDS } from './schema-keywords.js'

type Expectation = (value: unknown) => string | undefined

const VALUES: { readonly [keyword: string]: Expectation } = {
  $anchor: expectText,
  $comment: expectText,
  $dynamicAnchor: expectText,
  $dynamicRef: expectText,
  $id: expectText,
  $ref: expectText,
  $schema: expectText,
  dependentRequired: expectNamesByKey,
  description: expectText,
  enum: expectList,
  exclusiveMaximum: expectNumber,
  exclusiveMinimum: expectNumber,
  format: expectText,
  maxContains: expectCount,
  maxItems: expectCount,
  maxLength: expectCount,
  maxProperties: expectCount,
  maximum: expectNumber,
  minContains: expectCount,
  minItems: expectCount,
  minLength: expectCount,
  minProperties: expectCount,
  minimum: expectNumber,
  multipleOf: (value) => (isFiniteNumber(value) && value > 0 ? undefined : 'must be a number above 0'),
  pattern: expectPattern,
  patternProperties: expectPatterns,
  required: expectNames,
  title: expectText,
  type: expectType,
  uniqueItems: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
}

/** What is wrong with a keyword's own value (`must be a number`), or undefined. Subschemas are checked elsewhere. */
export function findBadValue(keyword: string, value: unknown, dialect: Dialect): string | undefined {
  const held = findBadHolding(keyword, value, dialect)
  if (held !== undefined) return held
  return Object.hasOwn(VALUES, keyword) ? VALUES[keyword]?.(value) : undefined
}

function findBadHolding(keyword: string, value: unknown, dialect: Dialect): string | undefined {
  switch (findHolding(keyword)) {
    case 'list':
      return Array.isArray(value) && value.length > 0 ? undefined : 'must be a list with at least one schema'
    case 'map':
    case 'dependencies':
      if (!isRecord(value)) return 'must be an object of schemas'
      // Validators leave it out, and what is declared has to hold.
      return Object.hasOwn(value, '__proto__')
        ? "must not name '__proto__', which cannot be checked; choose another name"
        : undefined
    case 'schemaOrList':
      return dialect === '2020-12' && Array.isArray(value)
        ? "must be one schema; a list belongs to 'prefixItems'"
        : undefined
    default:
      return undefined
  }
}

function expectText(value: unknown): string | undefined {
  return typeof value === 'string' ? undefined : 'must be a string'
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function expectNumber(value: unknown): string | undefined {
  return isFiniteNumber(value) ? undefined : 'must be a number'
}

function expectCount(value: unknown): string | undefined {
  return isFiniteNumber(value) && Number.isInteger(value) && value >= 0
    ? undefined
    : 'must be a whole number of at least 0'
}

function expectList(value: unknown): string | undefined {
  return Array.isArray(value) ? undefined : 'must be a list'
}

function expectNames(value: unknown): string | undefined {
  const fine = Array.isArray(value) && value.every((name) => typeof name === 'string')
  return fine ? undefined : 'must be a list of strings'
}

function expectNamesByKey(value: unknown): string | undefined {
  const fine = isRecord(value) && Object.values(value).every((names) => expectNames(names) === undefined)
  return fine ? undefined : 'must be an object of lists of strings'
}

function expectType(value: unknown): string | undefined {
  const words: readonly unknown[] = Array.isArray(value) ? value : [value]
  const fine = words.length > 0 && words.every((word) => TYPE_WORDS.some((known) => known === word))
  return fine ? undefined : `must be one of ${TYPE_WORDS.join(', ')}, or a list of them`
}

function expectPattern(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  try {
    new RegExp(value, 'u')
    return undefined
  } catch {
    // The engine's own message differs by host; the pattern is at hand.
    return 'must be a regular expression that is valid in Unicode mode'
  }
}

function expectPatterns(value: unknown): string | undefined {
  const fine = isRecord(value) && Object.keys(value).every((pattern) => expectPattern(pattern) === undefined)
  return fine ? undefined : 'must have keys that are regular expressions, valid in Unicode mode'
}
