import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { initializeBody, type LoadRequest, legacyCall, listenCall, subscribeBody } from './requests.js'

export const AT_ONCE = 32

/** All of them, so many at once. */
export async function each<Item, Made>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = []
  const left = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) made.push(await work(item, index))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return made
}

/** Gets what comes on a stream, after the first of it. */
export type OnChunk = (chunk: Buffer) => void

interface Place {
  readonly port: number
}

/** A client with a session, and perhaps a stream. */
export class Visit {
  readonly #to: Place & RequestOptions
  readonly #session: string
  #stream: { readonly sent: ClientRequest; readonly answer: IncomingMessage } | undefined

  private constructor(to: Place & RequestOptions, session: string) {
    this.#to = to
    this.#session = session
  }

  static async begin({ port }: Place, agent: Agent): Promise<Visit> {
    const to = { port, agent }
    const { headers } = await exchange({ ...to, method: 'POST', headers: legacyCall.headers }, initializeBody)
    return new Visit(to, String(headers['mcp-session-id']))
  }

  /** One that begins no session. */
  static alone({ port }: Place, agent: Agent): Visit {
    return new Visit({ port, agent }, '')
  }

  get streams(): boolean {
    return this.#stream !== undefined
  }

  /** A request of the session, on whichever node. @default a call, where the session began */
  async call(body: string = legacyCall.body, { port }: Place = this.#to): Promise<void> {
    await exchange({ ...this.#to, port, method: 'POST', headers: this.#headers(legacyCall.headers) }, body)
  }

  async subscribe(): Promise<void> {
    await this.call(subscribeBody)
  }

  async end(): Promise<void> {
    await exchange({ ...this.#to, method: 'DELETE', headers: this.#headers(legacyCall.headers) }, '')
  }

  async openGet(onChunk?: OnChunk): Promise<void> {
    await this.#open({ method: 'GET', headers: this.#headers({ accept: 'text/event-stream' }), onChunk }, '')
  }

  async openListen(
    { headers, body }: Pick<LoadRequest, 'headers' | 'body'> = listenCall,
    onChunk?: OnChunk,
  ): Promise<void> {
    await this.#open({ method: 'POST', headers, onChunk }, body)
  }

  leave(): void {
    this.#stream?.sent.destroy()
    this.#stream = undefined
  }

  #headers(more: Readonly<Record<string, string>>): Record<string, string> {
    return { ...more, 'mcp-session-id': this.#session }
  }

  async #open({ onChunk, ...options }: RequestOptions & { onChunk: OnChunk | undefined }, body: string): Promise<void> {
    const { sent, answer } = await send({ ...this.#to, ...options, agent: false }, body)
    sent.on('error', () => undefined)
    answer.on('error', () => undefined)
    this.#stream = { sent, answer }
    // The first bytes are there: the stream is open on the other side, too.
    await new Promise((resolve) => answer.once('data', resolve))
    if (onChunk !== undefined) answer.on('data', onChunk)
  }
}

export const newAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: AT_ONCE })

export async function exchange(options: RequestOptions, body: string): Promise<IncomingMessage> {
  const { answer } = await send(options, body)
  answer.resume()
  await new Promise((resolve, reject) => answer.once('end', resolve).once('error', reject))
  return answer
}

function send(
  options: RequestOptions,
  body: string,
): Promise<{ readonly sent: ClientRequest; readonly answer: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', path: '/mcp', ...options }, (answer) => {
      if (answer.statusCode === 200 || answer.statusCode === 204) resolve({ sent, answer })
      else reject(new Error(`The server answered ${answer.statusCode}`))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
