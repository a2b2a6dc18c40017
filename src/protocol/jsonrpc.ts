import type { Failure } from '../errors.js'
import { type Body, type EncodedResult, PageMessage, type Params } from './model.js'

export type { Params }

/** A JSON-RPC id: a string or an integer, never null (2026-07-28 basic, Requests). */
export type RequestId = string | number

export interface RequestMessage {
  readonly kind: 'request'
  readonly id: RequestId
  readonly method: string
  readonly params: Params
}
export interface NotificationMessage {
  readonly kind: 'notification'
  readonly method: string
  readonly params: Params
}
export interface ResponseMessage {
  readonly kind: 'response'
  readonly id: RequestId | undefined
  readonly result: unknown
  readonly error: unknown
}
export interface InvalidMessage {
  readonly kind: 'invalid'
  /** The id to answer with, when it could be read. */
  readonly id: RequestId | undefined
  readonly failure: Failure
}
export type Message = RequestMessage | NotificationMessage | ResponseMessage | InvalidMessage

const NO_PARAMS: Params = Object.freeze({})

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Integers beyond 2^53 would come back changed, so they are refused like fractions. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

const invalid = (id: unknown, message: string, code: Failure['code'] = 'INVALID_REQUEST'): InvalidMessage => ({
  kind: 'invalid',
  id: isRequestId(id) ? id : undefined,
  failure: { code, message },
})

/** Sorts one parsed JSON value into what JSON-RPC 2.0 knows. Never throws. */
export function parseMessage(value: unknown): Message {
  if (!isObject(value)) return invalid(undefined, 'A message must be a JSON object')
  const { jsonrpc, id, method } = value
  if (jsonrpc !== '2.0') return invalid(id, 'jsonrpc must be "2.0"')
  const hasId = Object.hasOwn(value, 'id')
  if (!Object.hasOwn(value, 'method')) return parseResponse(value, hasId)
  if (typeof method !== 'string') return invalid(id, 'method must be a string')
  if (hasId && !isRequestId(id)) return invalid(undefined, 'id must be a string or an integer')
  const params = value['params'] === undefined ? NO_PARAMS : value['params']
  if (!isObject(params)) return invalid(id, 'params must be an object', 'INVALID_PARAMS')
  return hasId ? { kind: 'request', id: id as RequestId, method, params } : { kind: 'notification', method, params }
}

function parseResponse(value: Record<string, unknown>, hasId: boolean): Message {
  const { id, result, error } = value
  const answers = Object.hasOwn(value, 'result') !== Object.hasOwn(value, 'error')
  if (!answers) return invalid(id, 'A message needs a method, a result or an error')
  if (hasId && id !== null && !isRequestId(id)) return invalid(undefined, 'id must be a string or an integer')
  return { kind: 'response', id: isRequestId(id) ? id : undefined, result, error }
}

/** `result` is JSON already: the envelope is written around it. */
export function resultMessage(id: RequestId, result: EncodedResult): Body {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
  return typeof result === 'string' ? `${head}${result}}` : new PageMessage(head, result, '}')
}

/** `id` as JSON text (`null` where the era wants one), or undefined to leave it out. */
export function errorMessage(id: string | undefined, error: { code: number; message: string; data?: unknown }): string {
  const body = JSON.stringify(error)
  return id === undefined ? `{"jsonrpc":"2.0","error":${body}}` : `{"jsonrpc":"2.0","id":${id},"error":${body}}`
}

export function requestMessage(id: RequestId, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

export function notificationMessage(method: string, params?: object): string {
  return JSON.stringify(params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params })
}

/** Asks the client whether it is there (2025-11-25 basic/utilities/ping); whatever it answers means yes. */
export function pingMessage(id: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: `ping-${id}`, method: 'ping' })
}
