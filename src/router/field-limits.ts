import type { LengthOptions } from './field-types.js'
import { isRecord } from './json-value.js'
import { problemText } from './schema-text.js'

/** How many values are compared one by one before a set is made. */
const FEW = 8

/** The values that `in` allows or `exclusion` refuses. */
export class Choices {
  readonly values: readonly unknown[]
  #set: ReadonlySet<unknown> | undefined

  constructor(values: readonly unknown[]) {
    // A copy: what is enforced must not change when the user's list does.
    this.values = [...values]
  }

  has(value: unknown): boolean {
    const { values } = this
    if (values.length > FEW) {
      this.#set ??= new Set(values)
      return this.#set.has(value)
    }
    for (let index = 0; index < values.length; index++) if (values[index] === value) return true
    return false
  }
}

/** @throws TypeError unless the option holds a list of values. */
export function readAllowed(allowed: readonly unknown[] | undefined, owner: string): Choices | undefined {
  if (allowed === undefined) return undefined
  if (!Array.isArray(allowed) || allowed.length === 0) {
    throw new TypeError(`${owner}: 'in' must be a list with at least one value.`)
  }
  return new Choices(allowed)
}

/** @throws TypeError unless the option holds a list. */
export function readRefused(refused: readonly unknown[] | undefined, owner: string): Choices | undefined {
  if (refused === undefined) return undefined
  if (!Array.isArray(refused)) throw new TypeError(`${owner}: 'exclusion' must be a list of values.`)
  return new Choices(refused)
}

/** The titles of allowed values, by the value. */
export type Titles = ReadonlyMap<string, string>

/** @throws TypeError for the title of a value that is not allowed, or that is no text. */
export function readTitles(titles: unknown, allowed: Choices | undefined, owner: string): Titles | undefined {
  if (titles === undefined) return undefined
  if (!isRecord(titles))
    throw new TypeError(`${owner}: 'titles' must be an object with a title for each value of 'in'.`)
  for (const [value, title] of Object.entries(titles)) {
    if (allowed?.has(value) !== true)
      throw new TypeError(`${owner}: 'titles' names '${value}', which 'in' does not allow.`)
    if (typeof title !== 'string')
      throw new TypeError(`${owner}: 'titles' must give '${value}' a title that is a string.`)
  }
  return new Map(Object.entries(titles) as [string, string][])
}

/** Says which of `in` and `exclusion` a value breaks. */
export function choiceProblems(
  value: unknown,
  { allowed, refused }: { readonly allowed: Choices | undefined; readonly refused: Choices | undefined },
): string[] {
  const found: string[] = []
  if (allowed?.has(value) === false) found.push(problemText.oneOf(allowed.values))
  if (refused?.has(value) === true) found.push(problemText.noneOf(refused.values))
  return found
}

/** How long a text or a list may be. */
export class Lengths {
  readonly low: number | undefined
  readonly high: number | undefined
  readonly #exact: boolean

  /** @throws TypeError when the options contradict each other. */
  constructor({ length, minLength, maxLength }: LengthOptions, owner: string) {
    assertLength('length', length, owner)
    assertLength('minLength', minLength, owner)
    assertLength('maxLength', maxLength, owner)
    if (length !== undefined && (minLength !== undefined || maxLength !== undefined)) {
      throw new TypeError(`${owner}: 'length' is exact. Leave out 'minLength' and 'maxLength', or 'length'.`)
    }
    if (minLength !== undefined && maxLength !== undefined && minLength > maxLength) {
      throw new TypeError(`${owner}: 'minLength' ${minLength} is above 'maxLength' ${maxLength}. Swap them.`)
    }
    this.low = length ?? minLength
    this.high = length ?? maxLength
    this.#exact = length !== undefined
  }

  /** What is said of something with so many parts, such as characters; nothing when the number is right. */
  problems(count: number, noun: string): readonly string[] {
    const { low, high } = this
    const isShort = low !== undefined && count < low
    const isLong = high !== undefined && count > high
    if (!isShort && !isLong) return []
    const limit = (isShort ? low : high) ?? 0
    if (this.#exact) return [problemText.length(limit, noun)]
    return [isShort ? problemText.minLength(limit, noun) : problemText.maxLength(limit, noun)]
  }
}

function assertLength(name: string, limit: number | undefined, owner: string): void {
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0)) {
    throw new TypeError(`${owner}: '${name}' must be a whole number of at least 0.`)
  }
}

/** Undefined when no length is limited. */
export function readLengths(options: LengthOptions, owner: string): Lengths | undefined {
  const { length, minLength, maxLength } = options
  if (length === undefined && minLength === undefined && maxLength === undefined) return undefined
  return new Lengths(options, owner)
}

/** Whether the number of code points lies within the limits; most texts are told by their length alone. */
export function hasLength(text: string, { low, high }: Lengths): boolean {
  if (low !== undefined && text.length < low * 2 && (text.length < low || countCodePoints(text) < low)) return false
  return high === undefined || text.length <= high || (text.length <= high * 2 && countCodePoints(text) <= high)
}

/** The length of a text as JSON Schema counts it. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index++) {
    const isPair = (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800
    if (isPair) count--
  }
  return count
}
