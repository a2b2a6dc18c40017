// The wording of errors and paths, shared by fields and JSON Schema so that both read the same.

/** A path segment for an object's key: `.name`, or `["odd key"]` where a dot would mislead. */
export function keySegment(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

/** A path segment for an array's item. */
export function indexSegment(index: number): string {
  return `[${index}]`
}

/** What a value is, in a few words; never a text or object of the caller's, which may be long or secret. */
function describeKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'string':
      return 'a string'
    case 'object':
      return 'an object'
    case 'number':
    case 'boolean':
      return String(value)
    case 'undefined':
      return 'nothing'
    default:
      return `a ${typeof value}`
  }
}

/** `a`, `a or b`, `a, b or c`. */
export function joinOr(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

/** `3 characters`, `1 character`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A value as JSON, cut when long. */
export function quoteJson(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** The sentences about one value; each is said after the path. */
export const problemText = {
  required: 'is required',
  notAllowed: 'is not allowed',
  type: (expected: string, value: unknown): string => `must be ${expected}, not ${describeKind(value)}`,
  oneOf: (values: readonly unknown[]): string =>
    values.length === 1 ? `must be ${quoteJson(values[0])}` : `must be one of ${values.map(quoteJson).join(', ')}`,
  noneOf: (values: readonly unknown[]): string =>
    values.length === 1
      ? `must not be ${quoteJson(values[0])}`
      : `must not be any of ${values.map(quoteJson).join(', ')}`,
  minimum: (limit: number): string => `must be at least ${limit}`,
  maximum: (limit: number): string => `must be at most ${limit}`,
  greaterThan: (limit: number): string => `must be greater than ${limit}`,
  lessThan: (limit: number): string => `must be less than ${limit}`,
  length: (limit: number, noun: string): string => `must have exactly ${countOf(limit, noun)}`,
  minLength: (limit: number, noun: string): string => `must have at least ${countOf(limit, noun)}`,
  maxLength: (limit: number, noun: string): string => `must have at most ${countOf(limit, noun)}`,
  pattern: (source: string): string => `must match the pattern ${source}`,
  format: (format: string): string => `must be a valid ${format}`,
  unique: 'must not contain the same item twice',
} as const
