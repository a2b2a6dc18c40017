import { INTERNAL_FAILURE } from '../errors.js'
import type { Access } from '../router/access.js'
import { formatChallenge, isRefusal, type Refusal } from '../router/refusal.js'
import type { ConnectRequest } from '../router/session.js'
import type { Server } from '../server/server.js'
import type { HttpCall } from './http-call.js'
import { refusal, refuseUnread } from './refusal.js'
import type { Responder } from './responder.js'

/** What `connect` may look at, read only where it does. */
function requestFacts(call: HttpCall): ConnectRequest {
  return {
    headers: { get: (name) => call.headers(name.toLowerCase()).join(', ') || null },
    url: call.url,
    get query() {
      const mark = call.url.indexOf('?')
      return new URLSearchParams(mark < 0 ? '' : call.url.slice(mark + 1))
    },
    remote: call.remote,
  }
}

/**
 * Lets a caller in, or answers why not. A failed `connect` is a 500: a 400 would make clients take the server for one of
 * another era, and remember it.
 */
export async function admit(
  server: Server,
  responder: Responder,
  challenge: Readonly<Record<string, string>>,
): Promise<Access | 'refused'> {
  const { call } = responder
  const admitted = await server.connect(requestFacts(call), call.headers('mcp-session-id')[0])
  if (admitted === undefined) responder.refuse({ ...refuseUnread({ failure: INTERNAL_FAILURE }), status: 500 })
  else if (isRefusal(admitted)) refuseCaller(responder, admitted, challenge)
  else return admitted
  return 'refused'
}

function refuseCaller(responder: Responder, refused: Refusal, challenge: Readonly<Record<string, string>>): void {
  const { status, reason, message } = refused
  const headers: Record<string, string> = {}
  // The scopes to begin with are no answer to one that is missing.
  const { scope: _first, ...metadata } = challenge
  const more = status === 401 ? challenge : metadata
  if (refused.challenge !== undefined) headers['www-authenticate'] = formatChallenge(refused.challenge, more)
  responder.refuse({ ...refusal(status, { reason }, message), headers })
}
