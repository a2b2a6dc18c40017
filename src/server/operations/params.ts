import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'

type Members = Readonly<Record<string, unknown>>

/** @throws McpError `INVALID_PARAMS` when the member is not a string. */
export function stringParam(params: Members, member: string): string {
  const value = params[member]
  if (typeof value !== 'string') throw new McpError('INVALID_PARAMS', `params.${member} must be a string`)
  return value
}

/** A member that may be left out. @throws McpError `INVALID_PARAMS` when it is there and not an object. */
export function objectParam(params: Members, member: string): Members {
  const value = params[member]
  if (value === undefined) return {}
  if (!isObject(value)) throw new McpError('INVALID_PARAMS', `params.${member} must be an object`)
  return value
}
