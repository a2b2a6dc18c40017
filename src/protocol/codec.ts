import type { ErrorCode, Failure } from '../errors.js'
import type { EncodedResult, Json, LogLevel, Result } from './model.js'
import type { ProtocolVersion } from './versions.js'

/** What the server can do, in words that no version changes. A version offers an operation under a method name. */
export type Operation =
  | 'initialize'
  | 'discover'
  | 'ping'
  | 'set-log-level'
  | 'list-tools'
  | 'call-tool'
  | 'list-prompts'
  | 'get-prompt'
  | 'list-resources'
  | 'list-resource-templates'
  | 'read-resource'
  | 'complete'
  | 'subscribe'
  | 'unsubscribe'
  | 'listen'
  | 'extension'

/** One row of a version's method table. A method without a row does not exist in that version. */
export interface Method {
  readonly operation: Operation
  /** The result tells how long it may be kept (2026-07-28 server/utilities/caching). */
  readonly cacheable?: true
  /** It is answered only when one side ends it. */
  readonly open?: true
  /** The parameter that the `Mcp-Name` header repeats (2026-07-28 basic/transports/streamable-http). */
  readonly mirrors?: string
}

/** What is projected to a version: members that it lacks are left out. */
export type Projected =
  | 'implementation'
  | 'capabilities'
  | 'tool'
  | 'prompt'
  | 'promptArgument'
  | 'resource'
  | 'resourceTemplate'
  | 'content'
  | 'contents'

/**
 * One protocol version, as the server sees it: which methods there are, how results and errors read on the wire, and what
 * the version does differently above the wire, as data.
 */
export interface Codec {
  readonly version: ProtocolVersion
  readonly methods: ReadonlyMap<string, Method>
  /** Arrays of messages are accepted (2025-03-26 only). */
  readonly batches: boolean
  /** Each request says who asks; otherwise `initialize` said it for the whole session. */
  readonly stateless: boolean
  /** How a question to the client travels: a request of ours, or a round of the call. */
  readonly asks: 'request' | 'round'
  /** Arguments that do not fit their schema: a result that the model reads, or a protocol error. */
  readonly argumentFailure: 'result' | 'error'
  /** Who sets the log level: each call, or the session for all that follow. */
  readonly logScope: 'call' | 'session'
  /** What is sent of the log before the client has said a level. */
  readonly defaultLogLevel: LogLevel | undefined
  /** A stream's events have ids, and a client may come back for what it missed. */
  readonly resumable: boolean
  /** A stream begins with an event that only tells its id (2025-11-25 basic/transports). */
  readonly primesStreams: boolean
  /** A client that hangs up has cancelled its call. */
  readonly hangUpCancels: boolean
  /** The id of an error whose request could not be read, as JSON text; undefined leaves it out. */
  readonly unknownId: string | undefined
  /** `message` of a progress notification exists. */
  readonly progressMessage: boolean
  errorNumber(code: ErrorCode): number
  /** Drops what the version lacks from the richest form; blocks that it lacks become text. */
  project<Item extends object>(kind: Projected, item: Item): object
  /**
   * The members that a result of `method` has in this version, as JSON text; `serverInfo` is JSON too. Throws where JSON cannot hold the result.
   */
  encodeResult(method: Method, result: Result, serverInfo: string | undefined): EncodedResult
  /**
   * The parameters that a question to the client has in this version; undefined where the version cannot ask it. `id` names
   * the question where the version wants it named.
   */
  encodeQuestion(method: string, params: Json, id: string): Json | undefined
}

/** The wire form of a failure in one version. */
export function encodeFailure(codec: Codec, failure: Failure): { code: number; message: string; data?: unknown } {
  const { code, message, data } = failure
  return data === undefined
    ? { code: codec.errorNumber(code), message }
    : { code: codec.errorNumber(code), message, data }
}
