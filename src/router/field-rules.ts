import { findFormat, formatNames } from './field-format.js'
import type { IntegerOptions, LengthOptions, NumberOptions, StringOptions } from './field-types.js'
import { canonicalJson } from './json-value.js'
import { problemText } from './schema-text.js'

/** One constraint of a field: its test on a value of the right type, and what is said when it fails. */
export interface Rule<T> {
  readonly fits: (value: T) => boolean
  /** Worded only when it is needed. */
  readonly text: () => string
}

/** Constraints, and the JSON Schema keywords that tell clients about them. */
export interface Constraints<T> {
  readonly rules: Rule<T>[]
  readonly keywords: Record<string, unknown>
}

interface Choices<T> {
  readonly in?: readonly T[]
  readonly exclusion?: readonly T[]
  readonly nullable?: boolean
}

/** The constraints of `field.string`. @throws TypeError when they contradict each other or cannot work. */
export function stringConstraints(options: StringOptions, owner: string): Constraints<string> {
  const found: Constraints<string> = { rules: [], keywords: {} }
  addChoices(found, options, owner)
  addStringLengths(found, options, owner)
  if (options.pattern !== undefined) addPattern(found, options.pattern, owner)
  if (options.format !== undefined) addFormat(found, options.format, owner)
  return found
}

/** The constraints of `field.number` and `field.integer`. @throws TypeError when they contradict each other. */
export function numberConstraints(options: NumberOptions | IntegerOptions, owner: string): Constraints<number> {
  const found: Constraints<number> = { rules: [], keywords: {} }
  addChoices(found, options, owner)
  assertBounds(options, owner)
  addRange(found, options)
  if ('header' in options && options.header !== undefined) {
    // 2026-07-28 tools: mirrored integers lie within ±(2^53−1).
    found.rules.push({
      fits: Number.isSafeInteger,
      text: () => 'must be between -9007199254740991 and 9007199254740991',
    })
  }
  return found
}

/** The constraints of `field.array`. @throws TypeError when they contradict each other. */
export function arrayConstraints(
  options: LengthOptions & { readonly uniqueItems?: boolean },
  owner: string,
): Constraints<readonly unknown[]> {
  const found: Constraints<readonly unknown[]> = { rules: [], keywords: {} }
  const { low, high } = readLengths(options, owner)
  if (low !== undefined) found.keywords['minItems'] = low
  if (high !== undefined) found.keywords['maxItems'] = high
  if (options.length !== undefined) {
    const exact = options.length
    found.rules.push({ fits: (items) => items.length === exact, text: () => problemText.length(exact, 'item') })
  } else {
    if (low !== undefined) {
      found.rules.push({ fits: (items) => items.length >= low, text: () => problemText.minLength(low, 'item') })
    }
    if (high !== undefined) {
      found.rules.push({ fits: (items) => items.length <= high, text: () => problemText.maxLength(high, 'item') })
    }
  }
  if (options.uniqueItems === true) {
    found.keywords['uniqueItems'] = true
    found.rules.push({ fits: allDifferent, text: () => problemText.unique })
  }
  return found
}

function allDifferent(items: readonly unknown[]): boolean {
  return new Set(items.map(canonicalJson)).size === items.length
}

function addChoices<T>(found: Constraints<T>, options: Choices<T>, owner: string): void {
  const { in: allowed, exclusion: refused } = options
  if (allowed !== undefined) {
    if (!Array.isArray(allowed) || allowed.length === 0) {
      throw new TypeError(`${owner}: 'in' must be a list with at least one value.`)
    }
    found.keywords['enum'] = options.nullable === true ? [...allowed, null] : [...allowed]
    const set: ReadonlySet<T> = new Set(allowed)
    found.rules.push({ fits: (value) => set.has(value), text: () => problemText.oneOf(allowed) })
  }
  if (refused !== undefined) {
    if (!Array.isArray(refused)) throw new TypeError(`${owner}: 'exclusion' must be a list of values.`)
    const set: ReadonlySet<T> = new Set(refused)
    found.rules.push({ fits: (value) => !set.has(value), text: () => problemText.noneOf(refused) })
  }
}

const LENGTHS = ['length', 'minLength', 'maxLength'] as const

function readLengths(options: LengthOptions, owner: string): { low: number | undefined; high: number | undefined } {
  for (const name of LENGTHS) {
    const limit = options[name]
    if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0)) {
      throw new TypeError(`${owner}: '${name}' must be a whole number of at least 0.`)
    }
  }
  const { length, minLength, maxLength } = options
  if (length !== undefined && (minLength !== undefined || maxLength !== undefined)) {
    throw new TypeError(`${owner}: 'length' is exact. Leave out 'minLength' and 'maxLength', or 'length'.`)
  }
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength) {
    throw new TypeError(`${owner}: 'minLength' ${minLength} is above 'maxLength' ${maxLength}. Swap them.`)
  }
  return { low: length ?? minLength, high: length ?? maxLength }
}

function addStringLengths(found: Constraints<string>, options: StringOptions, owner: string): void {
  const { low, high } = readLengths(options, owner)
  if (low !== undefined) found.keywords['minLength'] = low
  if (high !== undefined) found.keywords['maxLength'] = high
  if (options.length !== undefined) {
    const exact = options.length
    const fits = (text: string): boolean => hasAtLeast(text, exact) && hasAtMost(text, exact)
    found.rules.push({ fits, text: () => problemText.length(exact, 'character') })
    return
  }
  if (low !== undefined) {
    found.rules.push({ fits: (text) => hasAtLeast(text, low), text: () => problemText.minLength(low, 'character') })
  }
  if (high !== undefined) {
    found.rules.push({ fits: (text) => hasAtMost(text, high), text: () => problemText.maxLength(high, 'character') })
  }
}

// A code point takes one or two UTF-16 units, so most texts need no counting.
function hasAtLeast(text: string, limit: number): boolean {
  if (text.length < limit) return false
  return text.length >= limit * 2 || countCodePoints(text) >= limit
}

function hasAtMost(text: string, limit: number): boolean {
  if (text.length <= limit) return true
  return text.length <= limit * 2 && countCodePoints(text) <= limit
}

function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index++) {
    const isPair = (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800
    if (isPair) count--
  }
  return count
}

function addPattern(found: Constraints<string>, pattern: RegExp | string, owner: string): void {
  const flags = pattern instanceof RegExp ? pattern.flags.replace(/[dguvy]/g, '') : ''
  if (flags !== '') {
    // The wire carries a pattern without flags; enforcing another one than is told would mislead clients.
    throw new TypeError(`${owner}: 'pattern' cannot carry the flag ${flags}. Spell it out, such as [A-Za-z].`)
  }
  const source = pattern instanceof RegExp ? pattern.source : pattern
  const expression = compilePattern(source, owner)
  found.keywords['pattern'] = source
  found.rules.push({ fits: (text) => expression.test(text), text: () => problemText.pattern(source) })
}

function compilePattern(source: string, owner: string): RegExp {
  try {
    return new RegExp(source, 'u')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`${owner}: 'pattern' is not a regular expression in Unicode mode: ${reason}.`, { cause })
  }
}

function addFormat(found: Constraints<string>, format: string, owner: string): void {
  const fits = findFormat(format)
  if (fits === undefined) {
    throw new TypeError(`${owner}: 'format' ${format} is unknown. Use ${formatNames().join(', ')}, or 'pattern'.`)
  }
  found.keywords['format'] = format
  found.rules.push({ fits, text: () => problemText.format(format) })
}

function addRange(found: Constraints<number>, options: NumberOptions): void {
  const { minimum, maximum, greaterThan, lessThan } = options
  if (minimum !== undefined) {
    found.keywords['minimum'] = minimum
    found.rules.push({ fits: (value) => value >= minimum, text: () => problemText.minimum(minimum) })
  }
  if (maximum !== undefined) {
    found.keywords['maximum'] = maximum
    found.rules.push({ fits: (value) => value <= maximum, text: () => problemText.maximum(maximum) })
  }
  if (greaterThan !== undefined) {
    found.keywords['exclusiveMinimum'] = greaterThan
    found.rules.push({ fits: (value) => value > greaterThan, text: () => problemText.greaterThan(greaterThan) })
  }
  if (lessThan !== undefined) {
    found.keywords['exclusiveMaximum'] = lessThan
    found.rules.push({ fits: (value) => value < lessThan, text: () => problemText.lessThan(lessThan) })
  }
}

const BOUNDS = ['minimum', 'maximum', 'greaterThan', 'lessThan'] as const

function assertBounds(options: NumberOptions, owner: string): void {
  for (const name of BOUNDS) {
    const limit = options[name]
    if (limit !== undefined && !Number.isFinite(limit)) {
      throw new TypeError(`${owner}: '${name}' must be a finite number.`)
    }
  }
  const { minimum, maximum, greaterThan, lessThan } = options
  const isEmpty =
    isAbove(minimum, maximum) || meets(greaterThan, maximum) || meets(minimum, lessThan) || meets(greaterThan, lessThan)
  if (isEmpty) {
    const given = BOUNDS.filter((name) => options[name] !== undefined).map((name) => `'${name}' ${options[name]}`)
    throw new TypeError(`${owner}: no number can satisfy ${given.join(' and ')}. Correct one of them.`)
  }
}

function isAbove(low: number | undefined, high: number | undefined): boolean {
  return low !== undefined && high !== undefined && low > high
}

function meets(low: number | undefined, high: number | undefined): boolean {
  return low !== undefined && high !== undefined && low >= high
}
