import type { ErrorCode } from '../errors.js'

type Numbers = Readonly<Record<ErrorCode, number>>

const SHARED = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  TASK_EXPIRED: -32602,
  INTERNAL_ERROR: -32603,
} as const

/** 2026-07-28 basic, Error Codes: a missing resource is a bad parameter, and three codes are the specification's own. */
export const STATELESS_NUMBERS: Numbers = {
  ...SHARED,
  RESOURCE_NOT_FOUND: -32602,
  HEADER_MISMATCH: -32020,
  MISSING_CLIENT_CAPABILITY: -32021,
  UNSUPPORTED_PROTOCOL_VERSION: -32022,
  // It was replaced by rounds, and must not be seen here.
  URL_ELICITATION_REQUIRED: -32602,
}

/** Up to 2025-11-25. The newer codes must not be seen here: clients take them as the mark of a 2026-07-28 server. */
export const SESSION_NUMBERS: Numbers = {
  ...SHARED,
  RESOURCE_NOT_FOUND: -32002,
  HEADER_MISMATCH: -32600,
  MISSING_CLIENT_CAPABILITY: -32602,
  UNSUPPORTED_PROTOCOL_VERSION: -32602,
  // 2025-11-25 client/elicitation; earlier versions have no URLs to ask for.
  URL_ELICITATION_REQUIRED: -32042,
}
