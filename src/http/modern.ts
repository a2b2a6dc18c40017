import { isPromise } from '../awaitable.js'
import type { Failure } from '../errors.js'
import { codecOf } from '../protocol/codecs.js'
import type { Message, NotificationMessage, RequestMessage } from '../protocol/jsonrpc.js'
import { METHODS as SESSION_METHODS } from '../protocol/legacy/methods.js'
import { claimedVersion, type Envelope, readEnvelope } from '../protocol/modern/envelope.js'
import { Client } from '../server/client.js'
import { type Answer, type CacheHint, refuse } from '../server/dispatch.js'
import type { Server } from '../server/server.js'
import type { HttpCall, HttpHeaders } from './http-call.js'
import type { Incoming } from './incoming.js'
import { contradicts, mismatch, paramMismatch } from './mirrored.js'
import { notAcceptable, refuseMessage } from './refusal.js'
import { CallReply, openListening } from './reply.js'
import type { Responder } from './responder.js'
import { retryHeaders, statelessStatus } from './status.js'

const CODEC = codecOf('2026-07-28')
const VERSION_HEADER = 'MCP-Protocol-Version'

/** A POST of 2026-07-28: one message, which stands alone. */
export function serveModern(incoming: Incoming, message: Message | readonly unknown[]): void {
  const { responder } = incoming
  if (!('kind' in message)) return refuseInvalid(responder, 'The body must be a single message')
  switch (message.kind) {
    case 'invalid':
      return responder.refuse(refuseMessage(CODEC, message))
    case 'response':
      return refuseInvalid(responder, 'This server asks nothing that a response could answer')
    case 'notification':
      return acceptNotification(responder, message)
    case 'request':
      return serveRequest(incoming, message)
  }
}

function refuseInvalid(responder: Responder, message: string): void {
  responder.refuse(refuseMessage(CODEC, { failure: { code: 'INVALID_REQUEST', message } }))
}

/** Over HTTP a client cancels by hanging up; no notification has a meaning here, but a wrong one is told. */
function acceptNotification(responder: Responder, { method, params }: NotificationMessage): void {
  const claimed = claimedVersion(params)
  const failure =
    contradicts(responder.call, 'Mcp-Method', method) ??
    (typeof claimed === 'string' ? contradicts(responder.call, VERSION_HEADER, claimed) : undefined)
  if (failure === undefined) responder.empty(202)
  else responder.refuse(refuseMessage(CODEC, { failure }))
}

function serveRequest(incoming: Incoming, request: RequestMessage): void {
  const { server, responder, accepted, streamAfterMs, access, cacheHeaders } = incoming
  const isOpen = server.method(CODEC, request.method)?.open === true
  const reply = new CallReply(responder, accepted, isOpen ? openListening : undefined)
  const read = readRequest(server, responder.call, request)
  if ('code' in read) {
    const status = read.code === 'METHOD_NOT_FOUND' ? 404 : 400
    return reply.end(status, refuse(CODEC, request.id, read).body)
  }
  if (isOpen && !accepted.stream) return responder.refuse(notAcceptable('text/event-stream'))
  const client = new Client(CODEC, {
    info: read.clientInfo,
    capabilities: read.clientCapabilities,
    logLevel: read.logLevel,
    reachable: true,
  })
  const answer = server.serve(request, { client, access }, reply)
  if (!isPromise(answer)) return endWith(cacheHeaders, reply, answer)
  reply.streamAfter(streamAfterMs)
  answer.then(
    (late) => endWith(cacheHeaders, reply, late),
    (error: unknown) => server.report(error),
  )
}

function endWith(cacheHeaders: boolean, reply: CallReply, answer: Answer | undefined): void {
  if (answer === undefined) return reply.endWithout()
  const status = statelessStatus(answer.failure)
  const cached = cacheHeaders && answer.cache !== undefined ? toCacheHeaders(answer.cache) : undefined
  const headers = status === 503 ? retryHeaders(answer.failure) : cached
  reply.end(status, answer.body, headers)
}

/** What a result depends on besides its URL: a cache that looks at HTTP only must not mix two of them up. */
const VARY = 'Origin, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name'

function toCacheHeaders({ ttlMs, cacheScope }: CacheHint): HttpHeaders {
  return { 'cache-control': `${cacheScope}, max-age=${Math.floor(ttlMs / 1000)}`, vary: VARY }
}

/** The envelope, with all that has to agree with it; the first thing that does not is the failure. */
function readRequest(server: Server, call: HttpCall, request: RequestMessage): Envelope | Failure {
  const { method, params } = request
  // Methods of sessions do not exist here, whatever else may be wrong: a client that probes must see just that.
  if (!CODEC.methods.has(method) && SESSION_METHODS.has(method)) {
    return { code: 'METHOD_NOT_FOUND', message: `Method not found: ${method}` }
  }
  const claimed = claimedVersion(params)
  const versions = typeof claimed === 'string' ? mismatch(call, VERSION_HEADER, claimed) : undefined
  if (versions !== undefined) return versions
  const envelope = readEnvelope(request)
  if ('code' in envelope) return envelope
  return headerFailure(server, call, request) ?? envelope
}

function headerFailure(server: Server, call: HttpCall, { method, params }: RequestMessage): Failure | undefined {
  const wrongMethod = mismatch(call, 'Mcp-Method', method)
  if (wrongMethod !== undefined) return wrongMethod
  const row = server.method(CODEC, method)
  const named = row?.mirrors === undefined ? undefined : params[row.mirrors]
  if (typeof named !== 'string') return undefined
  const wrongName = mismatch(call, 'Mcp-Name', named)
  if (wrongName !== undefined || row?.operation !== 'call-tool') return wrongName
  return paramMismatch(call, server.mirroredParams(named), params['arguments'])
}
