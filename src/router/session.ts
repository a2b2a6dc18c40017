import type { RequestId } from '../protocol/jsonrpc.js'
import type {
  ClientCapabilities,
  Implementation,
  LogLevel,
  ProgressToken,
  ResourceContents,
  TraceContext,
} from '../protocol/model.js'

/** The request that is being served. */
export interface CallFacts {
  /** The client's own id: unique only among its running requests. */
  readonly id: RequestId
  /** The method as the client wrote it, `tools/call`. */
  readonly method: string
  /** The tool, prompt or resource URI that it names, where it names one. */
  readonly name: string | undefined
}

/** Logs to the client, as its level allows; `data` is any JSON value, `logger` names the part of your server that speaks. */
export type SessionLog = Readonly<Record<LogLevel, (data: unknown, logger?: string) => Promise<void>>>

/**
 * Who is calling, in every protocol version, and the way back to them while their call runs. Every handler gets one as its
 * second argument; it is made for the call and must not be kept.
 */
export interface Session<Assigns extends object = object> {
  /** The session's id where the version has sessions and the transport issues ids. */
  readonly id: string | undefined
  readonly protocolVersion: string
  /** What the client calls itself: for logs, never for decisions. */
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  /** What `assign` has put there, the same shape for every handler. */
  readonly assigns: Assigns
  /** The request's parameters as they came. */
  readonly params: Readonly<Record<string, unknown>>
  readonly call: CallFacts
  /** Set when the client wants to hear of progress; zero and the empty string count. */
  readonly progressToken: ProgressToken | undefined
  /** Aborted when the client cancels, or hangs up where that means the same. Give it to what takes time. */
  readonly signal: AbortSignal
  /** True where each request stands alone and nothing is remembered between two. */
  readonly stateless: boolean
  /** The client's trace context: hand it to a tracer, trust nothing in it. */
  readonly trace: TraceContext
  readonly log: SessionLog
  /** Keeps values for the handlers of this call. */
  assign<More extends object>(values: More): Session<Omit<Assigns, keyof More> & More>
  /**
   * Tells the client how far the call is. Does nothing when the client did not ask, or when `progress` has not grown.
   * Resolves when the client's connection took the message, so that awaiting it paces a fast loop.
   */
  notifyProgress(progress: number, total?: number, message?: string): Promise<void>
  /** Sends a notification of your own on this call's stream. */
  notify(method: string, params?: object): Promise<void>
  /** Sets the least level that `log` sends: for this call, or the rest of the session where the version says so. */
  setLogLevel(level: LogLevel): void
  /**
   * Reads a resource of this router by its name, as the client would, and gives its first contents.
   *
   * @throws McpError `INVALID_PARAMS` for an unknown name, `RESOURCE_NOT_FOUND` where the handler has nothing.
   * @throws TypeError when `params` do not fit the resource's pattern.
   */
  readResource(name: string, params?: Readonly<Record<string, unknown>>): Promise<ResourceContents>
}
