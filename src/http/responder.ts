import type { Body } from '../protocol/model.js'
import type { Telemetry } from '../server/telemetry.js'
import type { HttpCall, HttpHeaders, HttpStream } from './http-call.js'
import type { Refusal } from './refusal.js'
import { type KeepAlive, STREAM_HEADERS } from './sse.js'

const JSON_HEADERS: HttpHeaders = { 'content-type': 'application/json' }
const NONE: HttpHeaders = {}
const NOBODY: (() => void)[] = []

/** What all exchanges of an endpoint use. */
export interface Shared {
  readonly keepAlive: KeepAlive
  readonly telemetry: Telemetry
}

/** The way back of one HTTP request, with the headers that all its answers carry. */
export class Responder {
  readonly call: HttpCall
  readonly #shared: HttpHeaders | undefined
  /** Status of the answer, once it has begun. */
  status: number | undefined
  readonly #keepAlive: KeepAlive
  readonly #telemetry: Telemetry
  #onEnd: (() => void)[] = NOBODY

  constructor(call: HttpCall, { keepAlive, telemetry }: Shared, shared?: HttpHeaders) {
    this.call = call
    this.#keepAlive = keepAlive
    this.#telemetry = telemetry
    this.#shared = shared
  }

  /** Tells once when the exchange is over: answered, or left by the client. */
  onEnd(listener: () => void): void {
    this.#onEnd = [...this.#onEnd, listener]
  }

  json(status: number, body: Body, headers?: HttpHeaders): void {
    this.status ??= status
    this.call.reply(status, this.#headers(JSON_HEADERS, headers), typeof body === 'string' ? body : body.pieces)
    this.#ended()
  }

  empty(status: number, headers?: HttpHeaders): void {
    this.status ??= status
    this.call.reply(status, this.#headers(NONE, headers))
    this.#ended()
  }

  refuse({ status, headers, body }: Refusal): void {
    this.json(status, body, headers)
  }

  /** Opens an event stream that is kept alive until it ends or the client is gone. */
  stream(headers?: HttpHeaders): HttpStream {
    this.status ??= 200
    const stream = this.call.stream(200, this.#headers(STREAM_HEADERS, headers))
    this.#keepAlive.add(stream)
    const { closed, path, remote } = this.call
    if (this.#telemetry.traces('stream')) {
      void this.#telemetry.span('stream', { path, remote }, () => new Promise<void>((over) => this.onEnd(over)))
    }
    const remove = (): void => {
      this.#keepAlive.remove(stream)
      this.#ended()
    }
    if (closed.aborted) remove()
    else closed.addEventListener('abort', remove, { once: true })
    return {
      write: (chunk) => stream.write(chunk),
      drained: () => stream.drained(),
      end: () => {
        remove()
        stream.end()
      },
    }
  }

  #ended(): void {
    const listeners = this.#onEnd
    this.#onEnd = NOBODY
    for (const listener of listeners) listener()
  }

  #headers(own: HttpHeaders, more?: HttpHeaders): HttpHeaders {
    if (this.#shared === undefined && more === undefined) return own
    return { ...own, ...this.#shared, ...more }
  }
}
