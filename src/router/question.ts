import type { Awaitable } from '../awaitable.js'
import type { McpError } from '../errors.js'
import type { ClientCapabilities, Json } from '../protocol/model.js'
import { type BUILT, isBuilt } from './built.js'
import { isRecord, setOwn } from './json-value.js'

/**
 * How a question to the client ended. `accept` has what was asked for; `decline` and `cancel` are the user's word, `timeout` the
 * clock's; `unsupported` means that the client cannot be asked this, and `error` that it failed to answer.
 */
export type Answer<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' | 'cancel' | 'timeout' | 'unsupported' }
  | { readonly action: 'error'; readonly error: McpError }

/**
 * Something to ask the client, as a plain value that says nothing of who carries it. Made by `Elicit.form`, `Elicit.url`,
 * `Sample.message` and `Roots.list`.
 */
export interface Question<Content> {
  readonly [BUILT]: 'question'
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  /** The parameters as JSON, in the richest form that a protocol version has. */
  readonly params: Json
  /** What the client must have declared to be asked. */
  readonly requires: ClientCapabilities
  /** The same text exactly where the same answers fit: what is said to the user does not matter. */
  readonly fingerprint: string
  /** Reads what the client answered, and never throws for it; undefined when it does not fit the question. */
  read(response: unknown): Awaitable<Answer<Content> | undefined>
}

export function isQuestion(value: unknown): value is Question<unknown> {
  return isBuilt(value, 'question')
}

/** The part of `requires` that the client has not declared, in the form of capabilities; undefined when nothing is missing. */
export function missingCapabilities(
  requires: ClientCapabilities,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  return missingMembers(requires, withForms(declared))
}

/** A client that names no mode of elicitation knows forms only (2025-11-25 client/elicitation, Capabilities). */
function withForms(declared: ClientCapabilities): ClientCapabilities {
  const elicitation: unknown = Object.hasOwn(declared, 'elicitation') ? declared.elicitation : undefined
  if (!isRecord(elicitation) || Object.hasOwn(elicitation, 'form') || Object.hasOwn(elicitation, 'url')) return declared
  return { ...declared, elicitation: { ...elicitation, form: {} } }
}

function missingMembers(requires: Json, declared: Json): Json | undefined {
  const missing: Record<string, unknown> = {}
  for (const key of Object.keys(requires)) {
    const wanted = requires[key]
    const given = Object.hasOwn(declared, key) ? declared[key] : undefined
    const lacks = isRecord(wanted) && isRecord(given) ? missingMembers(wanted, given) : missingValue(wanted, given)
    if (lacks !== undefined) setOwn(missing, key, lacks)
  }
  return Object.keys(missing).length === 0 ? undefined : missing
}

/** Capabilities are objects; a member of one may be a flag. */
function missingValue(wanted: unknown, given: unknown): unknown {
  return given === wanted ? undefined : wanted
}
