import { isRecord } from './json-value.js'
import type { Problem } from './schema-model.js'
import { countOf, indexSegment, joinOr, keySegment, problemText, quoteJson } from './schema-text.js'

/** At most so many problems are told; a model mends the first ones and calls again. */
const MAX_TOLD = 50

/** One thing that a validator found, in no validator's own words. */
export interface Failure {
  readonly keyword: string
  /** The way from the whole value to the part that is wrong. */
  readonly tokens: readonly string[]
  /** The keyword's value in the schema. */
  readonly rule: unknown
  /** The part that is wrong. */
  readonly value: unknown
  /** The member that is missing or in excess. */
  readonly key?: string
}

type Describe = (failure: Failure) => string | undefined

const TEXTS: { readonly [keyword: string]: Describe } = {
  additionalItems: ({ rule, value }) => (rule === false ? tooManyItems(value) : undefined),
  anyOf: () => 'must match at least one of the allowed forms',
  const: ({ rule }) => problemText.oneOf([rule]),
  contains: describeContains,
  enum: ({ rule }) => problemText.oneOf(Array.isArray(rule) ? rule : [rule]),
  exclusiveMaximum: ({ rule }) => problemText.lessThan(Number(rule)),
  exclusiveMinimum: ({ rule }) => problemText.greaterThan(Number(rule)),
  format: ({ rule }) => problemText.format(String(rule)),
  items: ({ rule, value }) => (rule === false ? tooManyItems(value) : undefined),
  maxContains: describeContains,
  maxItems: ({ rule }) => problemText.maxLength(Number(rule), 'item'),
  maxLength: ({ rule }) => problemText.maxLength(Number(rule), 'character'),
  maxProperties: ({ rule }) => problemText.maxLength(Number(rule), 'key'),
  maximum: ({ rule }) => problemText.maximum(Number(rule)),
  minContains: describeContains,
  minItems: ({ rule }) => problemText.minLength(Number(rule), 'item'),
  minLength: ({ rule }) => problemText.minLength(Number(rule), 'character'),
  minProperties: ({ rule }) => problemText.minLength(Number(rule), 'key'),
  minimum: ({ rule }) => problemText.minimum(Number(rule)),
  multipleOf: ({ rule }) => `must be a multiple of ${String(rule)}`,
  not: () => 'has a form that is not allowed',
  oneOf: () => 'must match exactly one of the allowed forms',
  pattern: ({ rule }) => problemText.pattern(String(rule)),
  propertyNames: ({ key }) => `has the key ${quoteJson(key)}, which is not allowed`,
  type: ({ rule, value }) => problemText.type(expectedOf(rule), value),
  uniqueItems: () => problemText.unique,
}

/** Keywords that are said of the member named by `key`. */
const MEMBER_TEXTS: { readonly [keyword: string]: string } = {
  additionalProperties: problemText.notAllowed,
  dependencies: problemText.required,
  dependentRequired: problemText.required,
  required: problemText.required,
  unevaluatedProperties: problemText.notAllowed,
}

const TYPE_NOUNS: { readonly [word: string]: string } = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

/** Puts failures into words, each once. `root` is the whole value, which tells list items from keys. */
export function toProblems(failures: readonly Failure[], root: unknown): readonly Problem[] {
  const problems = new Map<string, Problem>()
  for (const failure of failures) {
    const problem = toProblem(failure, root)
    problems.set(`${problem.path} ${problem.text}`, problem)
    if (problems.size === MAX_TOLD) break
  }
  return [...problems.values()]
}

function toProblem(failure: Failure, root: unknown): Problem {
  const { keyword, key } = failure
  const path = toPath(failure.tokens, root)
  const memberText = Object.hasOwn(MEMBER_TEXTS, keyword) ? MEMBER_TEXTS[keyword] : undefined
  if (memberText !== undefined && key !== undefined) return { path: path + keySegment(key), text: memberText }
  const text = Object.hasOwn(TEXTS, keyword) ? TEXTS[keyword]?.(failure) : undefined
  return { path, text: text ?? problemText.notAllowed }
}

function toPath(tokens: readonly string[], root: unknown): string {
  let path = ''
  let container = root
  for (const token of tokens) {
    const index = Array.isArray(container)
    path += index ? indexSegment(Number(token)) : keySegment(token)
    container = memberOf(container, token)
  }
  return path
}

/** The member of a JSON object or list that a pointer token names. */
export function memberOf(container: unknown, token: string): unknown {
  if (Array.isArray(container)) return container[Number(token)]
  return isRecord(container) && Object.hasOwn(container, token) ? container[token] : undefined
}

function describeContains(): string {
  return 'does not have enough items of the required form, or has too many'
}

function expectedOf(rule: unknown): string {
  const words: readonly unknown[] = Array.isArray(rule) ? rule : [rule]
  return joinOr(words.map((word) => TYPE_NOUNS[String(word)] ?? String(word)))
}

function tooManyItems(value: unknown): string {
  return `must not have so many items${Array.isArray(value) ? ` (it has ${countOf(value.length, 'item')})` : ''}`
}
