import { isPromise } from '../awaitable.js'
import { codecOf } from '../protocol/codecs.js'
import { type Message, parseMessage, type RequestMessage } from '../protocol/jsonrpc.js'
import type { Access } from '../router/access.js'
import { Client } from '../server/client.js'
import { type Answer, refuse } from '../server/dispatch.js'
import type { Exchange } from '../server/exchange.js'
import { receive } from '../server/receive.js'
import { RunningCalls } from '../server/running-calls.js'
import type { Server } from '../server/server.js'
import type { HttpCall, HttpStream } from './http-call.js'
import type { Incoming } from './incoming.js'
import { refusal } from './refusal.js'
import { MAX_UNREAD_EVENTS, sseEvent } from './sse.js'
import type { Sse2024Options } from './sse-2024-options.js'

/** Milliseconds between two looks at calls that still run. */
const SETTLE_CHECK_MS = 20

/** A client with its one stream: what it posts is answered there. */
class Connected implements Exchange {
  readonly canStream = true
  readonly client: Client
  readonly access: Access | undefined
  readonly #stream: HttpStream

  /** `initialize` has been answered: it begins the session once. */
  initialized = false

  constructor(id: string, stream: HttpStream, access: Access | undefined) {
    this.#stream = stream
    this.access = access
    const calls = new RunningCalls()
    this.client = new Client(codecOf('2024-11-05'), { sessionId: id, reachable: true, calls })
  }

  send(message: string): Promise<void> | undefined {
    return this.#stream.write(sseEvent(message)) ? undefined : this.#stream.drained()
  }

  stopListening = (): void => undefined

  /** Resolves when no call runs any more. */
  async settled(): Promise<void> {
    while ((this.client.calls?.size ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, SETTLE_CHECK_MS))
  }

  end(): void {
    this.client.calls?.cancelAll('The connection was closed')
    this.#stream.end()
  }
}

/**
 * HTTP+SSE of 2024-11-05 basic/transports: a stream that first tells where to post, and posts whose answers come on it. A
 * connection is the session; it ends with its stream, and lives on this node.
 */
export class Sse2024 {
  readonly streamPath: string
  readonly messagePath: string
  readonly #server: Server
  readonly #connected = new Map<string, Connected>()

  constructor(server: Server, { streamPath, messagePath }: Required<Sse2024Options>) {
    this.#server = server
    this.streamPath = streamPath
    this.messagePath = messagePath
  }

  isStream({ method, path }: HttpCall): boolean {
    return method === 'GET' && path === this.streamPath
  }

  isMessage({ path }: HttpCall): boolean {
    return path === this.messagePath
  }

  /** What else may be asked at these two paths: nothing; a client that tries is told to fall back. */
  allowed({ path, method }: HttpCall): string | undefined {
    const methods = [...(path === this.streamPath ? ['GET'] : []), ...(path === this.messagePath ? ['POST'] : [])]
    return methods.length === 0 || methods.includes(method) ? undefined : [...methods, 'OPTIONS'].join(', ')
  }

  open({ responder, access }: Incoming): void {
    const id = crypto.randomUUID()
    const stream = responder.stream(undefined, MAX_UNREAD_EVENTS)
    const connected = new Connected(id, stream, access)
    this.#connected.set(id, connected)
    const end = (): void => {
      if (!this.#connected.delete(id)) return
      connected.stopListening()
      stopWatching()
      connected.end()
    }
    // The stream is the way of the answers: it stays until the calls have theirs.
    const stopWatching = this.#server.context.onClose(() => void connected.settled().then(end))
    responder.call.onClosed(end)
    stream.write(`event: endpoint\ndata: ${this.messagePath}?sessionId=${id}\n\n`)
  }

  receive({ responder, access }: Incoming, value: unknown): void {
    const query = responder.call.url.slice(responder.call.url.indexOf('?') + 1)
    const connected = this.#connected.get(new URLSearchParams(query).get('sessionId') ?? '')
    // Another caller's connection is one that does not exist.
    if (connected === undefined || principalOf(connected.access) !== principalOf(access)) {
      return responder.refuse(refusal(404, { reason: 'session_unknown' }, 'There is no such stream: open one again'))
    }
    responder.empty(202)
    // Its own token says what a message may do, not the one that opened the stream.
    const answer = this.#serve(connected, access, parseMessage(value))
    if (!isPromise(answer)) return tell(connected, answer)
    answer.then(
      (late) => tell(connected, late),
      (error: unknown) => this.#server.report(error),
    )
  }

  #serve(
    connected: Connected,
    access: Access | undefined,
    message: Message,
  ): Answer | undefined | PromiseLike<Answer | undefined> {
    const { client } = connected
    return receive(client, message, (request) =>
      request.method === 'initialize'
        ? this.#initialize(connected, access, request)
        : this.#server.serve(request, { client, access }, connected),
    )
  }

  async #initialize(
    connected: Connected,
    access: Access | undefined,
    request: RequestMessage,
  ): Promise<Answer | undefined> {
    const { client } = connected
    if (connected.initialized) {
      const failure = { code: 'INVALID_REQUEST', message: 'This session is initialized already' } as const
      return refuse(client.codec, request.id, failure)
    }
    connected.initialized = true
    const answer = await this.#server.serve(request, { client, access }, connected)
    connected.initialized = answer !== undefined && answer.failure === undefined
    if (connected.initialized) {
      connected.stopListening = this.#server.listen(client, access, (text) => void connected.send(text)).stop
    }
    return answer
  }
}

const principalOf = (access: Access | undefined): string | null => access?.principal ?? null

function tell(connected: Connected, answer: Answer | undefined): void {
  if (answer !== undefined) void connected.send(String(answer.body))
}
