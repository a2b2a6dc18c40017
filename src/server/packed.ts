import { decodeBase64, encodeBase64 } from '../base64.js'
import { McpError } from '../errors.js'
import { BUILT, type BuiltKind } from '../router/built.js'

// What a handler would return or throw, as JSON for another process: what builders made keeps its mark, and bytes stay bytes.

type Packed =
  | { readonly is: 'nothing' }
  | { readonly is: 'value'; readonly value: unknown }
  | { readonly is: 'bytes'; readonly value: string }
  | { readonly is: 'built'; readonly kind: BuiltKind; readonly value: object }
  | { readonly is: 'list'; readonly items: readonly Packed[]; readonly hints: object }
  | { readonly is: 'error'; readonly error: PackedError }

interface PackedError {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  /** Of an `McpError`. */
  readonly code?: string
  readonly data?: unknown
  readonly cause?: PackedError
}

/** How a call went, elsewhere. */
export type Reply = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: unknown }

/** Results that a handler of some kind may return. */
const ANSWERS: readonly BuiltKind[] = ['tool', 'prompt', 'resource']
/** Causes of causes that are told. */
const MAX_CAUSES = 5

/** @throws TypeError for what no handler may return, and for what JSON cannot hold. */
export function packResult(result: unknown): string {
  return written(packed(result))
}

/** @throws TypeError for `data` that JSON cannot hold. */
export function packError(error: unknown): string {
  return written({ is: 'error', error: packedError(error, MAX_CAUSES) })
}

/** What {@link packResult} and {@link packError} wrote. */
export function unpack(text: string): Reply {
  const reply = JSON.parse(text) as Packed
  return reply.is === 'error'
    ? { ok: false, error: unpackedError(reply.error) }
    : { ok: true, result: unpackedResult(reply) }
}

function written(reply: Packed): string {
  try {
    return JSON.stringify(reply)
  } catch (cause) {
    throw new TypeError('The answer to a deferred call must be something that JSON can hold', { cause })
  }
}

function packed(value: unknown): Packed {
  if (value === undefined) return { is: 'nothing' }
  if (value instanceof Uint8Array) return { is: 'bytes', value: encodeBase64(value) }
  const kind = builtKind(value)
  if (kind !== undefined) return { is: 'built', kind, value: value as object }
  if (!Array.isArray(value)) return { is: 'value', value }
  const { ttlMs, cacheScope } = value as { ttlMs?: unknown; cacheScope?: unknown }
  const plain =
    ttlMs === undefined && !value.some((item) => item instanceof Uint8Array || builtKind(item) !== undefined)
  return plain ? { is: 'value', value } : { is: 'list', items: value.map(packed), hints: { ttlMs, cacheScope } }
}

/** @throws TypeError for what a builder made for another place. */
function builtKind(value: unknown): BuiltKind | undefined {
  const kind = (value as { [BUILT]?: BuiltKind } | null | undefined)?.[BUILT]
  if (kind !== undefined && !ANSWERS.includes(kind)) {
    throw new TypeError(`A deferred call cannot be answered with a ${kind}: give what its handler could have returned`)
  }
  return kind
}

function unpackedResult(reply: Packed): unknown {
  switch (reply.is) {
    case 'value':
      return reply.value
    case 'bytes':
      return decodeBase64(reply.value)
    case 'built':
      return { ...reply.value, [BUILT]: reply.kind }
    case 'list':
      return Object.assign(reply.items.map(unpackedResult), reply.hints)
    default:
      return undefined
  }
}

function packedError(error: unknown, depth: number): PackedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message, stack, cause } = error
  const told = McpError.is(error) ? { code: error.code, data: error.data } : {}
  const because = cause === undefined || depth === 0 ? {} : { cause: packedError(cause, depth - 1) }
  return { name, message, stack, ...told, ...because }
}

function unpackedError({ name, message, stack, code, data, cause }: PackedError): Error {
  const because = cause === undefined ? {} : { cause: unpackedError(cause) }
  if (code !== undefined) {
    const told = data === undefined ? {} : { data }
    return new McpError(code as McpError['code'], message, { ...told, ...because })
  }
  const error = new Error(message, because)
  error.name = name
  if (stack !== undefined) error.stack = stack
  return error
}
