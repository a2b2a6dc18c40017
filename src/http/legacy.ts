import { isPromise } from '../awaitable.js'
import { negotiateCodec } from '../protocol/codecs.js'
import type { Message, RequestMessage } from '../protocol/jsonrpc.js'
import { NEWEST_SESSION_VERSION } from '../protocol/versions.js'
import { Client } from '../server/client.js'
import { type Answer, refuse } from '../server/dispatch.js'
import { notified } from '../server/receive.js'
import { serveBatch } from './batch.js'
import type { Incoming } from './incoming.js'
import { refuseMessage } from './refusal.js'
import { CallReply } from './reply.js'
import { replyFor, SESSION_HEADER, type Sender, senderOf } from './sender.js'
import { retryHeaders, sessionStatus } from './status.js'

/** A POST of a version that begins with `initialize`. */
export async function servePost(incoming: Incoming, message: Message | readonly unknown[]): Promise<void> {
  if ('kind' in message && message.kind === 'request' && message.method === 'initialize') {
    return await serveInitialize(incoming, message)
  }
  const sender = await senderOf(incoming, 'kind' in message && message.kind === 'request' ? message.id : undefined)
  if (!('client' in sender)) return incoming.responder.refuse(sender)
  try {
    await serveMessage(incoming, sender, message)
  } finally {
    if (sender.session !== undefined) incoming.server.sessions?.release(sender.session)
  }
}

async function serveMessage(incoming: Incoming, sender: Sender, message: Message | readonly unknown[]): Promise<void> {
  const { responder } = incoming
  if (!('kind' in message)) return await serveBatch(incoming, sender, message)
  switch (message.kind) {
    case 'invalid':
      return responder.refuse(refuseMessage(sender.client.codec, message))
    case 'response':
      // Who has asked may be elsewhere: what has not got there is not accepted.
      await sender.client.answered(message)
      return responder.empty(202)
    case 'notification':
      notified(sender.client, message)
      return responder.empty(202)
    case 'request':
      return await serveRequest(incoming, sender, message)
  }
}

async function serveInitialize(incoming: Incoming, request: RequestMessage): Promise<void> {
  const { server, responder, accepted, access } = incoming
  const { sessions } = server
  const codec = negotiateCodec(NEWEST_SESSION_VERSION)
  if (sessions === undefined)
    return await serveRequest(incoming, { client: new Client(codec), session: undefined }, request)
  const known = responder.call.headers(SESSION_HEADER)[0]
  const before = known === undefined ? undefined : await sessions.use(known, access?.principal ?? null)
  if (before !== undefined) {
    sessions.release(before)
    const failure = { code: 'INVALID_REQUEST', message: 'This session is initialized already' } as const
    return responder.refuse(refuseMessage(codec, { failure, id: request.id }))
  }
  const session = sessions.open(codec, access?.principal ?? null)
  const reply = new CallReply(responder, accepted)
  const answer = await server.serve(request, { client: session.client, access }, reply)
  if (answer === undefined) return reply.endWithout()
  if (answer.failure !== undefined) return endSession(reply, answer)
  if (await sessions.keep(session)) return reply.end(200, answer.body, { [SESSION_HEADER]: session.id })
  const failure = {
    code: 'INTERNAL_ERROR',
    message: 'No more sessions: try again later',
    data: { retryable: true },
  } as const
  endSession(reply, refuse(session.client.codec, request.id, failure))
}

async function serveRequest(incoming: Incoming, sender: Sender, request: RequestMessage): Promise<void> {
  const reply = replyFor(incoming, sender, [request.id])
  const { access } = incoming
  const answer = incoming.server.serve(request, { client: sender.client, access }, reply)
  if (isPromise(answer)) reply.streamAfter(incoming.streamAfterMs)
  await endWith(incoming, reply, { sender, answer: await answer })
}

interface Ready {
  readonly sender: Sender
  readonly answer: Answer | undefined
}

/** What the call has changed of its session is kept before its client hears of it. */
async function endWith({ server }: Incoming, reply: CallReply, { sender, answer }: Ready): Promise<void> {
  if (sender.session?.client.changed) await server.sessions?.save(sender.session)
  if (answer === undefined) reply.endWithout()
  else endSession(reply, answer)
}

function endSession(reply: CallReply, { failure, body }: Answer): void {
  const status = sessionStatus(failure)
  reply.end(status, body, status === 503 ? retryHeaders(failure) : undefined)
}
