import { codecOf } from '../protocol/codecs.js'
import type { RequestId } from '../protocol/jsonrpc.js'
import { ASSUMED_SESSION_VERSION, isSessionVersion, NEWEST_SESSION_VERSION } from '../protocol/versions.js'
import { Client } from '../server/client.js'
import type { LiveSession } from '../server/live-session.js'
import { channelStreams } from './channel-stream.js'
import type { Incoming } from './incoming.js'
import { type Refusal, type RefusalReason, refuseMessage } from './refusal.js'
import { CallReply } from './reply.js'

export const SESSION_HEADER = 'mcp-session-id'

/** Who sends a message: a session that is kept, or a client that says all it has to say each time. */
export interface Sender {
  readonly client: Client
  readonly session: LiveSession | undefined
}

/** The session of the request's id; a client of its own where the server keeps none. */
export async function senderOf(incoming: Incoming, id?: RequestId): Promise<Sender | Refusal> {
  const { server, responder } = incoming
  if (server.sessions !== undefined) {
    const session = await sessionOf(incoming, id)
    return 'client' in session ? { client: session.client, session } : session
  }
  // Without a session the header is all there is to say the version (2025-11-25 basic/transports, Protocol Version Header).
  const version = responder.call.headers('mcp-protocol-version')[0]
  const codec = codecOf(isSessionVersion(version) ? version : ASSUMED_SESSION_VERSION)
  return { client: new Client(codec), session: undefined }
}

/** The session that a request names and its caller owns; `release` it when the request is over. A refusal answers the message of `id`. */
export async function sessionOf(
  { server, responder, access }: Incoming,
  id?: RequestId,
): Promise<LiveSession | Refusal> {
  const named = responder.call.headers(SESSION_HEADER)[0]
  if (named === undefined) {
    const data = { reason: 'session_required', header: 'Mcp-Session-Id' }
    return refuseSender(400, { data, message: 'The header Mcp-Session-Id is missing: send initialize first', id })
  }
  const session = await server.sessions?.use(named, access?.principal ?? null)
  if (session !== undefined) return session
  return sessionUnknown(id)
}

/** What is asked of a session that has ended, or never was. */
export function sessionUnknown(id?: RequestId): Refusal {
  const data = { reason: 'session_unknown' }
  return refuseSender(404, { data, message: 'There is no such session: send initialize again', id })
}

/** Only versions with sessions come to ask for one. */
function refuseSender(
  status: number,
  { id, ...told }: { readonly id: RequestId | undefined; readonly message: string; readonly data: RefusalReason },
): Refusal {
  return refuseMessage(codecOf(NEWEST_SESSION_VERSION), { id, status, failure: { code: 'INVALID_REQUEST', ...told } })
}

/** A session's calls are answered on streams that it can come back to; `ids` are those of the requests. */
export function replyFor(
  { server, responder, accepted, retryMs }: Incoming,
  { client, session }: Sender,
  ids: readonly RequestId[],
): CallReply {
  const { channels } = server
  if (session === undefined || channels === undefined || !client.codec.resumable)
    return new CallReply(responder, accepted)
  const open = channelStreams(() => channels.openCall(session, ids), { prime: client.codec.primesStreams, retryMs })
  return new CallReply(responder, accepted, open)
}
