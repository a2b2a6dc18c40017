import { BUILT, isBuilt } from './built.js'

/** Parameters of a `WWW-Authenticate` challenge; `method` is its scheme, `Bearer`. */
export type Challenge = Readonly<Record<string, string>> & { readonly method: string }

/** A caller that `connect` does not let in. */
export interface Refusal {
  readonly [BUILT]: 'refusal'
  readonly status: 401 | 403 | 404
  readonly reason: 'unauthorized' | 'forbidden' | 'not_found'
  readonly message: string
  readonly challenge?: string | Challenge
}

/**
 * 401: the caller has to say who they are. The challenge is a header value, or an object that becomes one, correctly quoted
 * (RFC 9110 11.6.1); with `protectedResource` its `resource_metadata` and `scope` are filled in.
 *
 * @throws TypeError for a name or value that a header cannot carry.
 */
export function unauthorized(challenge: string | Challenge = { method: 'Bearer' }): Refusal {
  // Built once here, so that a mistake is found where it was made.
  assertChallenge('unauthorized', challenge)
  return { [BUILT]: 'refusal', status: 401, reason: 'unauthorized', message: 'Authorization is needed', challenge }
}

/**
 * 403: known, but not allowed. A challenge says what would be, `{ method: 'Bearer', error: 'insufficient_scope', scope }`
 * (RFC 6750 3.1); with `protectedResource` its `resource_metadata` is filled in.
 *
 * @throws TypeError for a name or value that a header cannot carry.
 */
export function forbidden(message = 'This is not allowed', challenge?: string | Challenge): Refusal {
  if (challenge !== undefined) assertChallenge('forbidden', challenge)
  const told = challenge === undefined ? {} : { challenge }
  return { [BUILT]: 'refusal', status: 403, reason: 'forbidden', message, ...told }
}

/** 404: for this caller there is nothing here. */
export function notFound(message = 'Nothing is here'): Refusal {
  return { [BUILT]: 'refusal', status: 404, reason: 'not_found', message }
}

/** 403 for any other reason than a missing permission. */
export function reject(message = 'The connection is refused'): Refusal {
  return { [BUILT]: 'refusal', status: 403, reason: 'forbidden', message }
}

export function isRefusal(value: unknown): value is Refusal {
  return isBuilt(value, 'refusal')
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_TEXT = /^[\t\x20-\x7e]*$/

function assertChallenge(owner: string, challenge: string | Challenge): void {
  try {
    formatChallenge(challenge)
  } catch (cause) {
    throw new TypeError(`${owner}: ${(cause as TypeError).message}`, { cause })
  }
}

/** The value of `WWW-Authenticate`; `more` is added where the challenge does not say it. */
export function formatChallenge(challenge: string | Challenge, more: Readonly<Record<string, string>> = {}): string {
  if (typeof challenge === 'string') {
    if (!HEADER_TEXT.test(challenge) || challenge.trim() === '') {
      throw new TypeError('the challenge must be text that a header can carry')
    }
    // What is said inside of quotes names no parameter.
    const names = challenge.replace(/"(?:[^"\\]|\\.)*"/g, '')
    const missing = Object.entries(more).filter(([name]) => !new RegExp(`\\b${name}\\s*=`, 'i').test(names))
    if (missing.length === 0) return challenge
    return challenge + (names.includes('=') ? ', ' : ' ') + missing.map(([name, value]) => pair(name, value)).join(', ')
  }
  const { method, ...own } = challenge
  if (typeof method !== 'string' || !TOKEN.test(method))
    throw new TypeError(`'${String(method)}' is no authentication scheme; method is one such as Bearer`)
  const pairs = Object.entries({ ...more, ...own }).map(([name, value]) => pair(name, value))
  return pairs.length === 0 ? method : `${method} ${pairs.join(', ')}`
}

function pair(name: string, value: unknown): string {
  const text = String(value)
  if (!TOKEN.test(name)) throw new TypeError(`'${name}' cannot be the name of a challenge parameter`)
  if (!HEADER_TEXT.test(text)) throw new TypeError(`the value of ${name} has characters that a header cannot carry`)
  return `${name}="${text.replace(/["\\]/g, '\\$&')}"`
}
