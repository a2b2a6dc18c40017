import { isPromise } from '../awaitable.js'
import type { Codec } from '../protocol/codec.js'
import { codecOf, negotiateCodec } from '../protocol/codecs.js'
import { type Message, type NotificationMessage, parseMessage, type RequestMessage } from '../protocol/jsonrpc.js'
import { ASSUMED_SESSION_VERSION, isSessionVersion, NEWEST_SESSION_VERSION } from '../protocol/versions.js'
import type { Access } from '../router/access.js'
import { cancelCall } from '../server/cancel.js'
import { Client } from '../server/client.js'
import { type Answer, refuse } from '../server/dispatch.js'
import type { StoredSession } from '../server/sessions.js'
import type { HttpCall } from './http-call.js'
import { accepted } from './media.js'
import type { Incoming } from './modern.js'
import { type Refusal, refusal, refuseMessage } from './refusal.js'
import { CallReply, type Responder } from './reply.js'
import { sessionStatus } from './status.js'

const SESSION_HEADER = 'mcp-session-id'
/** Messages in one array of 2025-03-26. */
const MAX_BATCH = 100

/** A POST of a version that begins with `initialize`. */
export function servePost(incoming: Incoming, message: Message | readonly unknown[]): void {
  const { responder } = incoming
  if ('kind' in message && message.kind === 'request' && message.method === 'initialize') {
    return serveInitialize(incoming, message)
  }
  const client = clientOf(incoming)
  if (!(client instanceof Client)) return responder.refuse(client)
  if (!('kind' in message)) return serveBatch(incoming, client, message)
  switch (message.kind) {
    case 'invalid':
      return responder.refuse(refuseMessage(client.codec, message))
    case 'response':
      return responder.empty(202)
    case 'notification':
      notified(client, message)
      return responder.empty(202)
    case 'request':
      return serveRequest(incoming, client, message)
  }
}

/** The session of the request's id; a client of its own where the server keeps none. */
function clientOf(incoming: Incoming): Client | Refusal {
  const { server, responder } = incoming
  if (server.sessions === undefined) return new Client(codecOfHeader(responder.call))
  const session = sessionOf(incoming)
  return 'client' in session ? session.client : session
}

function sessionOf({ server, responder, access }: Incoming): StoredSession | Refusal {
  const id = responder.call.headers(SESSION_HEADER)[0]
  if (id === undefined) {
    const data = { reason: 'session_required', header: 'Mcp-Session-Id' }
    return refusal(400, data, 'The header Mcp-Session-Id is missing: send initialize first')
  }
  return (
    server.sessions?.use(id, principalOf(access)) ??
    refusal(404, { reason: 'session_unknown' }, 'There is no such session: send initialize again')
  )
}

const principalOf = (access: Access | undefined): string | null => access?.principal ?? null

/** Without a session the header is all there is to say the version (2025-11-25 basic/transports, Protocol Version Header). */
function codecOfHeader(call: HttpCall): Codec {
  const version = call.headers('mcp-protocol-version')[0]
  return codecOf(isSessionVersion(version) ? version : ASSUMED_SESSION_VERSION)
}

function serveInitialize(incoming: Incoming, request: RequestMessage): void {
  const { server, responder } = incoming
  const { sessions } = server
  const codec = negotiateCodec(NEWEST_SESSION_VERSION)
  if (sessions === undefined) return serveRequest(incoming, new Client(codec), request)
  const known = responder.call.headers(SESSION_HEADER)[0]
  if (known !== undefined && sessions.use(known, principalOf(incoming.access)) !== undefined) {
    const failure = { code: 'INVALID_REQUEST', message: 'This session is initialized already' } as const
    return responder.refuse(refuseMessage(codec, { failure, id: request.id }))
  }
  const session = sessions.open(codec, principalOf(incoming.access))
  const reply = new CallReply(responder, incoming.accepted)
  whenAnswered(
    incoming,
    server.serve(request, { client: session.client, access: incoming.access }, reply),
    (answer) => {
      if (answer.failure !== undefined) return reply.end(sessionStatus(answer.failure), answer.body)
      if (sessions.keep(session)) return reply.end(200, answer.body, { [SESSION_HEADER]: session.id })
      const failure = {
        code: 'INTERNAL_ERROR',
        message: 'No more sessions: try again later',
        data: { retryable: true },
      } as const
      reply.end(503, refuse(session.client.codec, request.id, failure).body, { 'retry-after': '5' })
    },
  )
}

function serveRequest(incoming: Incoming, client: Client, request: RequestMessage): void {
  const reply = new CallReply(incoming.responder, incoming.accepted)
  const answer = incoming.server.serve(request, { client, access: incoming.access }, reply)
  const end = (ready: Answer | undefined): void => {
    if (ready === undefined) reply.endWithout()
    else reply.end(sessionStatus(ready.failure), ready.body)
  }
  if (!isPromise(answer)) return end(answer)
  reply.streamAfter(incoming.streamAfterMs)
  whenSettled(incoming, answer, end)
}

/** 2025-03-26 basic, Batching. The answers come together, as an array or on the stream that a call has opened. */
function serveBatch(incoming: Incoming, client: Client, batch: readonly unknown[]): void {
  const problem = batchProblem(client.codec, batch)
  if (problem !== undefined) {
    const failure = { code: 'INVALID_REQUEST', message: problem } as const
    return incoming.responder.refuse(refuseMessage(client.codec, { failure }))
  }
  const reply = new CallReply(incoming.responder, incoming.accepted)
  const answers = batch.map((item) => serveItem(incoming, client, { message: parseMessage(item), reply }))
  whenSettled(incoming, Promise.all(answers), (settled) => {
    const bodies = settled.filter((answer) => answer !== undefined).map(({ body }) => body)
    if (bodies.length === 0) return reply.endWithout()
    reply.end(200, `[${bodies.join(',')}]`)
  })
}

function batchProblem(codec: Codec, batch: readonly unknown[]): string | undefined {
  if (batch.length === 0) return 'An empty array is no message'
  if (!codec.batches) return 'The body must be a single message'
  return batch.length > MAX_BATCH ? `An array may hold ${MAX_BATCH} messages` : undefined
}

function serveItem(
  { server, access }: Incoming,
  client: Client,
  { message, reply }: { message: Message; reply: CallReply },
): Answer | undefined | PromiseLike<Answer | undefined> {
  switch (message.kind) {
    case 'invalid':
      return refuse(client.codec, message.id, message.failure)
    case 'response':
      return undefined
    case 'notification':
      notified(client, message)
      return undefined
    case 'request': {
      const failure = { code: 'INVALID_REQUEST', message: 'initialize must not be part of an array' } as const
      return message.method === 'initialize'
        ? refuse(client.codec, message.id, failure)
        : server.serve(message, { client, access }, reply)
    }
  }
}

function notified(client: Client, { method, params }: NotificationMessage): void {
  if (method === 'notifications/cancelled') cancelCall(client.calls, params)
}

function whenAnswered(
  incoming: Incoming,
  answer: ReturnType<Incoming['server']['serve']>,
  end: (answer: Answer) => void,
): void {
  whenSettled(incoming, Promise.resolve(answer), (ready) => ready !== undefined && end(ready))
}

function whenSettled<Value>({ server }: Incoming, value: PromiseLike<Value>, end: (value: Value) => void): void {
  value.then(end).then(undefined, (error: unknown) => server.report(error))
}

/** The stream of a session, for what belongs to no call (2025-11-25 basic/transports, Listening for Messages). */
export function serveGet(incoming: Incoming, secondStream: 'refuse' | 'takeOver'): void {
  const { responder } = incoming
  if (!accepted(responder.call.headers('accept')).stream) {
    return responder.refuse(refusal(406, { reason: 'accept', header: 'Accept' }, 'Accept must allow text/event-stream'))
  }
  const session = sessionOf(incoming)
  if (!('client' in session)) return responder.refuse(session)
  if (session.stream !== undefined && secondStream === 'refuse') {
    const data = { reason: 'stream_open', option: 'secondStream' }
    return responder.refuse(refusal(409, data, 'This session has its stream already'))
  }
  session.stream?.end()
  openStream(responder, session)
}

function openStream(responder: Responder, session: StoredSession): void {
  const stream = responder.stream()
  session.stream = stream
  responder.call.closed.addEventListener(
    'abort',
    () => {
      if (session.stream === stream) session.stream = undefined
    },
    { once: true },
  )
}

export function serveDelete(incoming: Incoming): void {
  const session = sessionOf(incoming)
  if (!('client' in session)) return incoming.responder.refuse(session)
  incoming.server.sessions?.end(session)
  incoming.responder.empty(204)
}
