import { BodyTooLarge, type HttpBody, type HttpCall, type HttpHeaders, type HttpStream } from '../http/http-call.js'

const NONE: readonly string[] = []
const ENCODER = new TextEncoder()

/** Chunks that may wait in a stream before its writers are asked to. */
const HIGH_WATER_MARK = 16

/** An {@link HttpCall} over the web's `Request` and `Response`. */
export class FetchCall implements HttpCall {
  readonly response: Promise<Response>
  readonly #request: Request
  readonly #url: URL
  readonly #gone = new AbortController()
  #respond: (response: Response) => void = () => undefined

  constructor(request: Request) {
    this.#request = request
    this.#url = new URL(request.url)
    this.response = new Promise((resolve) => {
      this.#respond = resolve
    })
    if (request.signal.aborted) this.#gone.abort()
    else request.signal.addEventListener('abort', () => this.#gone.abort(), { once: true })
  }

  get method(): string {
    return this.#request.method
  }
  get path(): string {
    return this.#url.pathname
  }
  get url(): string {
    return this.#request.url
  }
  get remote(): undefined {
    return undefined
  }
  get closed(): boolean {
    return this.#gone.signal.aborted
  }

  onClosed(listener: () => void): void {
    if (this.closed) queueMicrotask(listener)
    else this.#gone.signal.addEventListener('abort', listener, { once: true })
  }

  /** Hosts have joined repeated headers with commas, so that two different values never pass for one. */
  headers(name: string): readonly string[] {
    const value = this.#request.headers.get(name)
    if (value !== null) return [value]
    // A request that was made by hand has no Host header; its URL says the same.
    return name === 'host' ? [this.#url.host] : NONE
  }

  async body(limit: number): Promise<Uint8Array> {
    if (Number(this.#request.headers.get('content-length') ?? 0) > limit) throw new BodyTooLarge()
    const chunks: Uint8Array[] = []
    let size = 0
    const reader = this.#request.body?.getReader()
    // A host that aborts a request does not always end its body.
    this.onClosed(() => void reader?.cancel().catch(() => undefined))
    for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
      size += read.value.length
      if (size > limit) {
        await reader?.cancel()
        throw new BodyTooLarge()
      }
      chunks.push(read.value)
    }
    if (this.closed) throw new Error('The client hung up')
    return joined(chunks, size)
  }

  reply(status: number, headers: HttpHeaders, body?: HttpBody): void {
    // An answer to HEAD has no body, whatever it says (RFC 9110 9.3.2).
    if (this.method === 'HEAD') return this.#respond(new Response(null, { status, headers }))
    const whole = typeof body === 'string' || body === undefined ? (body ?? null) : bytesOf(body)
    this.#respond(new Response(whole, { status, headers }))
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    const stream = new ResponseStream(() => this.#gone.abort())
    this.#respond(new Response(stream.body, { status, headers }))
    return stream
  }
}

function bytesOf(pieces: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const chunks = pieces.map((piece) => (typeof piece === 'string' ? ENCODER.encode(piece) : piece))
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  return joined(chunks, size) as Uint8Array<ArrayBuffer>
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** The body of an open answer; `onCancel` is called when its reader goes away. */
class ResponseStream implements HttpStream {
  readonly body: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #waiting: (() => void)[] = []
  readonly #onCancel: () => void

  constructor(onCancel: () => void) {
    this.#onCancel = onCancel
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#wake(),
        cancel: () => {
          this.#controller = undefined
          this.#wake()
          onCancel()
        },
      },
      { highWaterMark: HIGH_WATER_MARK },
    )
  }

  write(chunk: string): boolean {
    this.#controller?.enqueue(ENCODER.encode(chunk))
    return this.#hasRoom()
  }

  drained(): Promise<void> {
    return this.#hasRoom() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }

  cut(): void {
    this.#controller?.error(new Error('The stream was cut: nobody reads it'))
    this.#controller = undefined
    this.#wake()
    this.#onCancel()
  }

  end(): void {
    this.#controller?.close()
    this.#controller = undefined
    this.#wake()
  }

  #hasRoom(): boolean {
    return this.#controller === undefined || (this.#controller.desiredSize ?? 1) > 0
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
