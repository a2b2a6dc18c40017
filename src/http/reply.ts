import type { Exchange } from '../server/exchange.js'
import type { HttpCall, HttpHeaders, HttpStream } from './http-call.js'
import type { Accepted } from './media.js'
import type { Refusal } from './refusal.js'
import { type KeepAlive, STREAM_HEADERS, sseEvent } from './sse.js'

const JSON_HEADERS: HttpHeaders = { 'content-type': 'application/json' }

/** The way back of one HTTP request, with the headers that all its answers carry. */
export class Responder {
  readonly call: HttpCall
  readonly #shared: HttpHeaders | undefined
  readonly #keepAlive: KeepAlive

  constructor(call: HttpCall, keepAlive: KeepAlive, shared: HttpHeaders | undefined) {
    this.call = call
    this.#keepAlive = keepAlive
    this.#shared = shared
  }

  json(status: number, body: string, headers?: HttpHeaders): void {
    this.call.reply(status, this.#headers(JSON_HEADERS, headers), body)
  }

  empty(status: number, headers?: HttpHeaders): void {
    this.call.reply(status, this.#headers(headers ?? {}))
  }

  refuse({ status, headers, body }: Refusal): void {
    this.json(status, body, headers)
  }

  /** Opens an event stream that is kept alive until it ends or the client is gone. */
  stream(headers?: HttpHeaders): HttpStream {
    const stream = this.call.stream(200, this.#headers(STREAM_HEADERS, headers))
    this.#keepAlive.add(stream)
    this.call.closed.addEventListener('abort', () => this.#keepAlive.remove(stream), { once: true })
    return {
      write: (chunk) => stream.write(chunk),
      drained: () => stream.drained(),
      end: () => {
        this.#keepAlive.remove(stream)
        stream.end()
      },
    }
  }

  #headers(own: HttpHeaders, more?: HttpHeaders): HttpHeaders {
    if (this.#shared === undefined && more === undefined) return own
    return { ...own, ...this.#shared, ...more }
  }
}

/**
 * The answer to one or several calls of a request: JSON, until something has to be sent before it is ready. A client that
 * takes JSON only never gets a stream, and one that takes streams only always does.
 */
export class CallReply implements Exchange {
  readonly #responder: Responder
  readonly #accepted: Accepted
  readonly #headers: HttpHeaders | undefined
  #stream: HttpStream | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(responder: Responder, accepted: Accepted, headers?: HttpHeaders) {
    this.#responder = responder
    this.#accepted = accepted
    this.#headers = headers
  }

  get closed(): AbortSignal {
    return this.#responder.call.closed
  }

  get streaming(): boolean {
    return this.#stream !== undefined
  }

  send(message: string): Promise<void> | undefined {
    if (!this.#accepted.stream) return undefined
    const stream = this.#open()
    return stream.write(sseEvent(message)) ? undefined : stream.drained()
  }

  /** Opens the stream once the answer has taken `ms`. */
  streamAfter(ms: number): void {
    if (this.#accepted.stream) this.#timer = setTimeout(() => this.#open(), ms)
  }

  /** The last of it; a status tells only where no stream has fixed it already. */
  end(status: number, body: string, headers?: HttpHeaders): void {
    this.#settle()
    if (this.#stream === undefined && (this.#accepted.json || status !== 200)) {
      this.#responder.json(status, body, this.#merged(headers))
      return
    }
    const stream = this.#open(headers)
    stream.write(sseEvent(body))
    stream.end()
  }

  /** There is no answer: the client has cancelled. */
  endWithout(): void {
    this.#settle()
    if (this.#stream === undefined) this.#responder.empty(202, this.#headers)
    else this.#stream.end()
  }

  #open(headers?: HttpHeaders): HttpStream {
    this.#settle()
    this.#stream ??= this.#responder.stream(this.#merged(headers))
    return this.#stream
  }

  #merged(headers: HttpHeaders | undefined): HttpHeaders | undefined {
    return headers === undefined || this.#headers === undefined
      ? (headers ?? this.#headers)
      : { ...this.#headers, ...headers }
  }

  #settle(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
