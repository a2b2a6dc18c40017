import { type Failure, McpError, toFailure } from '../../errors.js'
import type { Result } from '../../protocol/model.js'
import { InputRequiredResult } from './input-required-result.js'

/** How a round was moved on, as JSON: with a result or a further round, or with an error. */
export type Moved =
  | { readonly result: object }
  | { readonly round: InputRequiredResult }
  | { readonly failure: Failure }

export function toMoved(result: object): Moved {
  return result instanceof InputRequiredResult ? { round: result } : { result }
}

/** The failure as its client sees it; `report` gets what the client does not see. */
export function toFailed(error: unknown, report: (error: unknown) => void): Moved {
  return { failure: toFailure(error, report) }
}

/** @throws McpError for a failure. */
export function unwrap(moved: Moved): Result {
  if ('result' in moved) return moved.result
  if ('round' in moved) return new InputRequiredResult(moved.round)
  const { code, message, data } = moved.failure
  throw new McpError(code, message, { data })
}

/** The client may try again: nobody knows what came of its call. */
export function nodeDied(): McpError {
  const data = { reason: 'node_died', retryable: true }
  return new McpError('INTERNAL_ERROR', 'The node that served this call is gone: try again', { data })
}

/** The client did not read as fast as it was told, on its way from another node; what came of its call is kept for it. */
export function toldTooMuch(): McpError {
  const data = { reason: 'told_too_much', retryable: true }
  return new McpError('INTERNAL_ERROR', 'Some of what this call told was lost on its way: try again for its result', {
    data,
  })
}
