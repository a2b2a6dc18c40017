import type { Body } from '../protocol/model.js'
import { type OperatorLog, shownId } from '../server/operator-log.js'
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
  readonly log: OperatorLog
}

/** Characters that the stream of a call may leave unread; its handler can wait for its client, but need not. */
const MAX_UNREAD = 16_777_216

/** A stream that gets comments while it is silent, and is cut when nobody reads it. */
class WatchedStream implements HttpStream {
  readonly #stream: HttpStream
  readonly #keepAlive: KeepAlive
  readonly #maxUnread: number
  #unread = 0
  onEnd: (() => void) | undefined
  onCut: ((unread: number) => void) | undefined

  constructor(stream: HttpStream, keepAlive: KeepAlive, maxUnread: number) {
    this.#stream = stream
    this.#keepAlive = keepAlive
    this.#maxUnread = maxUnread
    keepAlive.add(stream)
  }

  write(chunk: string): boolean {
    if (this.#stream.write(chunk)) {
      this.#unread = 0
      return true
    }
    this.#unread += chunk.length
    if (this.#unread > this.#maxUnread) this.cut()
    return false
  }

  async drained(): Promise<void> {
    await this.#stream.drained()
    this.#unread = 0
  }

  leave(): void {
    this.#keepAlive.remove(this.#stream)
  }

  cut(): void {
    this.#stream.cut()
    this.onCut?.(this.#unread)
    this.onEnd?.()
  }

  end(): void {
    this.#stream.end()
    this.onEnd?.()
  }
}

/** The way back of one HTTP request, with the headers that all its answers carry. */
export class Responder {
  readonly call: HttpCall
  #shared: HttpHeaders | undefined
  /** Status of the answer, once it has begun. */
  status: number | undefined
  readonly #keepAlive: KeepAlive
  readonly #telemetry: Telemetry
  readonly #log: OperatorLog
  #onEnd: (() => void)[] = NOBODY
  #stream: WatchedStream | undefined

  constructor(call: HttpCall, { keepAlive, telemetry, log }: Shared) {
    this.call = call
    this.#keepAlive = keepAlive
    this.#telemetry = telemetry
    this.#log = log
  }

  /** Headers that every answer carries. */
  addHeaders(headers: HttpHeaders | undefined): void {
    this.#shared = headers
  }

  /** Tells once when the exchange is over: answered, or left by the client. */
  onEnd(listener: () => void): void {
    this.#onEnd = [...this.#onEnd, listener]
  }

  json(status: number, body: Body, headers?: HttpHeaders): void {
    if (!this.call.closed) this.status ??= status
    this.call.reply(status, this.#headers(JSON_HEADERS, headers), typeof body === 'string' ? body : body.pieces)
    this.#ended()
  }

  empty(status: number, headers?: HttpHeaders): void {
    if (!this.call.closed) this.status ??= status
    this.call.reply(status, this.#headers(NONE, headers))
    this.#ended()
  }

  refuse({ status, headers, body }: Refusal): void {
    this.json(status, body, headers)
  }

  /** Opens an event stream that is kept alive until it ends or the client is gone; `maxUnread` characters may wait. */
  stream(headers?: HttpHeaders, maxUnread: number = MAX_UNREAD): HttpStream {
    this.status ??= 200
    const stream = new WatchedStream(
      this.call.stream(200, this.#headers(STREAM_HEADERS, headers)),
      this.#keepAlive,
      maxUnread,
    )
    this.#stream = stream
    this.call.onClosed(() => this.#over())
    if (this.#telemetry.traces('stream')) {
      const { path, remote } = this.call
      void this.#telemetry.span('stream', { path, remote }, () => new Promise<void>((over) => this.onEnd(over)))
    }
    stream.onEnd = () => this.#over()
    stream.onCut = (unread) => this.#log.tell('stream_cut', { ...this.#facts(), unread })
    this.#log.tell('stream_opened', this.#facts())
    return stream
  }

  /** What an operator knows a stream by. */
  #facts(): Readonly<Record<string, unknown>> {
    const { method, path, remote } = this.call
    const [id] = this.call.headers('mcp-session-id')
    return { method, path, remote, ...(id === undefined ? {} : { session: shownId(id) }) }
  }

  #over(): void {
    this.#stream?.leave()
    this.#ended()
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
