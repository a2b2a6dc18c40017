import type { Codec } from '../protocol/codec.js'
import { type Message, parseMessage } from '../protocol/jsonrpc.js'
import { type Answer, refuse } from '../server/dispatch.js'
import { receive } from '../server/receive.js'
import type { Incoming } from './incoming.js'
import { refuseMessage } from './refusal.js'
import type { CallReply } from './reply.js'
import { replyFor, type Sender } from './sender.js'

/** Messages in one array of 2025-03-26. */
const MAX_BATCH = 100

/** 2025-03-26 basic, Batching. The answers come together, as an array or on the stream that a call has opened. */
export async function serveBatch(incoming: Incoming, sender: Sender, batch: readonly unknown[]): Promise<void> {
  const { codec } = sender.client
  const problem = batchProblem(codec, batch)
  if (problem !== undefined) {
    const failure = { code: 'INVALID_REQUEST', message: problem } as const
    return incoming.responder.refuse(refuseMessage(codec, { failure }))
  }
  const messages = batch.map(parseMessage)
  const ids = messages.flatMap((message) => (message.kind === 'request' ? [message.id] : []))
  const reply = replyFor(incoming, sender, ids)
  const answers = messages.map((message) => serveItem(incoming, sender, { message, reply }))
  const settled = await Promise.all(answers)
  if (sender.session?.client.changed) await incoming.server.sessions?.save(sender.session)
  const bodies = settled.filter((answer) => answer !== undefined).map(({ body }) => body)
  if (bodies.length === 0) reply.endWithout()
  else reply.end(200, `[${bodies.map(String).join(',')}]`)
}

function batchProblem(codec: Codec, batch: readonly unknown[]): string | undefined {
  if (batch.length === 0) return 'An empty array is no message'
  if (!codec.batches) return 'The body must be a single message'
  return batch.length > MAX_BATCH ? `An array may hold ${MAX_BATCH} messages` : undefined
}

function serveItem(
  { server, access }: Incoming,
  { client }: Sender,
  { message, reply }: { message: Message; reply: CallReply },
): Answer | undefined | PromiseLike<Answer | undefined> {
  return receive(client, message, (request) => {
    if (request.method !== 'initialize') return server.serve(request, { client, access }, reply)
    const failure = { code: 'INVALID_REQUEST', message: 'initialize must not be part of an array' } as const
    return refuse(client.codec, request.id, failure)
  })
}
