import type { Failure } from '../errors.js'

/** 2026-07-28 basic/transports/streamable-http, Errors: the status of a failure that was found before the answer began. */
export function statelessStatus(failure: Failure | undefined): number {
  switch (failure?.code) {
    case undefined:
    case 'INVALID_PARAMS':
    case 'RESOURCE_NOT_FOUND':
    case 'INTERNAL_ERROR':
      return 200
    case 'METHOD_NOT_FOUND':
      return 404
    default:
      return 400
  }
}

/** Up to 2025-11-25 errors of a request travel in band; only what is no request is refused by status. */
export function sessionStatus(failure: Failure | undefined): number {
  return failure?.code === 'INVALID_REQUEST' || failure?.code === 'PARSE_ERROR' ? 400 : 200
}
