import { connect, type Socket } from 'node:net'

/** Load for a server: every connection sends its request, waits for the whole answer, and sends it again. */
export interface Load {
  readonly port: number
  /** What each connection sends in turn, again and again, as bytes in Latin-1; mostly it is one request. */
  readonly requests: readonly (readonly string[])[]
  readonly warmUpMs: number
  readonly ms: number
}

/** Stands in a request for the session of the last answer that had one. */
export const SESSION_MARK = '{session}'

export interface LoadResult {
  /** Whole rounds of requests. */
  readonly answers: number
  readonly elapsedMs: number
  /** The same with the warm-up. */
  readonly allAnswers: number
  readonly allMs: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const OK = /^HTTP\/1\.1 20[04]/
const EMPTY = 'HTTP/1.1 204'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const SESSION = /\r\nmcp-session-id: *([^\r]+)/i

/** One keep-alive connection. Every answer has to be a 200 or 204, and as long as the first to the same request. */
class Connection {
  answers = 0
  readonly #socket: Socket
  readonly #requests: readonly (Buffer | readonly [string, string])[]
  readonly #lengths: number[] = []
  readonly #fail: (error: Error) => void
  #step = 0
  #session = ''
  #head: Buffer = Buffer.alloc(0)
  #left = 0
  #stopped = false

  constructor(port: number, requests: readonly string[], fail: (error: Error) => void) {
    this.#requests = requests.map((request) => {
      const [before = '', after] = request.split(SESSION_MARK)
      return after === undefined ? Buffer.from(request, 'latin1') : ([before, after] as const)
    })
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
    const request = this.#requests[this.#step] ?? ''
    this.#socket.write(Array.isArray(request) ? request.join(this.#session) : (request as Buffer), 'latin1')
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
    const length = head.startsWith(EMPTY) ? 0 : Number(CONTENT_LENGTH.exec(head)?.[1])
    if (!OK.test(head) || !(length >= 0)) return this.#fail(new Error(`Not an answer with a length:\n${head}`))
    this.#lengths[this.#step] ??= length
    if (this.#lengths[this.#step] !== length) return this.#fail(new Error('Answers differ in length'))
    if (this.#requests.length > 1) this.#session = SESSION.exec(head)?.[1] ?? this.#session
    this.#left = length
    this.#body(bytes.length - end - HEAD_END.length)
  }

  #body(received: number): void {
    this.#left -= received
    if (this.#left > 0) return
    if (this.#left < 0) return this.#fail(new Error('An answer is longer than it says'))
    this.#step = (this.#step + 1) % this.#requests.length
    if (this.#step === 0) this.answers++
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
