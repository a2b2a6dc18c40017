/** An open answer that is written piece by piece. */
export interface HttpStream {
  /** False when the connection is full: wait for {@link drained} before more is written. Writing to a closed one does nothing. */
  write(chunk: string): boolean
  /** Resolves when there is room again, or the client is gone. */
  drained(): Promise<void>
  /** Ends the connection at once; what has not been read is lost. */
  cut(): void
  /** Ends the answer; nothing happens the second time. */
  end(): void
}

/** The whole of an answer: text, or pieces of it that are sent one behind the other, text as UTF-8. */
export type HttpBody = string | readonly (string | Uint8Array)[]

/** Headers of an answer, names in lower case. */
export type HttpHeaders = Readonly<Record<string, string>>

/**
 * One HTTP request and its answer, as a host gives it. Implement it to serve MCP where `phantom-mcp/node` and
 * `phantom-mcp/fetch` do not fit, and hand it to `httpEndpoint`. It holds no rule of the protocol.
 */
export interface HttpCall {
  readonly method: string
  /** Path of the URL, without the query. */
  readonly path: string
  /** The whole URL as the client wrote it, or its path and query where the host does not know more. */
  readonly url: string
  /** Address of the peer, where it is known. */
  readonly remote: string | undefined
  /** Every value of a header, `name` in lower case: two different ones can be told apart. */
  headers(name: string): readonly string[]
  /** The whole body, or what an earlier body parser made of it. @throws BodyTooLarge once more than `limit` bytes came. */
  body(limit: number): Promise<Uint8Array | { readonly parsed: unknown }>
  /** True when the client has hung up before it had its answer. */
  readonly closed: boolean
  /** Calls back once when that happens, at once when it already has. */
  onClosed(listener: () => void): void
  /** Answers and ends; header names in lower case, `content-length` is the host's. */
  reply(status: number, headers: HttpHeaders, body?: HttpBody): void
  /** Sends the status and headers at once and leaves the answer open. */
  stream(status: number, headers: HttpHeaders): HttpStream
}

/** What {@link HttpCall.body} rejects with when the client sends more than it may. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}
