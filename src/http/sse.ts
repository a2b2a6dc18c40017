import type { HttpHeaders, HttpStream } from './http-call.js'

/** Nothing on the way may hold events back or change them (2026-07-28 basic/transports/streamable-http). */
export const STREAM_HEADERS: HttpHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** One event with one message. JSON text has no line breaks, so that it is always one line. */
export function sseEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`
}

const COMMENT = ': keep-alive\n\n'
/** What a ping is where the server sends no requests. */
export const PING_COMMENT = ': ping\n\n'

/** Writes comments on open streams: one timer for all of them, and none while there is none. */
export class KeepAlive {
  readonly #everyMs: number
  readonly #streams = new Set<HttpStream>()
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  add(stream: HttpStream): void {
    this.#streams.add(stream)
    this.#timer ??= setInterval(() => this.#beat(), this.#everyMs)
  }

  remove(stream: HttpStream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #beat(): void {
    for (const stream of this.#streams) stream.write(COMMENT)
  }
}

/** Characters that a stream for events of others may leave unread: who follows and does not read is let go. */
export const MAX_UNREAD_EVENTS = 4_194_304
