import type { Failure } from '../errors.js'
import { boundDepth, type ParsedJson, parseJson } from '../protocol/json.js'
import { BodyTooLarge, type HttpCall } from './http-call.js'
import type { ResolvedOptions } from './options.js'

const DECODER = new TextDecoder('utf-8', { fatal: true })
const NOT_UTF8: Failure = { code: 'PARSE_ERROR', message: 'The body is not valid UTF-8' }

/** The JSON of a body, within its bounds. @throws whatever the host says when the client is gone before all of it came. */
export async function readJson(
  call: HttpCall,
  { maxBodyBytes, maxDepth }: ResolvedOptions,
): Promise<ParsedJson | 'too-large'> {
  let body: Uint8Array | { readonly parsed: unknown }
  try {
    body = await call.body(maxBodyBytes)
  } catch (error) {
    if (error instanceof BodyTooLarge) return 'too-large'
    throw error
  }
  return 'parsed' in body ? boundDepth(body.parsed, maxDepth) : parseText(body, maxDepth)
}

function parseText(bytes: Uint8Array, maxDepth: number): ParsedJson {
  let text: string
  try {
    text = DECODER.decode(bytes)
  } catch {
    return { ok: false, failure: NOT_UTF8, id: undefined }
  }
  return parseJson(text, maxDepth)
}
