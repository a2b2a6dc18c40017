// Requests and event streams as they go over the wire.
import { Agent, type IncomingMessage, request } from 'node:http'

export type Json = Readonly<Record<string, unknown>>
export type HeaderList = Readonly<Record<string, string>>

export interface Sent {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: HeaderList
  readonly body?: string
}

/** An event of a stream. */
export interface Event {
  readonly id: string | undefined
  readonly message: Json | undefined
}

/** Statuses with which the proxy answers for a node that it cannot reach, or that is gone before it has answered. */
const PROXY_STATUSES: readonly number[] = [502, 503, 504]
const CONNECTIONS = 64

/** The request, its answer or the rest of it was lost on the way: the connection broke, or the proxy answered for a node that is gone. */
export class Lost extends Error {
  override readonly name = 'Lost'
}

/** The server refused in a way that is told to the client's program. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly retryable: boolean
  readonly reason: unknown

  constructor(status: number, error: Json) {
    const data = (error['data'] ?? {}) as Json
    super(`${status} ${JSON.stringify(error)}`)
    this.status = status
    this.retryable = data['retryable'] === true
    this.reason = data['reason']
  }
}

/** An answer whose body is still to be read. */
export class Answer {
  readonly status: number
  readonly sessionId: string | undefined
  readonly #response: IncomingMessage

  constructor(response: IncomingMessage) {
    this.#response = response
    this.status = response.statusCode ?? 0
    const id = response.headers['mcp-session-id']
    this.sessionId = typeof id === 'string' ? id : undefined
  }

  get #type(): string {
    return this.#response.headers['content-type'] ?? ''
  }

  get streams(): boolean {
    return this.#type.startsWith('text/event-stream')
  }

  /** The message of a JSON answer; undefined without a body. @throws Lost */
  async message(): Promise<Json | undefined> {
    const text = await this.#text()
    if (this.#type.startsWith('application/json') && text !== '') return JSON.parse(text) as Json
    if (PROXY_STATUSES.includes(this.status)) throw new Lost(`the proxy answered ${this.status}`)
    return undefined
  }

  /** The events as they come, up to the end of the stream. @throws Lost */
  async *events(): AsyncGenerator<Event> {
    let rest = ''
    for await (const chunk of this.#chunks()) {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = toEvent(block)
        if (event !== undefined) yield event
      }
    }
  }

  /** Hangs up. */
  drop(): void {
    this.#response.destroy()
  }

  async #text(): Promise<string> {
    let text = ''
    for await (const chunk of this.#chunks()) text += chunk
    return text
  }

  async *#chunks(): AsyncGenerator<string> {
    this.#response.setEncoding('utf8')
    try {
      for await (const chunk of this.#response) yield chunk as string
    } catch (error) {
      throw new Lost(String(error))
    }
  }
}

/** Undefined for a comment. */
function toEvent(block: string): Event | undefined {
  let id: string | undefined
  let data: string | undefined
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4)
    if (line.startsWith('data: ')) data = line.slice(6)
  }
  if (id === undefined && data === undefined) return undefined
  return { id, message: data ? (JSON.parse(data) as Json) : undefined }
}

/** The way to the proxy: calls share their connections, streams have one each. */
export class Wire {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

  constructor(url: string) {
    this.#url = url
  }

  /** @throws Lost */
  open(sent: Sent, { alone = false }: { readonly alone?: boolean } = {}): Promise<Answer> {
    const { method, headers, body } = sent
    return new Promise((resolve, reject) => {
      const lost = (error: Error): void => reject(new Lost(error.message))
      const agent = alone ? false : this.#agent
      request(this.#url, { method, headers, agent }, (response) => resolve(new Answer(response)))
        .on('error', lost)
        .end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
