import type { RequestId } from '../protocol/jsonrpc.js'
import type {
  ClientCapabilities,
  Implementation,
  LogLevel,
  ProgressToken,
  ResourceContents,
  TraceContext,
} from '../protocol/model.js'
import type { Asking } from './asked.js'
import type { Deferred, ProgressRef } from './deferred.js'

/** The request that is being served. */
export interface CallFacts {
  /** The client's own id: unique only among its running requests. */
  readonly id: RequestId
  /** The method as the client wrote it, `tools/call`. */
  readonly method: string
  /** The tool, prompt or resource URI that it names, where it names one. */
  readonly name: string | undefined
}

/** Logs to the client, as its level allows. `data` is any JSON value; `logger` names the part of your server that speaks, `server` unless given. */
export type SessionLog = Readonly<Record<LogLevel, (data: unknown, logger?: string) => Promise<void>>>

/** What an allow-list can be of. */
export type Visible = 'tools' | 'prompts' | 'resourceTemplates'

/** Who is about to be let in: what `connect` gets, fills and gives back. */
export interface Connecting<Assigns extends object = object> {
  /** The session's id where the version has sessions and the client has one already. */
  readonly id: string | undefined
  /** What `assign` has put there, the same shape for every handler. */
  readonly assigns: Assigns
  /** Keeps values for the handlers; they are found in `session.assigns`. */
  assign<More extends object>(values: More): Connecting<Merged<Assigns, More>>
  /** @internal Whether an allow-list leaves it there. */
  sees(what: Visible, name: string): boolean
  /** From here on only these tools are there for the caller; `[]` hides all. */
  allowTools(names: readonly string[]): this
  /** From here on only these prompts are there for the caller; `[]` hides all. */
  allowPrompts(names: readonly string[]): this
  /** From here on only these resources and templates, by name, are there for the caller; `[]` hides all. */
  allowResourceTemplates(names: readonly string[]): this
}

/** What is known of a request before it is a call; empty on stdio. */
export interface ConnectRequest {
  readonly headers: {
    /** The value of a header, several joined by commas; null without it. */
    get(name: string): string | null
  }
  readonly url: string
  readonly query: URLSearchParams
  /** Address of the peer, where it is known. */
  readonly remote: string | undefined
}

/** What was assigned before with what is assigned now. */
export type Merged<Old, New> = { [Key in keyof (Omit<Old, keyof New> & New)]: (Omit<Old, keyof New> & New)[Key] }

/**
 * Who is calling, in every protocol version, and the way back to them while their call runs. Every handler gets one as its
 * second argument; it is made for the call and must not be kept.
 */
export interface Session<Assigns extends object = object> extends Connecting<Assigns>, Asking {
  readonly protocolVersion: string
  /** The caller's name as the router's `principal` gave it; null where callers are not told apart. */
  readonly principal: string | null
  /** What the client calls itself: for logs, never for decisions. */
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
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
  assign<More extends object>(values: More): Session<Merged<Assigns, More>>
  /**
   * Tells the client how far the call is. Does nothing when the client did not ask, or when `progress` has not grown.
   * Resolves when the client's connection took the message, so that awaiting it paces a fast loop.
   */
  notifyProgress(progress: number, total?: number, message?: string): Promise<void>
  /**
   * A name for the progress of this call that other processes can use: `server.notifyProgress(ref, …)`. Null when the client
   * did not ask.
   */
  progressRef(): ProgressRef | null
  /**
   * Lets the answer come later, from anywhere: return what this gives from the handler of a tool, prompt or resource, and hand its
   * `ref` to whoever calls `server.respond(ref, result)`, within `deferMs`.
   */
  defer(): Deferred
  /** Sends a notification of your own on this call's stream. */
  notify(method: string, params?: object): Promise<void>
  /** Sets the least level that `log` sends: for this call, or the rest of the session where the version says so. */
  setLogLevel(level: LogLevel): void
  /** From here on the session is told when the resource changes, where the version has sessions. */
  subscribe(uri: string): void
  /** From here on the session is not told of the resource any more. */
  unsubscribe(uri: string): void
  /**
   * Asks the client whether it is there, which keeps the connection of this call alive; nobody waits for the answer. In 2026-07-28 it is a
   * comment on the stream of the call over HTTP, and nothing on stdio.
   */
  ping(): Promise<void>
  /**
   * Lets the connection of this call go, for a client that comes back for the rest (2025-11-25). The handler runs on, and its
   * result waits in the call's log. Ends a `subscriptions/listen`, seen from middleware; elsewhere it does nothing.
   */
  finish(): Promise<void>
  /**
   * Reads a resource of this router by its name, as the client would, and gives its first contents.
   *
   * @throws McpError `INVALID_PARAMS` for an unknown name, `RESOURCE_NOT_FOUND` where the handler has nothing.
   * @throws TypeError when `params` do not fit the resource's pattern.
   */
  readResource(name: string, params?: Readonly<Record<string, unknown>>): Promise<ResourceContents>
}
