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

/** An answer that is open; it is cut when nobody reads it. */
export class OpenStream implements HttpStream {
  /** Who is told when the client is gone before the end. */
  reader: { lost(): void } | undefined
  readonly #stream: HttpStream
  readonly #watcher: StreamWatcher
  readonly #maxUnread: number
  #unread = 0

  constructor(stream: HttpStream, watcher: StreamWatcher, maxUnread: number) {
    this.#stream = stream
    this.#watcher = watcher
    this.#maxUnread = maxUnread
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

  /** True when the client has gone. */
  get closed(): boolean {
    return this.#watcher.call.closed
  }

  async drained(): Promise<void> {
    await this.#stream.drained()
    this.#unread = 0
  }

  cut(): void {
    this.#stream.cut()
    this.#watcher.streamCut(this.#unread)
  }

  end(): void {
    this.#stream.end()
    this.#watcher.streamOver()
  }
}

/** Who has to know of a stream's end. */
interface StreamWatcher {
  readonly call: HttpCall
  streamCut(unread: number): void
  streamOver(): void
}

/** The way back of one HTTP request, with the headers that all its answers carry. */
export class Responder implements StreamWatcher {
  readonly call: HttpCall
  #shared: HttpHeaders | undefined
  /** Status of the answer, once it has begun. */
  status: number | undefined
  readonly #endpoint: Shared
  #onEnd: (() => void)[] = NOBODY
  #stream: OpenStream | undefined

  constructor(call: HttpCall, endpoint: Shared) {
    this.call = call
    this.#endpoint = endpoint
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
  stream(headers?: HttpHeaders, maxUnread: number = MAX_UNREAD): OpenStream {
    this.status ??= 200
    const { keepAlive, telemetry, log } = this.#endpoint
    const stream = new OpenStream(this.call.stream(200, this.#headers(STREAM_HEADERS, headers)), this, maxUnread)
    this.#stream = stream
    keepAlive.add(stream)
    this.call.onClosed(() => {
      this.streamOver()
      stream.reader?.lost()
    })
    if (telemetry.traces('stream')) {
      const { path, remote } = this.call
      void telemetry.span('stream', { path, remote }, () => new Promise<void>((over) => this.onEnd(over)))
    }
    // Node keeps an address that it was asked for as long as the connection.
    log.tell('stream_opened', () => this.#facts())
    return stream
  }

  streamCut(unread: number): void {
    this.#endpoint.log.tell('stream_cut', { ...this.#facts(), unread })
    this.streamOver()
  }

  streamOver(): void {
    if (this.#stream !== undefined) this.#endpoint.keepAlive.remove(this.#stream)
    this.#ended()
  }

  /** What an operator knows a stream by. */
  #facts(): Readonly<Record<string, unknown>> {
    const { method, path, remote } = this.call
    const [id] = this.call.headers('mcp-session-id')
    return { method, path, remote, ...(id === undefined ? {} : { session: shownId(id) }) }
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
