import { decodeBase64 } from '../base64.js'
import type { Failure } from '../errors.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { MirroredParam } from '../protocol/model.js'
import type { HttpCall } from './http-call.js'

/** A byte order mark is a character of the name here: two names that differ by one are two names. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const SENTINEL = /^=\?base64\?(.*)\?=$/
/** Text that a header carries unencoded, and that cannot be taken for encoded text. */
const PLAIN = /^[!-<>-~](?:[\x20-\x7e]*[!-~])?$/
const VISIBLE = /^[\t\x20-\x7e]*$/
const INTEGER = /^-?\d+(?:\.0+)?$/

/** What a header says, or why it cannot be read. */
type HeaderValue = { readonly value: string | undefined } | { readonly problem: string }

/**
 * One value of a header that repeats a part of the body. Two different ones would be read differently by what stands
 * between client and server, so they are refused (2026-07-28 basic/transports/streamable-http, Value Encoding).
 */
function headerValue(call: HttpCall, header: string): HeaderValue {
  const values = call.headers(header)
  const first = values[0]
  if (first === undefined) return { value: undefined }
  if (values.some((value) => value !== first)) return { problem: 'is there twice with different values' }
  const text = first.replace(/^[ \t]+|[ \t]+$/g, '')
  if (!VISIBLE.test(text)) return { problem: 'has characters that a header cannot carry' }
  const encoded = SENTINEL.exec(text)?.[1]
  return encoded === undefined ? { value: text } : decode(encoded)
}

function decode(encoded: string): HeaderValue {
  const bytes = decodeBase64(encoded)
  if (bytes === undefined) return { problem: 'is not valid Base64' }
  try {
    return { value: UTF8.decode(bytes) }
  } catch {
    return { problem: 'is not UTF-8' }
  }
}

/** A header that has to say what the body says; undefined when it does. */
export function mismatch(call: HttpCall, header: string, expected: string): Failure | undefined {
  const name = header.toLowerCase()
  const values = call.headers(name)
  // What most clients send: the value as it is.
  if (values.length === 1 && values[0] === expected && PLAIN.test(expected)) return undefined
  const read = headerValue(call, name)
  if ('problem' in read) return headerFailure(header, read.problem)
  if (read.value === undefined) return headerFailure(header, 'is missing')
  return read.value === expected ? undefined : headerFailure(header, 'does not say what the body says')
}

/** Whether a header is there and says something else. */
export function contradicts(call: HttpCall, header: string, expected: string): Failure | undefined {
  return call.headers(header.toLowerCase()).length === 0 ? undefined : mismatch(call, header, expected)
}

/** `Mcp-Param-*` against the arguments (2026-07-28 basic/transports/streamable-http, Custom Headers). */
export function paramMismatch(call: HttpCall, params: readonly MirroredParam[], args: unknown): Failure | undefined {
  for (const { header: name, path, type } of params) {
    const header = `Mcp-Param-${name}`
    const value = valueAt(args, path)
    const read = headerValue(call, header.toLowerCase())
    if ('problem' in read) return headerFailure(header, read.problem)
    if (value === undefined || value === null) {
      if (read.value !== undefined) return headerFailure(header, 'is there, but the argument is not')
    } else if (read.value === undefined) return headerFailure(header, 'is missing')
    else if (!same(read.value, value, type)) return headerFailure(header, 'does not say what the body says')
  }
  return undefined
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}

function same(header: string, value: unknown, type: MirroredParam['type']): boolean {
  if (type === 'integer' && typeof value === 'number') return INTEGER.test(header) && Number(header) === value
  return (
    (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') && header === String(value)
  )
}

function headerFailure(header: string, problem: string): Failure {
  return { code: 'HEADER_MISMATCH', message: `Header ${header} ${problem}`, data: { header } }
}
