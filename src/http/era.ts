import type { Codec } from '../protocol/codec.js'
import { codecOf } from '../protocol/codecs.js'
import { isObject, type RequestId } from '../protocol/jsonrpc.js'
import { isEnveloped } from '../protocol/modern/envelope.js'
import { isSessionVersion, isStatelessVersion, NEWEST_SESSION_VERSION, SESSION_VERSIONS } from '../protocol/versions.js'
import type { HttpCall } from './http-call.js'
import { type Refusal, refusal, refuseMessage } from './refusal.js'

const UNSUPPORTED = `Unsupported protocol version; those with sessions are ${SESSION_VERSIONS.join(', ')}`
const UNSERVED = { reason: 'protocol_version', header: 'MCP-Protocol-Version' }

const versionOf = (call: HttpCall): string | undefined => call.headers('mcp-protocol-version')[0]

/** A version that has no sessions, or that nobody knows yet: its rules are those of requests that stand alone. */
export function namesModern(call: HttpCall): boolean {
  const version = versionOf(call)
  return version !== undefined && !isSessionVersion(version)
}

/** Whether a message, or one of an array, says in itself that each request stands alone. */
export function claimsModern(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(claimsModern)
  const params = isObject(value) ? value['params'] : undefined
  return isObject(params) && isEnveloped(params)
}

/** What a message without an envelope may not have in its headers: a version that nobody knows, or two of them. */
export function versionProblem(call: HttpCall, id: RequestId | undefined): Refusal | undefined {
  const [version, ...others] = call.headers('mcp-protocol-version')
  const unknown = version !== undefined && !isSessionVersion(version) && !isStatelessVersion(version)
  if (!unknown && others.every((other) => other === version)) return undefined
  const failure = { code: 'INVALID_REQUEST', message: UNSUPPORTED, data: UNSERVED } as const
  return refuseMessage(unreadCodec(call), { failure, id })
}

/** GET and DELETE are of sessions: a version without them has no such methods, and one that is unknown is an error. */
export function sessionMethodProblem(call: HttpCall): Refusal | 'not-allowed' | undefined {
  const version = versionOf(call)
  if (version === undefined || isSessionVersion(version)) return undefined
  if (isStatelessVersion(version)) return 'not-allowed'
  return refusal(400, UNSERVED, UNSUPPORTED)
}

/** Whose rules an answer follows when the message could not be read: what the headers say is all there is. */
export function unreadCodec(call: HttpCall): Codec {
  const version = versionOf(call)
  if (isSessionVersion(version)) return codecOf(version)
  const ofSession = version === undefined && call.headers('mcp-session-id').length > 0
  return codecOf(ofSession ? NEWEST_SESSION_VERSION : '2026-07-28')
}
