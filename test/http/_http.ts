import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectSocket, type Socket } from 'node:net'
import { createServer, type HttpOptions, type Router, type Server, type ServerOptions } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { type Serving, serve } from 'phantom-mcp/node'
import { afterEach } from 'vitest'

export type Json = Readonly<Record<string, unknown>>
export type HeaderList = Readonly<Record<string, string | readonly string[] | undefined>>

export const MODERN = '2026-07-28'
export const META: Json = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
}
export const BOTH = 'application/json, text/event-stream'

/** A request of any kind; a header that is undefined is not sent. */
export interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: HeaderList
  readonly body?: string | Uint8Array | undefined
}

export interface Answer {
  readonly status: number
  header(name: string): string | undefined
  readonly text: string
  /** The answer's message, from JSON or from the last event of a stream. */
  readonly message: Json | undefined
  /** All messages of a stream. */
  readonly events: readonly Json[]
  readonly streamed: boolean
}

/** Anything that takes HTTP requests: a listening `serve`, or a `fetchHandler`. */
export interface Target {
  readonly name: 'node' | 'fetch'
  readonly server: Server
  readonly errors: unknown[]
  /** What listens; undefined for `fetch`. */
  readonly serving: Serving | undefined
  send(sent: Sent): Promise<Answer>
}

export interface TargetOptions {
  readonly http?: HttpOptions
  readonly server?: ServerOptions
}

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** Runs when the test is over, the last one first. */
export function afterTest(step: () => Promise<void> | void): void {
  undo.push(step)
}

export const TARGETS = ['node', 'fetch'] as const

/** Serves a router until the test ends. */
export async function target(
  kind: 'node' | 'fetch',
  router: Router<never> | Router,
  options: TargetOptions = {},
): Promise<Target> {
  const errors: unknown[] = []
  const server = createServer(router as Router, { onError: (error) => errors.push(error), ...options.server })
  if (kind === 'fetch') {
    const handle = fetchHandler(server, options.http)
    return { name: kind, server, errors, serving: undefined, send: (sent) => sendFetch(handle, sent) }
  }
  const serving = await serve(server, { port: 0, signals: false, ...options.http })
  afterTest(() => serving.close())
  return { name: kind, server, errors, serving, send: (sent) => sendNode(serving.port, sent) }
}

async function sendFetch(handle: (request: Request) => Promise<Response>, sent: Sent): Promise<Answer> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(sent.headers ?? {})) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const { method = 'POST', path = '/mcp', body } = sent
  const init: RequestInit = { method, headers }
  // A text body would bring a Content-Type of its own.
  if (body !== undefined) init.body = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const response = await handle(new Request(`http://localhost${path}`, init))
  return answerOf(response.status, (name) => response.headers.get(name) ?? undefined, await response.text())
}

/** Opens a request and gives its answer as soon as the headers are there. */
export function open(port: number, sent: Sent): Promise<IncomingMessage> {
  const { method = 'POST', path = '/mcp', body } = sent
  const headers = Object.fromEntries(
    Object.entries(sent.headers ?? {}).filter(([, value]) => value !== undefined),
  ) as Record<string, string | string[]>
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, resolve)
    request.on('error', reject)
    request.end(body)
  })
}

export async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}

async function sendNode(port: number, sent: Sent): Promise<Answer> {
  const response = await open(port, sent)
  const header = (name: string): string | undefined => {
    const value = response.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  return answerOf(response.statusCode ?? 0, header, await textOf(response))
}

function answerOf(status: number, header: Answer['header'], text: string): Answer {
  const streamed = header('content-type')?.startsWith('text/event-stream') === true
  const events = streamed ? eventsOf(text) : []
  const json = header('content-type')?.startsWith('application/json') === true && text !== ''
  return { status, header, text, streamed, events, message: json ? JSON.parse(text) : events.at(-1) }
}

/** The messages of an event stream; what primes one has no data. */
export function eventsOf(text: string): Json[] {
  return text
    .split('\n\n')
    .map((event) => event.split('\n').filter((line) => line.startsWith('data:')))
    .map((lines) => lines.map((line) => line.slice(5).trimStart()).join('\n'))
    .filter((data) => data !== '')
    .map((data) => JSON.parse(data))
}

/** A well-formed request of 2026-07-28, with its headers. `headers` are added or, where undefined, taken away. */
export function modern(method: string, params: Json = {}, { id = 1, headers = {}, meta = {} }: Parts = {}): Sent {
  const named = method === 'resources/read' ? params['uri'] : params['name']
  const mirrored = ['tools/call', 'prompts/get', 'resources/read'].includes(method) && typeof named === 'string'
  return {
    headers: {
      'content-type': 'application/json',
      accept: BOTH,
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(mirrored ? { 'mcp-name': named } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...meta } } }),
  }
}

interface Parts {
  readonly id?: string | number
  readonly headers?: HeaderList
  readonly meta?: Json
}

/** A message of the older versions; without `id` a notification. */
export function legacy(
  method: string,
  params: Json = {},
  { id = 1, headers = {}, notification = false }: Parts & { readonly notification?: boolean } = {},
): Sent {
  const message = notification ? { jsonrpc: '2.0', method, params } : { jsonrpc: '2.0', id, method, params }
  return {
    headers: { 'content-type': 'application/json', accept: BOTH, ...headers },
    body: JSON.stringify(message),
  }
}

export function initialize(version = '2025-11-25', headers: HeaderList = {}): Sent {
  const clientInfo = { name: 'probe', version: '0' }
  return legacy('initialize', { protocolVersion: version, capabilities: {}, clientInfo }, { headers })
}

/** Begins a session, and gives the headers of its later requests. */
export async function begin(on: Target, version = '2025-11-25'): Promise<{ id: string; headers: HeaderList }> {
  const answer = await on.send(initialize(version))
  const id = answer.header('mcp-session-id')
  if (answer.status !== 200 || id === undefined) throw new Error(`initialize: ${answer.status} ${answer.text}`)
  const named = version >= '2025-06-18' ? { 'mcp-protocol-version': version } : {}
  const headers = { 'mcp-session-id': id, ...named }
  await on.send(legacy('notifications/initialized', {}, { headers, notification: true }))
  return { id, headers }
}

export function codeOf(answer: Answer): unknown {
  return (answer.message?.['error'] as Json | undefined)?.['code']
}

export function dataOf(answer: Answer): Json {
  return ((answer.message?.['error'] as Json | undefined)?.['data'] ?? {}) as Json
}

export function resultOf(answer: Answer): Json | undefined {
  return answer.message?.['result'] as Json | undefined
}

export function textBlockOf(answer: Answer): unknown {
  return (resultOf(answer)?.['content'] as Json[] | undefined)?.[0]?.['text']
}

/** A socket of its own: for bytes that no HTTP client would send, and for hanging up. */
export class RawSocket {
  readonly socket: Socket
  received = ''
  readonly ended: Promise<void>

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      this.received += text
    })
    socket.on('error', () => undefined)
    this.ended = new Promise((resolve) => socket.on('close', () => resolve()))
    afterTest(() => void socket.destroy())
  }

  static async connect(port: number): Promise<RawSocket> {
    const socket = connectSocket({ port, host: '127.0.0.1' })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', () => resolve())
      socket.once('error', reject)
    })
    return new RawSocket(socket)
  }

  /** Resolves when the bytes have left. */
  write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, () => resolve()))
  }

  /** The first status that came. */
  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.received)?.[1] ?? 0)
  }

  /** Everything behind the first head. */
  get body(): string {
    const end = this.received.indexOf('\r\n\r\n')
    return end < 0 ? '' : this.received.slice(end + 4)
  }
}

/** The head of a POST as text, for a {@link RawSocket}. */
export function head(sent: Sent, more: HeaderList = {}): string {
  const { method = 'POST', path = '/mcp' } = sent
  const headers: HeaderList = { host: 'localhost', ...sent.headers, ...more }
  const lines = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}`))
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}
