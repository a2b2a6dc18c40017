import type { EventChannel, EventSink } from '../server/event-channel.js'
import type { StreamEvent } from '../server/stream-log.js'
import type { HttpHeaders, HttpStream } from './http-call.js'
import type { CallStream, OpenCallStream } from './reply.js'
import type { Responder } from './responder.js'

/** An event with its id; one without a message has empty data (2025-11-25 basic/transports, priming event). */
function eventText({ id, message }: StreamEvent): string {
  return message === undefined ? `id: ${id}\ndata: \n\n` : `id: ${id}\nevent: message\ndata: ${message}\n\n`
}

/** An answer as the connection of a channel. */
class StreamSink implements EventSink {
  readonly #stream: HttpStream

  constructor(stream: HttpStream) {
    this.#stream = stream
  }

  write(event: StreamEvent): boolean {
    return this.#stream.write(eventText(event))
  }

  drained(): Promise<void> {
    return this.#stream.drained()
  }

  retry(ms: number): void {
    this.#stream.write(`retry: ${ms}\n\n`)
  }

  end(): void {
    this.#stream.end()
  }
}

/** Opens the answer as the connection of a channel. */
export function openSink(responder: Responder, onLost: (sink: EventSink) => void, headers?: HttpHeaders): EventSink {
  const sink = new StreamSink(responder.stream(headers))
  responder.call.onClosed(() => onLost(sink))
  return sink
}

/** Streams of calls whose clients may come back: what is sent is kept, connection or not. */
export function channelStreams(
  open: () => EventChannel,
  { prime, retryMs }: { readonly prime: boolean; readonly retryMs: number },
): OpenCallStream {
  return (responder, headers): CallStream => {
    const channel = open()
    const sink = openSink(responder, (lost) => channel.lost(lost), headers)
    void channel.attach(sink, { prime })
    return {
      send: (message) => channel.send(message),
      end: (last) => void channel.end(last),
      release: () => channel.release(retryMs),
    }
  }
}
