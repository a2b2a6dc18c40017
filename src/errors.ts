/** Every name that {@link McpError} takes. A list, since a name that is not on it must not reach a client. */
const ERROR_CODES = [
  'PARSE_ERROR',
  'INVALID_REQUEST',
  'METHOD_NOT_FOUND',
  'INVALID_PARAMS',
  'INTERNAL_ERROR',
  'RESOURCE_NOT_FOUND',
  'HEADER_MISMATCH',
  'MISSING_CLIENT_CAPABILITY',
  'UNSUPPORTED_PROTOCOL_VERSION',
  'URL_ELICITATION_REQUIRED',
  'TASK_EXPIRED',
] as const

/**
 * What went wrong, by name. The number that a client sees is the codec's business: one name can have another number in
 * another protocol version (`RESOURCE_NOT_FOUND`).
 */
export type ErrorCode = (typeof ERROR_CODES)[number]

function isErrorCode(value: unknown): value is ErrorCode {
  return (ERROR_CODES as readonly unknown[]).includes(value)
}

/** An error on its way to a client: nothing in it but what the client may see. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly data?: unknown
}

/** Options of {@link McpError}: `data` is sent to the client, `cause` is kept for the operator. */
export interface McpErrorOptions {
  readonly data?: unknown
  readonly cause?: unknown
}

/**
 * The one error that reaches a client as it is: code, message and `data` are sent, `cause` never is. Throw it from a
 * handler, a middleware or a callback when the request cannot be served; use `Tool.error` for what the model should read.
 * Anything else that is thrown is answered as `Internal error` and reported to `onError`.
 *
 * @throws TypeError for a code that is none.
 *
 * @example
 * throw new McpError('INVALID_PARAMS', 'The study is archived', { data: { study: id } })
 */
export class McpError extends Error implements Failure {
  override readonly name = 'McpError'
  readonly code: ErrorCode
  readonly data?: unknown

  constructor(code: ErrorCode, message: string, options: McpErrorOptions = {}) {
    if (!isErrorCode(code))
      throw new TypeError(`McpError: unknown code '${String(code)}'; known are ${ERROR_CODES.join(', ')}`)
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    if (options.data !== undefined) this.data = options.data
  }

  /**
   * Recognises an `McpError` by name too, so that two installed copies of the package agree. Other libraries have errors of
   * that name; the codes tell them apart.
   */
  static is(value: unknown): value is McpError {
    try {
      if (!(value instanceof Error) || value.name !== 'McpError') return false
      return isErrorCode((value as Partial<McpError>).code)
    } catch {
      // Anything can be thrown, also what must not be looked at.
      return false
    }
  }
}

/** What a client is told when something else than an {@link McpError} was thrown. */
export const INTERNAL_FAILURE: Failure = { code: 'INTERNAL_ERROR', message: 'Internal error' }

/** The one place where a thrown value becomes an error for the wire; `report` gets what the client does not see. */
export function toFailure(thrown: unknown, report: (thrown: unknown) => void): Failure {
  if (!McpError.is(thrown)) {
    report(thrown)
    return INTERNAL_FAILURE
  }
  if (thrown.cause !== undefined) report(thrown)
  return thrown.data === undefined
    ? { code: thrown.code, message: thrown.message }
    : { code: thrown.code, message: thrown.message, data: thrown.data }
}
