import { Access } from '../router/access.js'
import type { LiveSession } from '../server/live-session.js'
import { openSink } from './channel-stream.js'
import type { Incoming } from './incoming.js'
import { notAcceptable, refusal } from './refusal.js'
import { sessionOf, sessionUnknown } from './sender.js'

/** The stream of a session, for what belongs to no call, or one that its client comes back to (2025-11-25 basic/transports). */
export async function serveGet(incoming: Incoming, secondStream: 'refuse' | 'takeOver'): Promise<void> {
  const { responder, accepted, server } = incoming
  if (!accepted.stream) {
    return responder.refuse(notAcceptable('text/event-stream'))
  }
  const session = await sessionOf(incoming)
  if (!('client' in session)) return responder.refuse(session)
  try {
    await connectStream(incoming, session, secondStream)
  } finally {
    server.sessions?.release(session)
  }
}

async function connectStream(
  { server, responder, access, retryMs }: Incoming,
  session: LiveSession,
  secondStream: 'refuse' | 'takeOver',
): Promise<void> {
  const { channels } = server
  // An empty id names nothing.
  const after = responder.call.headers('last-event-id')[0] || undefined
  if (channels === undefined) return
  if (!channels.isOfSession(after)) {
    const goOn = await channels.ofCall(session, after ?? '')
    if (goOn === undefined) {
      const data = { reason: 'events_gone', header: 'Last-Event-ID' }
      return responder.refuse(refusal(400, data, 'There is nothing to go on with after this event'))
    }
    return await goOn(openSink(responder, undefined))
  }
  const { codec } = session.client
  const allowed = access ?? new Access(session.id)
  const taken = await channels.take(session, allowed, secondStream === 'takeOver')
  if (session.ended) return responder.refuse(sessionUnknown())
  if (!taken) {
    const data = { reason: 'stream_open', option: 'secondStream' }
    return responder.refuse(refusal(409, data, 'This session has its stream already'))
  }
  const sink = openSink(responder, session.stream?.channel, { ids: codec.resumable })
  await channels.connect(session, sink, {
    access: allowed,
    after,
    prime: codec.primesStreams,
    retryMs: codec.primesStreams ? retryMs : undefined,
  })
}

/** The client has ended its session: from here on its id is unknown. */
export async function serveDelete(incoming: Incoming): Promise<void> {
  const { responder, server, access } = incoming
  const session = await sessionOf(incoming)
  if (!('client' in session)) return responder.refuse(session)
  try {
    await server.sessions?.end(session)
  } finally {
    server.sessions?.release(session)
  }
  const ok = await server.terminated(access ?? new Access(session.id))
  responder.empty(ok ? 200 : 204)
}
