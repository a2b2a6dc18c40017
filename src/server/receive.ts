import type { Awaitable } from '../awaitable.js'
import type { Message, NotificationMessage, RequestMessage } from '../protocol/jsonrpc.js'
import { cancelCall } from './cancel.js'
import type { Client } from './client.js'
import { type Answer, refuse } from './dispatch.js'

/** Takes a message of a client with a session: requests are for `serve`, and nothing else but what is no message has an answer. */
export function receive(
  client: Client,
  message: Message,
  serve: (request: RequestMessage) => Awaitable<Answer | undefined>,
): Awaitable<Answer | undefined> {
  switch (message.kind) {
    case 'invalid':
      return refuse(client.codec, message.id, message.failure)
    case 'response':
      // Here no answer could say that it has not got to where it was asked for.
      return client.answered(message)?.catch(() => undefined)
    case 'notification':
      notified(client, message)
      return undefined
    case 'request':
      return serve(message)
  }
}

export function notified(client: Client, { method, params }: NotificationMessage): void {
  if (method === 'notifications/cancelled') cancelCall(client, params)
}
