import type { Failure } from '../errors.js'
import { isObject } from '../protocol/jsonrpc.js'

/** 2026-07-28 basic/transports/streamable-http, Errors: the status of a failure that was found before the answer began. */
export function statelessStatus(failure: Failure | undefined): number {
  if (isRetryable(failure)) return 503
  switch (failure?.code) {
    case undefined:
    case 'INVALID_PARAMS':
    case 'RESOURCE_NOT_FOUND':
    case 'INTERNAL_ERROR':
    case 'URL_ELICITATION_REQUIRED':
    case 'TASK_EXPIRED':
      return 200
    case 'METHOD_NOT_FOUND':
      return 404
    default:
      return 400
  }
}

/** Up to 2025-11-25 errors of a request travel in band; only what is no request is refused by status. */
export function sessionStatus(failure: Failure | undefined): number {
  if (isRetryable(failure)) return 503
  return failure?.code === 'INVALID_REQUEST' || failure?.code === 'PARSE_ERROR' ? 400 : 200
}

/** The same request may succeed a little later, here or on another node. */
export function isRetryable(failure: Failure | undefined): boolean {
  return isObject(failure?.data) && failure.data['retryable'] === true
}

const RETRY_SECONDS = 5

/** When to come back: what the failure says, or else a moment later. */
export function retryHeaders(failure: Failure | undefined): Readonly<Record<string, string>> {
  const ms = isObject(failure?.data) ? failure.data['retryAfterMs'] : undefined
  return { 'retry-after': String(typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1000)) : RETRY_SECONDS) }
}
