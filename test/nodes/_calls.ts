import { vi } from 'vitest'
import {
  eventsOf,
  type HeaderList,
  head,
  type Json,
  legacy,
  modern,
  open,
  RawSocket,
  type Sent,
  textOf,
} from '../http/_http.js'

/** Whoever takes requests: a node, or what is in front of several. */
export interface Door {
  readonly port: number
}

/** What sends each request to the next of some nodes, whatever its session. */
export function inTurn(nodes: readonly Door[]): Door {
  let requests = 0
  return {
    get port() {
      return nodes[requests++ % nodes.length]?.port ?? 0
    },
  }
}

/** Waits, with the patience that a busy machine needs. */
export async function until(holds: () => boolean, why: () => string): Promise<void> {
  const look = (): void => {
    if (!holds()) throw new Error(why())
  }
  await vi.waitFor(look, { timeout: 4_000, interval: 10 })
}

const CLIENT = { name: 'probe', version: '0' }
const META: Json = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  'io.modelcontextprotocol/logLevel': 'info',
}

/** The answer to a call: its last message, and those before it. */
export interface Called {
  readonly status: number
  readonly message: Json
  readonly before: readonly Json[]
}

export interface CallOptions {
  readonly requestState?: string
  readonly inputResponses?: Json
  readonly args?: Json
  readonly progressToken?: string
  readonly user?: string
}

/** A call of a tool as it is sent. */
function callOf(tool: string, { args = {}, progressToken, user, ...more }: CallOptions): Sent {
  const meta = progressToken === undefined ? META : { ...META, progressToken }
  return modern('tools/call', { name: tool, arguments: args, ...more }, { meta, headers: { authorization: user } })
}

/** A call whose client can hang up. */
export async function openCall(node: Door, tool: string, options: CallOptions = {}): Promise<RawSocket> {
  const sent = callOf(tool, options)
  const socket = await RawSocket.connect(node.port)
  await socket.write(`${head(sent, { 'content-length': String(Buffer.byteLength(String(sent.body))) })}${sent.body}`)
  return socket
}

/** Calls a tool. */
export async function call(node: Door, tool: string, options: CallOptions = {}): Promise<Called> {
  const response = await open(node.port, callOf(tool, options))
  const text = await textOf(response)
  const streamed = response.headers['content-type']?.startsWith('text/event-stream') === true
  const messages = streamed ? eventsOf(text) : [JSON.parse(text) as Json]
  return { status: response.statusCode ?? 0, message: messages.at(-1) ?? {}, before: messages.slice(0, -1) }
}

export interface SessionCall {
  readonly id: number | string
  readonly headers?: HeaderList
  readonly progressToken?: string
}

/** A session, whose requests may go to any node. */
export class NodeSession {
  readonly #headers: HeaderList

  private constructor(headers: HeaderList) {
    this.#headers = headers
  }

  get id(): string {
    return String(this.#headers['mcp-session-id'])
  }

  /** The same session in the hands of somebody else. */
  as(user: string): NodeSession {
    return new NodeSession({ ...this.#headers, authorization: user })
  }

  /** Opens the session's stream, or goes on with one. */
  async listen(node: Door, lastEventId?: string): Promise<RawSocket> {
    const own = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const sent: Sent = {
      method: 'GET',
      headers: { ...this.#headers, accept: 'text/event-stream', connection: 'close', ...own },
    }
    const socket = await RawSocket.connect(node.port)
    await socket.write(head(sent))
    await until(
      () => /\r\n\r\n/.test(socket.received),
      () => 'the head of a stream was expected',
    )
    return socket
  }

  /** A request, and the text of its answer. */
  async ask(node: Door, method: string, params: Json): Promise<Json> {
    const answer = await open(node.port, legacy(method, params, { id: crypto.randomUUID(), headers: this.#headers }))
    const text = await textOf(answer)
    const streamed = answer.headers['content-type']?.startsWith('text/event-stream') === true
    return (streamed ? eventsOf(text).at(-1) : JSON.parse(text)) as Json
  }

  static async begin(node: Door, user: string, version = '2025-11-25'): Promise<NodeSession> {
    const { status, session } = await NodeSession.tryToBegin(node, user, version)
    if (status !== 200) throw new Error(`initialize: ${status}`)
    return session
  }

  static async tryToBegin(
    node: Door,
    user: string,
    version = '2025-11-25',
  ): Promise<{ readonly status: number; readonly session: NodeSession }> {
    const params = {
      protocolVersion: version,
      capabilities: { elicitation: { form: {}, url: {} } },
      clientInfo: CLIENT,
    }
    const answer = await open(node.port, legacy('initialize', params, { headers: { authorization: user } }))
    await textOf(answer)
    const id = String(answer.headers['mcp-session-id'])
    const headers = { authorization: user, 'mcp-session-id': id, 'mcp-protocol-version': version }
    return { status: answer.statusCode ?? 0, session: new NodeSession(headers) }
  }

  /** A call of a tool, whose stream is read as it comes. */
  async call(node: Door, tool: string, { id, headers = {}, progressToken }: SessionCall): Promise<RawSocket> {
    const params = { name: tool, arguments: {}, _meta: { progressToken } }
    const sent = legacy('tools/call', params, { id, headers: { ...this.#headers, connection: 'close', ...headers } })
    const socket = await RawSocket.connect(node.port)
    await socket.write(`${head(sent, { 'content-length': String(Buffer.byteLength(String(sent.body))) })}${sent.body}`)
    return socket
  }

  /** Posts a message, or an array of them, that has no answer; gives the status. */
  async post(node: Door, message: Json | readonly Json[]): Promise<number | undefined> {
    const sent = legacy('', {}, { headers: this.#headers })
    const whole = (one: Json): Json => ({ jsonrpc: '2.0', ...one })
    const body = JSON.stringify(Array.isArray(message) ? message.map(whole) : whole(message as Json))
    const answer = await open(node.port, { ...sent, body })
    await textOf(answer)
    return answer.statusCode
  }

  async end(node: Door): Promise<number | undefined> {
    const answer = await open(node.port, { method: 'DELETE', headers: this.#headers })
    await textOf(answer)
    return answer.statusCode
  }
}

/** The id of the question that came last on a stream, once so many have come. */
export async function questionOn(stream: RawSocket, count: number): Promise<string> {
  const asked = (): RegExpMatchArray[] => [
    ...stream.received.matchAll(/"id":"([^"]+)","method":"elicitation\/create"/g),
  ]
  await until(
    () => asked().length === count,
    () => `a question was expected: ${stream.received}`,
  )
  return asked().at(-1)?.[1] ?? ''
}

/** What the next request of a call that was asked something says. */
export function answerTo({ message }: Called, content: Json): CallOptions {
  const { requestState, inputRequests = {} } = (message['result'] ?? {}) as Json
  if (typeof requestState !== 'string') throw new Error(`Nothing was asked: ${JSON.stringify(message)}`)
  const keys = Object.keys(inputRequests as object)
  return { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, { action: 'accept', content }])) }
}

/** The text of a result. */
export function saidBy({ message }: Pick<Called, 'message'>): unknown {
  const { content } = (message['result'] ?? {}) as { content?: readonly Json[] }
  return content?.[0]?.['text'] ?? message
}

/** Code and reason of an error. */
export function refusedBy({ message }: Called): unknown {
  const { code, data } = (message['error'] ?? {}) as { code?: number; data?: Json }
  return { code, ...data }
}
