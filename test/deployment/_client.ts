import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { type HeaderList, initialize, legacy, modern, type Sent } from '../http/_http.js'
import { textOf, until } from './_proxies.js'

/** A client of a proxy, under the name that the world knows the server by. */
export class ProxyClient {
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  /** The answer as soon as its head is there. */
  open({ method = 'POST', path = '/mcp', headers = {}, body }: Sent): Promise<Opened> {
    const sent = { host: 'mcp.example.com', ...headers } as Record<string, string>
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, method, path, headers: sent, agent: false }
      const request = httpRequest(options, (answer) => resolve(new Opened(request, answer)))
      request.on('error', reject)
      request.end(body)
    })
  }

  /** Sends a request and leaves without having heard of it. */
  leaveUnanswered({ method = 'POST', path = '/mcp', headers = {}, body }: Sent): ClientRequest {
    const sent = { host: 'mcp.example.com', ...headers } as Record<string, string>
    const request = httpRequest({ host: '127.0.0.1', port: this.#port, method, path, headers: sent, agent: false })
    request.on('error', () => undefined).end(body)
    return request
  }

  async text(
    sent: Sent,
  ): Promise<{ readonly status: number; readonly text: string; readonly answer: IncomingMessage }> {
    const { answer } = await this.open(sent)
    return { status: answer.statusCode ?? 0, text: await textOf(answer), answer }
  }

  /** The name of the process that has served a call of `who`. */
  async who(headers?: HeaderList): Promise<string> {
    const call = headers === undefined ? modern('tools/call', { name: 'who' }) : inSession('who', headers)
    const { status, text } = await this.text(call)
    if (status !== 200) throw new Error(`${status} ${text}`)
    return (JSON.parse(text) as { result: { content: [{ text: string }] } }).result.content[0].text
  }

  /** Begins a session, and gives the headers of its requests. */
  async begin(): Promise<HeaderList> {
    const { answer, status, text } = await this.text(initialize('2025-11-25'))
    const id = answer.headers['mcp-session-id']
    if (status !== 200 || typeof id !== 'string') throw new Error(`${status} ${text}`)
    return { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  }
}

export function inSession(tool: string, headers: HeaderList): Sent {
  return legacy('tools/call', { name: tool, arguments: {} }, { headers })
}

/** A call of 2026-07-28 that wants to hear of progress, and is held until the test lets it go. */
export function hold(tag: string, headers: HeaderList = {}): Sent {
  const meta = { progressToken: tag }
  return modern('tools/call', { name: 'hold', arguments: { tag } }, { headers, meta })
}

/** An answer of which some may be there already. */
export class Opened {
  readonly answer: IncomingMessage
  readonly #request: ClientRequest
  received = ''

  constructor(request: ClientRequest, answer: IncomingMessage) {
    this.#request = request
    this.answer = answer
    answer.on('error', () => undefined)
  }

  /** Begins to read. */
  read(): this {
    this.answer.setEncoding('utf8').on('data', (text: string) => {
      this.received += text
    })
    return this
  }

  async gets(text: string): Promise<void> {
    await until(
      () => this.received.includes(text),
      () => `${text} was expected: ${this.received}`,
    )
  }

  hangUp(): void {
    this.#request.on('error', () => undefined).destroy()
  }
}
