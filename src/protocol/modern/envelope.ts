import type { Failure } from '../../errors.js'
import { isObject, type RequestMessage } from '../jsonrpc.js'
import { type ClientCapabilities, type Implementation, isLogLevel, type Json, type LogLevel, metaOf } from '../model.js'
import { isStatelessVersion, STATELESS_VERSIONS } from '../versions.js'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** What one request says of its sender (2026-07-28 basic, `_meta`). */
export interface Envelope {
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly logLevel: LogLevel | undefined
}

/** The version that a message claims to be of, whatever it is; undefined for one that claims none. */
export function claimedVersion(params: Readonly<Record<string, unknown>>): unknown {
  return metaOf(params)?.[VERSION]
}

/** True for messages that are to be read by this era's rules, even if only to be refused. */
export function isEnveloped(params: Readonly<Record<string, unknown>>): boolean {
  const meta = metaOf(params)
  return meta !== undefined && Object.hasOwn(meta, VERSION)
}

/** Checks version first and completeness then: a client of a newer revision may have changed the rest. */
export function readEnvelope(request: RequestMessage): Envelope | Failure {
  const meta = request.params['_meta']
  if (meta !== undefined && !isObject(meta)) return invalid('_meta', 'must be an object')
  const fields: Json = meta ?? {}
  const version = fields[VERSION]
  if (typeof version !== 'string') return invalid(VERSION, 'is required in _meta')
  if (!isStatelessVersion(version)) return unsupportedVersion(version)
  const capabilities = fields[CAPABILITIES]
  if (!isObject(capabilities)) return invalid(CAPABILITIES, 'is required in _meta and must be an object')
  const level = fields[LOG_LEVEL]
  if (level !== undefined && !isLogLevel(level)) return invalid(LOG_LEVEL, 'is not a log level')
  return { clientInfo: clientInfoOf(fields), clientCapabilities: capabilities, logLevel: level }
}

function unsupportedVersion(requested: string): Failure {
  const data = { supported: [...STATELESS_VERSIONS], requested }
  return { code: 'UNSUPPORTED_PROTOCOL_VERSION', message: 'Unsupported protocol version', data }
}

/** The client's name is for logs only, so one that cannot be read is left out instead of refused. */
function clientInfoOf(meta: Json): Implementation | undefined {
  const info = meta[CLIENT_INFO]
  return isObject(info) && typeof info['name'] === 'string' ? (info as unknown as Implementation) : undefined
}

function invalid(field: string, reason: string): Failure {
  return { code: 'INVALID_PARAMS', message: `${field} ${reason}`, data: { field, reason } }
}
