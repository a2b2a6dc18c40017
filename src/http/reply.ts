import type { Body } from '../protocol/model.js'
import type { Exchange } from '../server/exchange.js'
import type { HttpHeaders, HttpStream } from './http-call.js'
import type { Accepted } from './media.js'
import type { Responder } from './responder.js'
import { MAX_UNREAD_EVENTS, PING_COMMENT, sseEvent } from './sse.js'

/** The stream of a call, once there is one. */
export interface CallStream {
  /** A promise where the connection is full. */
  send(message: string): Promise<void> | undefined
  comment?(): Promise<void> | undefined
  /** The last message, where there is one, and the end. */
  end(last?: string): void
  /** Lets the connection go while the call runs on, where its client may come back. */
  release?(): Promise<void>
}

export type OpenCallStream = (responder: Responder, headers: HttpHeaders | undefined) => CallStream

/** A stream that is as long as its connection. */
const openPlain: OpenCallStream = (responder, headers) => new PlainStream(responder.stream(headers))

/** The same for a call that only listens: it is let go when its client does not read. */
export const openListening: OpenCallStream = (responder, headers) =>
  new PlainStream(responder.stream(headers, MAX_UNREAD_EVENTS))

/** Methods, since there is one of it for each open stream. */
class PlainStream implements CallStream {
  readonly #stream: HttpStream

  constructor(stream: HttpStream) {
    this.#stream = stream
  }

  send(message: string): Promise<void> | undefined {
    return this.#write(sseEvent(message))
  }

  comment(): Promise<void> | undefined {
    return this.#write(PING_COMMENT)
  }

  end(last?: string): void {
    if (last !== undefined) this.#stream.write(sseEvent(last))
    this.#stream.end()
  }

  #write(text: string): Promise<void> | undefined {
    return this.#stream.write(text) ? undefined : this.#stream.drained()
  }
}

/**
 * The answer to one or several calls of a request: JSON, until something has to be sent before it is ready. A client that
 * takes JSON only never gets a stream, and one that takes streams only always does.
 */
export class CallReply implements Exchange {
  readonly #responder: Responder
  readonly #accepted: Accepted
  readonly #openStream: OpenCallStream
  #stream: CallStream | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(responder: Responder, accepted: Accepted, open: OpenCallStream = openPlain) {
    this.#responder = responder
    this.#accepted = accepted
    this.#openStream = open
  }

  onClosed(listener: () => void): void {
    this.#responder.call.onClosed(listener)
  }

  get canStream(): boolean {
    return this.#accepted.stream
  }

  send(message: string): Promise<void> | undefined {
    return this.#accepted.stream ? this.#open().send(message) : undefined
  }

  comment(): Promise<void> | undefined {
    return this.#accepted.stream ? this.#open().comment?.() : undefined
  }

  async finish(): Promise<void> {
    if (this.#accepted.stream) await this.#open().release?.()
  }

  /** Opens the stream once the answer has taken `ms`. */
  streamAfter(ms: number): void {
    if (this.#accepted.stream) this.#timer = setTimeout(() => this.#open(), ms)
  }

  /** The last of it; a status tells only where no stream has fixed it already. */
  end(status: number, body: Body, headers?: HttpHeaders): void {
    this.#settle()
    if (this.#stream !== undefined) this.#stream.end(String(body))
    else if (this.#accepted.json || status !== 200) this.#responder.json(status, body, headers)
    else this.#open(headers).end(String(body))
  }

  /** There is no answer: the client has cancelled. */
  endWithout(): void {
    this.#settle()
    if (this.#stream === undefined) this.#responder.empty(202)
    else this.#stream.end()
  }

  #open(headers?: HttpHeaders): CallStream {
    this.#settle()
    this.#stream ??= this.#openStream(this.#responder, headers)
    return this.#stream
  }

  #settle(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
