import type { Failure } from '../errors.js'
import { isObject, isRequestId, type RequestId } from './jsonrpc.js'

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure; readonly id: RequestId | undefined }

const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Text from a client becomes a value. `maxDepth` bounds the nesting before anything walks the value: what parses without
 * recursion would still overflow the stack of the first function that recurses.
 */
export function parseJson(text: string, maxDepth: number): ParsedJson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { ok: false, failure: { code: 'PARSE_ERROR', message: 'The message is not valid JSON' }, id: undefined }
  }
  // Each level takes two characters at least.
  if (text.length <= 2 * maxDepth || !isDeeper(text, maxDepth)) return { ok: true, value }
  return tooDeep(value, maxDepth)
}

/** The same bound for a value that somebody else has parsed: its text is gone, so the value itself is walked, level by level. */
export function boundDepth(value: unknown, maxDepth: number): ParsedJson {
  let level = [value].filter(isNested)
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return tooDeep(value, maxDepth)
    level = level.flatMap((item) => Object.values(item)).filter(isNested)
  }
  return { ok: true, value }
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

function tooDeep(value: unknown, maxDepth: number): ParsedJson {
  const id = isObject(value) && isRequestId(value['id']) ? value['id'] : undefined
  const message = `The message is nested more than ${maxDepth} levels deep`
  return {
    ok: false,
    failure: { code: 'INVALID_REQUEST', message, data: { reason: 'too_deep', option: 'maxDepth' } },
    id,
  }
}

/** Scans valid JSON text; brackets inside strings do not count. */
function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at + 1)
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > maxDepth) return true
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--
        break
    }
  }
  return false
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start)
  while (end > 0 && isEscaped(text, end, start)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** A quote behind an odd number of backslashes does not end its string. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let slashes = 0
  for (let at = quote - 1; at >= start && text.charCodeAt(at) === BACKSLASH; at--) slashes++
  return slashes % 2 === 1
}
