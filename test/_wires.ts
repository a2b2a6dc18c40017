import { PassThrough } from 'node:stream'
import type { Server } from 'phantom-mcp'
import { serveStdio } from 'phantom-mcp/stdio'
import { memoryWire, type Wire, type WireMessage } from 'phantom-mcp/testing'

// Wires of our own, written from the specification and not from src: what they send is what a client of that version sends.

type Members = Readonly<Record<string, unknown>>

/** A wire that keeps what it got, and that can send what no client would. */
export interface RawWire extends Wire {
  /** Every message of the server as it came, in order. */
  readonly received: WireMessage[]
  /** Every HTTP status that was answered; empty elsewhere. */
  readonly statuses: number[]
  /** Sends any text as one message. Over HTTP it resolves when the answer has ended. */
  sendText(text: string): Promise<void>
  /** The first message that fits, whether it is here already or comes yet. */
  next(fits: (message: WireMessage) => boolean): Promise<WireMessage>
  /** Sends a request as it is, and gives its answer. */
  ask(message: Members): Promise<WireMessage>
}

/** More headers for a message, as a test wants them. */
export type ExtraHeaders = (message: Members) => Readonly<Record<string, string>>

interface Waiting {
  readonly fits: (message: WireMessage) => boolean
  readonly resolve: (message: WireMessage) => void
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isRequest = (message: Members): boolean => Object.hasOwn(message, 'method') && Object.hasOwn(message, 'id')

abstract class RecordingWire implements RawWire {
  readonly received: WireMessage[] = []
  readonly statuses: number[] = []
  #receive: (message: WireMessage) => void = () => undefined
  #waiting: Waiting[] = []

  open(receive: (message: WireMessage) => void, _version?: string): Promise<void> | void {
    this.#receive = receive
  }
  abstract sendText(text: string): Promise<void>
  abstract close(): Promise<void>

  send(message: WireMessage): Promise<void> {
    return this.sendText(JSON.stringify(message))
  }

  next(fits: (message: WireMessage) => boolean): Promise<WireMessage> {
    const here = this.received.find(fits)
    if (here !== undefined) return Promise.resolve(here)
    return new Promise((resolve) => this.#waiting.push({ fits, resolve }))
  }

  async ask(message: Members): Promise<WireMessage> {
    const count = this.received.length
    const isAnswer = (answer: WireMessage): boolean =>
      !Object.hasOwn(answer, 'method') && this.received.indexOf(answer) >= count
    const [answer] = await Promise.all([this.next(isAnswer), this.send(message)])
    return answer
  }

  protected deliver(value: unknown, id?: unknown): void {
    for (const message of Array.isArray(value) ? value : [value]) {
      this.received.push(message)
      // An error that names no request still answers the one that this exchange was about.
      const named = isObject(message) && isObject(message['error']) && (message['id'] ?? undefined) === undefined
      this.#receive(named && id !== undefined ? { ...message, id } : message)
      const { fits, rest } = this.#split(message)
      this.#waiting = rest
      for (const { resolve } of fits) resolve(message)
    }
  }

  #split(message: WireMessage): { fits: Waiting[]; rest: Waiting[] } {
    const fits = this.#waiting.filter((waiting) => waiting.fits(message))
    return { fits, rest: this.#waiting.filter((waiting) => !fits.includes(waiting)) }
  }
}

/** The in-memory wire of the package, recorded. */
export class MemoryWire extends RecordingWire {
  readonly #inner: Wire

  constructor(server: Server) {
    super()
    this.#inner = memoryWire(server)
  }

  override async open(receive: (message: WireMessage) => void, version: never): Promise<void> {
    await super.open(receive)
    await this.#inner.open((message) => this.deliver(message), version)
  }

  async sendText(text: string): Promise<void> {
    await this.#inner.send(JSON.parse(text))
  }

  async close(): Promise<void> {
    await this.#inner.close()
  }
}

/** `serveStdio` over two pipes. */
export class StdioWire extends RecordingWire {
  readonly #input = new PassThrough()
  readonly #output = new PassThrough()
  readonly #served: Promise<void>
  readonly #running = new Set<unknown>()
  #rest = ''

  constructor(server: Server) {
    super()
    this.#output.setEncoding('utf8')
    this.#output.on('data', (text: string) => this.#take(text))
    this.#served = serveStdio(server, { input: this.#input, output: this.#output, console: 'keep' })
  }

  override send(message: WireMessage): Promise<void> {
    if (isObject(message) && isRequest(message)) this.#running.add(message['id'])
    return super.send(message)
  }

  sendText(text: string): Promise<void> {
    return this.sendBytes(`${text}\n`)
  }

  async sendBytes(bytes: string | Uint8Array): Promise<void> {
    this.#input.write(bytes)
  }

  /** What a test left running is cancelled: the end of the input alone waits for it. */
  async close(): Promise<void> {
    for (const requestId of this.#running) {
      await this.sendText(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }))
    }
    this.#input.end()
    await this.#served
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const message: unknown = JSON.parse(line)
      if (isObject(message)) this.#running.delete(message['id'])
      this.deliver(message)
    }
  }
}

/** Sends one HTTP request. */
export type Post = (request: Request) => Promise<Response>

export interface HttpWireOptions {
  readonly url: string
  readonly version: string
  readonly post: Post
  readonly headers?: ExtraHeaders | undefined
  readonly closed: () => Promise<void>
}

const META_VERSION = 'io.modelcontextprotocol/protocolVersion'
const STATELESS = '2026-07-28'
const NAMED: Readonly<Record<string, string>> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

/** One POST for each message, with the headers of its version; answers are read as they come. */
export class HttpWire extends RecordingWire {
  readonly #options: HttpWireOptions
  readonly #running = new Map<unknown, AbortController>()
  readonly #all = new Set<AbortController>()
  #version: string | undefined
  #sessionId: string | undefined

  constructor(options: HttpWireOptions) {
    super()
    this.#options = options
    if (options.version === STATELESS) this.#version = STATELESS
  }

  get sessionId(): string | undefined {
    return this.#sessionId
  }

  async sendText(text: string): Promise<void> {
    const message = parsed(text)
    if (this.#cancels(message)) return
    const controller = new AbortController()
    const id = message !== undefined && isRequest(message) ? message['id'] : undefined
    this.#all.add(controller)
    this.#running.set(id, controller)
    try {
      await this.#exchange(text, message, controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) throw error
    } finally {
      this.#all.delete(controller)
      if (this.#running.get(id) === controller) this.#running.delete(id)
    }
  }

  async close(): Promise<void> {
    for (const controller of this.#all) controller.abort()
    await this.#options.closed()
  }

  /** What has its answer cannot be cancelled any more. */
  protected override deliver(value: unknown, id?: unknown): void {
    for (const message of Array.isArray(value) ? value : [value]) {
      if (isObject(message) && !Object.hasOwn(message, 'method')) this.#running.delete(message['id'] ?? id)
    }
    super.deliver(value, id)
  }

  /** Where hanging up is how a request is cancelled, the notification is not sent. */
  #cancels(message: Members | undefined): boolean {
    if (this.#version !== STATELESS || message?.['method'] !== 'notifications/cancelled') return false
    const controller = this.#running.get((message['params'] as Members | undefined)?.['requestId'])
    controller?.abort()
    return controller !== undefined
  }

  async #exchange(text: string, message: Members | undefined, signal: AbortSignal): Promise<void> {
    const { url, post } = this.#options
    const response = await post(
      new Request(url, { method: 'POST', headers: this.#headers(message), body: text, signal }),
    )
    this.statuses.push(response.status)
    const id = message?.['id']
    const before = this.received.length
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) await this.#readStream(response)
    else await this.#readBody(response, id)
    if (message?.['method'] === 'initialize' && response.ok) this.#begin(response)
    const wantsAnswer = message !== undefined && isRequest(message)
    if (wantsAnswer && !this.received.slice(before).some((answer) => !Object.hasOwn(answer, 'method'))) {
      throw new Error(`HTTP ${response.status} without an answer`)
    }
  }

  #begin(response: Response): void {
    const answer = this.received.at(-1)?.['result'] as { protocolVersion?: string } | undefined
    this.#sessionId = response.headers.get('mcp-session-id') ?? undefined
    this.#version = answer?.protocolVersion
  }

  #headers(message: Members | undefined): Record<string, string> {
    const accept = 'application/json, text/event-stream'
    const headers: Record<string, string> = { 'content-type': 'application/json', accept }
    if (this.#sessionId !== undefined) headers['mcp-session-id'] = this.#sessionId
    // The header came with 2025-06-18.
    if (this.#version !== undefined && this.#version >= '2025-06-18') headers['mcp-protocol-version'] = this.#version
    if (this.#version === STATELESS && message !== undefined) Object.assign(headers, mirrored(message))
    return message === undefined ? headers : { ...headers, ...this.#options.headers?.(message) }
  }

  async #readBody(response: Response, id: unknown): Promise<void> {
    const text = await response.text()
    const value = text === '' ? undefined : parsed(text, true)
    if (value !== undefined) this.deliver(value, id)
    else if (!response.ok) throw new Error(`HTTP ${response.status}: ${text}`)
  }

  async #readStream(response: Response): Promise<void> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const lines = event.split('\n').filter((line) => line.startsWith('data:'))
        const payload = lines.map((line) => line.slice(5).trimStart()).join('\n')
        // An event without data only names a place in the stream (2025-11-25).
        if (payload !== '') this.deliver(JSON.parse(payload))
      }
    }
  }
}

/** 2026-07-28 basic/transports/streamable-http, Standard Headers. */
function mirrored({ method, params }: Members): Record<string, string> {
  if (typeof method !== 'string') return {}
  const members = isObject(params) ? params : {}
  const version = isObject(members['_meta']) ? members['_meta'][META_VERSION] : undefined
  const name = members[NAMED[method] ?? '']
  return {
    'mcp-method': headerValue(method),
    ...(typeof version === 'string' ? { 'mcp-protocol-version': version } : {}),
    ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
  }
}

/** 2026-07-28 basic/transports/streamable-http, Value Encoding. */
export function headerValue(value: string): string {
  const plain = /^[\x20-\x7e\t]*$/.test(value) && value.trim() === value && !/^=\?base64\?.*\?=$/.test(value)
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

function parsed(text: string, arrays = false): Members | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) || (arrays && Array.isArray(value)) ? (value as Members) : undefined
  } catch {
    return undefined
  }
}
