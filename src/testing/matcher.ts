import { typeOf } from '../router/content.js'
import { isRecord } from '../router/json-value.js'
import type { Members } from './members.js'

/** What a test runner gives its matchers, as far as ours need it; vitest and Jest agree on it. */
export interface MatcherContext {
  readonly isNot: boolean
  /** Deep equality, as the runner has it. */
  equals(actual: unknown, expected: unknown): boolean
}

/** What a matcher answers. Runners show `actual` and `expected` side by side. */
export interface MatcherVerdict {
  readonly pass: boolean
  /** What is said when the expectation fails. */
  readonly message: () => string
  readonly actual?: unknown
  readonly expected?: unknown
}

/** What a matcher found. */
export interface Finding extends Omit<MatcherVerdict, 'message'> {
  /** What was looked for, behind `expected the result (not) to …`. */
  readonly wanted: string
  /** What is there instead, a line each. */
  readonly found: readonly string[]
  /** What was looked at. @default 'the result' */
  readonly subject?: string
}

export function verdict(
  { wanted, found, subject = 'the result', ...rest }: Finding,
  { isNot }: MatcherContext,
): MatcherVerdict {
  const there = found.length === 0 ? ' nothing' : found.map((line) => `\n- ${line}`).join('')
  return { ...rest, message: () => `expected ${subject} ${isNot ? 'not ' : ''}to ${wanted}\n\nThere is:${there}` }
}

/** Whether a value is as it was wanted: equal, or text that fits an expression. */
export function fits(context: MatcherContext, actual: unknown, expected: unknown): boolean {
  // Not `test`, which begins where it ended the last time for an expression with the flag g.
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) >= 0
  return context.equals(actual, expected)
}

/** Whether each of the members that are wanted is as it was wanted. */
export function fitsMembers(context: MatcherContext, actual: unknown, expected: object): boolean {
  return isRecord(actual) && Object.entries(expected).every(([key, value]) => fits(context, actual[key], value))
}

/** Text and values as messages show them. */
export function show(value: unknown): string {
  if (value instanceof RegExp) return String(value)
  return (
    JSON.stringify(value, (_key, inner: unknown) => (inner instanceof RegExp ? String(inner) : inner)) ?? String(value)
  )
}

/**
 * The list of a result's parts. What was received by mistake must not satisfy a matcher that is negated.
 * @throws TypeError unless it is there.
 */
export function partsOf(received: unknown, member: string, needs: string): readonly Members[] {
  const parts: unknown = isRecord(received) ? received[member] : undefined
  if (Array.isArray(parts)) return parts as readonly Members[]
  const given = received instanceof Promise ? 'a promise. Await it' : typeOf(received)
  throw new TypeError(`${needs}, not ${given}.`)
}
