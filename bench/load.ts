import { connect, type Socket } from 'node:net'

/** Load for a server: every connection sends its request, waits for the whole answer, and sends it again. */
export interface Load {
  readonly port: number
  /** Requests as bytes in Latin-1, one for each connection. */
  readonly requests: readonly string[]
  readonly warmUpMs: number
  readonly ms: number
}

export interface LoadResult {
  readonly answers: number
  readonly elapsedMs: number
  /** The same with the warm-up. */
  readonly allAnswers: number
  readonly allMs: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const OK = 'HTTP/1.1 200'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i

/** One keep-alive connection. Every answer has to be a 200 and as long as the first. */
class Connection {
  answers = 0
  readonly #socket: Socket
  readonly #request: Buffer
  readonly #fail: (error: Error) => void
  #head: Buffer = Buffer.alloc(0)
  #left = 0
  #length = -1
  #stopped = false

  constructor(port: number, request: string, fail: (error: Error) => void) {
    this.#request = Buffer.from(request, 'latin1')
    this.#fail = fail
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => this.#send())
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', fail)
    this.#socket.on('close', () => this.#stopped || fail(new Error('The server closed a connection')))
  }

  stop(): void {
    this.#stopped = true
    this.#socket.destroy()
  }

  #send(): void {
    this.#socket.write(this.#request)
  }

  #receive(chunk: Buffer): void {
    if (this.#left > 0) return this.#body(chunk.length)
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) {
      this.#head = bytes
      return
    }
    this.#head = Buffer.alloc(0)
    const head = bytes.toString('latin1', 0, end)
    const length = Number(CONTENT_LENGTH.exec(head)?.[1])
    if (!head.startsWith(OK) || !(length > 0)) return this.#fail(new Error(`Not an answer with a length:\n${head}`))
    if (this.#length >= 0 && this.#length !== length) return this.#fail(new Error('Answers differ in length'))
    this.#length = length
    this.#left = length
    this.#body(bytes.length - end - HEAD_END.length)
  }

  #body(received: number): void {
    this.#left -= received
    if (this.#left > 0) return
    if (this.#left < 0) return this.#fail(new Error('An answer is longer than it says'))
    this.answers++
    this.#send()
  }
}

/** Runs the load for its time; what comes while it warms up is not counted. */
export async function runLoad({ port, requests, warmUpMs, ms }: Load): Promise<LoadResult> {
  const connections: Connection[] = []
  const count = (): number => connections.reduce((sum, { answers }) => sum + answers, 0)
  try {
    return await new Promise<LoadResult>((resolve, reject) => {
      for (const request of requests) connections.push(new Connection(port, request, reject))
      const started = performance.now()
      setTimeout(() => {
        const before = { answers: count(), at: performance.now() }
        setTimeout(() => {
          const all = { answers: count(), ms: performance.now() - started }
          resolve({
            answers: all.answers - before.answers,
            elapsedMs: started + all.ms - before.at,
            allAnswers: all.answers,
            allMs: all.ms,
          })
        }, ms)
      }, warmUpMs)
    })
  } finally {
    for (const connection of connections) connection.stop()
  }
}
