import type { EventChannel, EventSink } from '../server/event-channel.js'
import type { StreamEvent } from '../server/stream-log.js'
import type { HttpHeaders } from './http-call.js'
import type { CallStream, OpenCallStream } from './reply.js'
import type { OpenStream, Responder } from './responder.js'
import { MAX_UNREAD_EVENTS, sseEvent } from './sse.js'

/** An event with its id; one without a message has empty data (2025-11-25 basic/transports, priming event). */
function eventText({ id, message }: StreamEvent): string {
  const named = id === undefined ? '' : `id: ${id}\n`
  return message === undefined ? `${named}data: \n\n` : `${named}${sseEvent(message)}`
}

/** An answer as the connection of a channel. */
class StreamSink implements EventSink {
  readonly #stream: OpenStream
  readonly #channel: EventChannel | undefined
  readonly #ids: boolean

  constructor(stream: OpenStream, channel: EventChannel | undefined, ids: boolean) {
    this.#stream = stream
    this.#channel = channel
    this.#ids = ids
  }

  get closed(): boolean {
    return this.#stream.closed
  }

  lost(): void {
    this.#channel?.lost(this)
  }

  write(event: StreamEvent): boolean {
    return this.#stream.write(this.#ids ? eventText(event) : sseEvent(event.message ?? ''))
  }

  drained(): Promise<void> {
    return this.#stream.drained()
  }

  retry(ms: number): void {
    this.#stream.write(`retry: ${ms}\n\n`)
  }

  cut(): void {
    this.#stream.cut()
  }

  end(): void {
    this.#stream.end()
  }
}

interface SinkOptions {
  readonly headers?: HttpHeaders | undefined
  /** False for versions whose events have none. @default true */
  readonly ids?: boolean
}

/** Opens the answer as a connection, which its channel is told the loss of. */
export function openSink(
  responder: Responder,
  channel: EventChannel | undefined,
  { headers, ids = true }: SinkOptions = {},
): EventSink {
  const stream = responder.stream(headers, MAX_UNREAD_EVENTS)
  const sink = new StreamSink(stream, channel, ids)
  stream.reader = sink
  return sink
}

/** Streams of calls whose clients may come back: what is sent is kept, connection or not. */
export function channelStreams(
  open: () => EventChannel,
  { prime, retryMs }: { readonly prime: boolean; readonly retryMs: number },
): OpenCallStream {
  return (responder, headers): CallStream => {
    const channel = open()
    const sink = openSink(responder, channel, { headers })
    void channel.attach(sink, { prime })
    return {
      send: (message) => channel.send(message),
      end: (last) => void channel.end(last),
      release: () => channel.release(retryMs),
    }
  }
}
