import { findFormat, formatNames } from './field-format.js'
import {
  type Choices,
  choiceProblems,
  countCodePoints,
  hasLength,
  type Lengths,
  readAllowed,
  readLengths,
  readRefused,
  readTitles,
  type Titles,
} from './field-limits.js'
import type { IntegerOptions, LengthOptions, StringOptions } from './field-types.js'
import { canonicalJson } from './json-value.js'
import { problemText } from './schema-text.js'

/** The constraints of one field, for values of its type. */
export interface Constraints<T = never> {
  fits(value: T): boolean
  /** What is wrong with a value, in words. */
  problems(value: T): readonly string[]
  /** Adds the JSON Schema keywords that tell clients. */
  tell(json: Record<string, unknown>, nullable: boolean): void
}

/** The constraints of `field.string`. */
export class TextConstraints implements Constraints<string> {
  readonly allowed: Choices | undefined
  readonly titles: Titles | undefined
  readonly refused: Choices | undefined
  readonly lengths: Lengths | undefined
  readonly source: string | undefined
  readonly pattern: RegExp | undefined
  readonly format: string | undefined
  readonly isFormatted: ((text: string) => boolean) | undefined

  /** @throws TypeError when they contradict each other or cannot work. */
  constructor(options: StringOptions, owner: string) {
    const { pattern, format } = options
    this.allowed = readAllowed(options.in, owner)
    this.titles = readTitles(options.titles, this.allowed, owner)
    this.refused = readRefused(options.exclusion, owner)
    this.lengths = readLengths(options, owner)
    this.source = pattern instanceof RegExp ? pattern.source : pattern
    this.pattern = pattern === undefined ? undefined : compilePattern(pattern, owner)
    this.format = format
    this.isFormatted = format === undefined ? undefined : readFormat(format, owner)
  }

  fits(text: string): boolean {
    return (
      (this.allowed === undefined || this.allowed.has(text)) &&
      (this.refused === undefined || !this.refused.has(text)) &&
      (this.lengths === undefined || hasLength(text, this.lengths)) &&
      (this.pattern === undefined || this.pattern.test(text)) &&
      (this.isFormatted === undefined || this.isFormatted(text))
    )
  }

  problems(text: string): readonly string[] {
    const found = choiceProblems(text, this)
    if (this.lengths !== undefined) found.push(...this.lengths.problems(countCodePoints(text), 'character'))
    if (this.pattern?.test(text) === false) found.push(problemText.pattern(this.source ?? ''))
    if (this.isFormatted?.(text) === false) found.push(problemText.format(this.format ?? ''))
    return found
  }

  tell(json: Record<string, unknown>, nullable: boolean): void {
    if (this.titles === undefined) tellChoices(json, this.allowed, nullable)
    else json['oneOf'] = titledChoices(this.titles, this.allowed, nullable)
    setGiven(json, 'minLength', this.lengths?.low)
    setGiven(json, 'maxLength', this.lengths?.high)
    setGiven(json, 'pattern', this.source)
    setGiven(json, 'format', this.format)
  }
}

/** The constraints of `field.number` and `field.integer`. */
export class NumberConstraints implements Constraints<number> {
  readonly allowed: Choices | undefined
  readonly refused: Choices | undefined
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  readonly greaterThan: number | undefined
  readonly lessThan: number | undefined
  /** 2026-07-28 tools: mirrored integers lie within ±(2^53−1). */
  readonly safe: boolean

  /** @throws TypeError when they contradict each other. */
  constructor(options: IntegerOptions, owner: string) {
    this.allowed = readAllowed(options.in, owner)
    this.refused = readRefused(options.exclusion, owner)
    this.minimum = options.minimum
    this.maximum = options.maximum
    this.greaterThan = options.greaterThan
    this.lessThan = options.lessThan
    this.safe = options.header !== undefined
    this.#assertBounds(owner)
  }

  fits(value: number): boolean {
    return (
      (this.minimum === undefined || value >= this.minimum) &&
      (this.maximum === undefined || value <= this.maximum) &&
      (this.greaterThan === undefined || value > this.greaterThan) &&
      (this.lessThan === undefined || value < this.lessThan) &&
      (this.allowed === undefined || this.allowed.has(value)) &&
      (this.refused === undefined || !this.refused.has(value)) &&
      (!this.safe || Number.isSafeInteger(value))
    )
  }

  problems(value: number): readonly string[] {
    const { minimum, maximum, greaterThan, lessThan } = this
    const found = choiceProblems(value, this)
    if (minimum !== undefined && value < minimum) found.push(problemText.minimum(minimum))
    if (maximum !== undefined && value > maximum) found.push(problemText.maximum(maximum))
    if (greaterThan !== undefined && value <= greaterThan) found.push(problemText.greaterThan(greaterThan))
    if (lessThan !== undefined && value >= lessThan) found.push(problemText.lessThan(lessThan))
    if (this.safe && !Number.isSafeInteger(value)) {
      found.push('must be between -9007199254740991 and 9007199254740991')
    }
    return found
  }

  tell(json: Record<string, unknown>, nullable: boolean): void {
    tellChoices(json, this.allowed, nullable)
    setGiven(json, 'minimum', this.minimum)
    setGiven(json, 'maximum', this.maximum)
    setGiven(json, 'exclusiveMinimum', this.greaterThan)
    setGiven(json, 'exclusiveMaximum', this.lessThan)
  }

  #assertBounds(owner: string): void {
    const { minimum, maximum, greaterThan, lessThan } = this
    assertFinite('minimum', minimum, owner)
    assertFinite('maximum', maximum, owner)
    assertFinite('greaterThan', greaterThan, owner)
    assertFinite('lessThan', lessThan, owner)
    const isEmpty =
      isAbove(minimum, maximum) ||
      meets(greaterThan, maximum) ||
      meets(minimum, lessThan) ||
      meets(greaterThan, lessThan)
    if (isEmpty) {
      const given = BOUNDS.filter((name) => this[name] !== undefined).map((name) => `'${name}' ${this[name]}`)
      throw new TypeError(`${owner}: no number can satisfy ${given.join(' and ')}. Correct one of them.`)
    }
  }
}

/** The constraints of `field.array`. */
export class ListConstraints implements Constraints<readonly unknown[]> {
  readonly lengths: Lengths | undefined
  readonly unique: boolean

  /** @throws TypeError when they contradict each other. */
  constructor(options: LengthOptions & { readonly uniqueItems?: boolean }, owner: string) {
    this.lengths = readLengths(options, owner)
    this.unique = options.uniqueItems === true
  }

  fits(items: readonly unknown[]): boolean {
    const { lengths } = this
    if (lengths?.low !== undefined && items.length < lengths.low) return false
    if (lengths?.high !== undefined && items.length > lengths.high) return false
    return !this.unique || allDifferent(items)
  }

  problems(items: readonly unknown[]): readonly string[] {
    const found = this.lengths?.problems(items.length, 'item') ?? []
    return this.unique && !allDifferent(items) ? [...found, problemText.unique] : found
  }

  tell(json: Record<string, unknown>): void {
    setGiven(json, 'minItems', this.lengths?.low)
    setGiven(json, 'maxItems', this.lengths?.high)
    if (this.unique) json['uniqueItems'] = true
  }
}

function allDifferent(items: readonly unknown[]): boolean {
  return new Set(items.map(canonicalJson)).size === items.length
}

function tellChoices(json: Record<string, unknown>, allowed: Choices | undefined, nullable: boolean): void {
  if (allowed !== undefined) json['enum'] = nullable ? [...allowed.values, null] : [...allowed.values]
}

function titledChoices(titles: Titles, allowed: Choices | undefined, nullable: boolean): readonly object[] {
  const titled = (allowed?.values ?? []).map((value) => ({ const: value, title: titles.get(String(value)) ?? value }))
  return nullable ? [...titled, { const: null }] : titled
}

function setGiven(json: Record<string, unknown>, keyword: string, value: unknown): void {
  if (value !== undefined) json[keyword] = value
}

function compilePattern(pattern: RegExp | string, owner: string): RegExp {
  const flags = pattern instanceof RegExp ? pattern.flags.replace(/[dguvy]/g, '') : ''
  if (flags !== '') {
    // The wire carries a pattern without flags; enforcing another one than is told would mislead clients.
    throw new TypeError(`${owner}: 'pattern' cannot carry the flag ${flags}. Spell it out, such as [A-Za-z].`)
  }
  try {
    return new RegExp(pattern instanceof RegExp ? pattern.source : pattern, 'u')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`${owner}: 'pattern' is not a regular expression in Unicode mode: ${reason}.`, { cause })
  }
}

function readFormat(format: string, owner: string): (text: string) => boolean {
  const isFormatted = findFormat(format)
  if (isFormatted !== undefined) return isFormatted
  throw new TypeError(`${owner}: 'format' ${format} is unknown. Use ${formatNames().join(', ')}, or 'pattern'.`)
}

const BOUNDS = ['minimum', 'maximum', 'greaterThan', 'lessThan'] as const

function assertFinite(name: string, limit: number | undefined, owner: string): void {
  if (limit !== undefined && !Number.isFinite(limit)) {
    throw new TypeError(`${owner}: '${name}' must be a finite number.`)
  }
}

function isAbove(low: number | undefined, high: number | undefined): boolean {
  return low !== undefined && high !== undefined && low > high
}

function meets(low: number | undefined, high: number | undefined): boolean {
  return low !== undefined && high !== undefined && low >= high
}
