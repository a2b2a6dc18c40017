import type { TraceContext } from '../protocol/model.js'
import type { Connecting, ConnectRequest, Session } from '../router/session.js'

/** `phantom:dispatch`: one request on its way through the server. `result` or `error` is there when it is over. */
export interface DispatchEvent {
  readonly session: Session
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** The client's trace context, to go on from. */
  readonly trace: TraceContext
  result?: unknown
  error?: unknown
}

/** `phantom:request`: one HTTP exchange, from its headers to the end of its answer. */
export interface RequestEvent {
  readonly method: string
  readonly path: string
  readonly remote: string | undefined
  /** Status of the answer, once it has begun. */
  status?: number
  result?: unknown
  error?: unknown
}

/** `phantom:stream`: one open event stream, from its headers to its end. */
export interface StreamOpened {
  readonly path: string
  readonly remote: string | undefined
  result?: unknown
  error?: unknown
}

/** `phantom:connect`: a caller was let in. `phantom:disconnect`: their exchange or connection is over. */
export interface CallerEvent {
  /** On disconnect: what the `disconnect` callback returned, or else the session as it was. */
  readonly session: Connecting
  readonly request?: ConnectRequest
}

/** `phantom:terminate`: a client has ended its session. */
export interface TerminateEvent {
  readonly session: Connecting
  /** What the `terminate` callback said. */
  readonly ok: boolean
}

/** `phantom:exception`: what is reported to `onError`. */
export interface ExceptionEvent {
  readonly error: unknown
  readonly session: Session | undefined
}

interface Channel {
  readonly hasSubscribers: boolean
  publish(message: object): void
}
interface TracingChannel {
  readonly hasSubscribers: boolean
  tracePromise<Value>(run: () => Promise<Value>, context: object): Promise<Value>
}
interface DiagnosticsChannel {
  channel(name: string): Channel
  tracingChannel(name: string): TracingChannel
}

/** Node's own channels, asked for softly: other hosts have none, and then nothing is told. */
function diagnosticsChannel(): DiagnosticsChannel | undefined {
  const host = globalThis as { process?: { getBuiltinModule?(name: string): unknown } }
  return host.process?.getBuiltinModule?.('node:diagnostics_channel') as DiagnosticsChannel | undefined
}

type SpanName = 'request' | 'dispatch' | 'stream'
type EventName = 'connect' | 'disconnect' | 'terminate' | 'exception'

/**
 * What the server tells whoever watches the process, under the names `phantom:request`, `phantom:dispatch`, `phantom:stream`
 * (tracing channels) and `phantom:connect`, `phantom:disconnect`, `phantom:terminate`, `phantom:exception` (channels). A
 * channel without subscribers costs a look at it.
 */
export class Telemetry {
  readonly #spans: Partial<Record<SpanName, TracingChannel>> = {}
  readonly #events: Partial<Record<EventName, Channel>> = {}

  constructor() {
    const diagnostics = diagnosticsChannel()
    if (diagnostics === undefined) return
    for (const name of ['request', 'dispatch', 'stream'] as const) {
      this.#spans[name] = diagnostics.tracingChannel(`phantom:${name}`)
    }
    for (const name of ['connect', 'disconnect', 'terminate', 'exception'] as const) {
      this.#events[name] = diagnostics.channel(`phantom:${name}`)
    }
  }

  /** Whether somebody watches these spans. */
  traces(name: SpanName): boolean {
    return this.#spans[name]?.hasSubscribers === true
  }

  /** Runs as a span of that name; `event` gets the result or the error. */
  span<Value>(
    name: SpanName,
    event: DispatchEvent | RequestEvent | StreamOpened,
    run: () => Promise<Value>,
  ): Promise<Value> {
    const channel = this.#spans[name]
    return channel?.hasSubscribers === true ? channel.tracePromise(run, event) : run()
  }

  tell(name: 'connect' | 'disconnect', event: CallerEvent): void
  tell(name: 'terminate', event: TerminateEvent): void
  tell(name: 'exception', event: ExceptionEvent): void
  tell(name: EventName, event: object): void {
    const channel = this.#events[name]
    if (channel?.hasSubscribers === true) channel.publish(event)
  }
}
