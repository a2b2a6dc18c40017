import type { Codec, Method } from '../codec.js'
import { STATELESS_NUMBERS } from '../error-numbers.js'
import { isObject } from '../jsonrpc.js'
import { type EncodedResult, type Result, SerializedResult } from '../model.js'
import { METHODS } from './methods.js'

/** `_meta` key of the server's name and version (2026-07-28 basic, `_meta`). */
const SERVER_INFO = '"io.modelcontextprotocol/serverInfo"'
/** Characters from which on a page is worth being sent in pieces. */
const LARGE = 16_384
/** Caching is the application's word; without it nothing may be kept (2026-07-28 server/utilities/caching). */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const

/** The codec of 2026-07-28. */
export const modernCodec: Codec = {
  version: '2026-07-28',
  methods: METHODS,
  batches: false,
  stateless: true,
  asks: 'round',
  argumentFailure: 'result',
  logScope: 'call',
  // 2026-07-28 server/utilities/logging: nothing is sent to who did not ask.
  defaultLogLevel: undefined,
  resumable: false,
  primesStreams: false,
  hangUpCancels: true,
  unknownId: undefined,
  progressMessage: true,
  errorNumber: (code) => STATELESS_NUMBERS[code],
  project: (_kind, item) => item,
  encodeResult,
  encodeQuestion: (_method, params) => params,
}

/** The members that every result has are written behind the handler's own: its JSON is not parsed or copied again. */
function encodeResult(method: Method, result: Result, serverInfo: string | undefined): EncodedResult {
  if (result instanceof SerializedResult) {
    const members = tail(method, true, serverInfo)
    return result.json.length < LARGE ? append(result.json, members) : { page: result, members: `,${members}` }
  }
  const members = result as Readonly<Record<string, unknown>>
  if (isPlain(members)) return append(JSON.stringify(members), tail(method, true, serverInfo))
  const complete = members['resultType'] === undefined || members['resultType'] === 'complete'
  const { ttlMs, cacheScope, _meta, ...rest } = members
  const hints =
    complete && method.cacheable
      ? { ttlMs: ttlMs ?? UNCACHED.ttlMs, cacheScope: cacheScope ?? UNCACHED.cacheScope }
      : isForeign(method, members['resultType'])
        ? { ttlMs, cacheScope }
        : {}
  const typed = { ...rest, resultType: members['resultType'] ?? 'complete', ...hints }
  const own = JSON.stringify(isObject(_meta) ? _meta : {})
  const meta = serverInfo === undefined ? own : append(own, `${SERVER_INFO}:${serverInfo}`)
  return append(JSON.stringify(typed), `"_meta":${meta}`)
}

/** The result is an extension's, and so are members that are called like the hints. */
function isForeign(method: Method, resultType: unknown): boolean {
  return method.operation === 'extension' || ![undefined, 'complete', 'input_required'].includes(resultType as string)
}

const OWN_MEMBERS = ['_meta', 'resultType', 'ttlMs', 'cacheScope']

function isPlain(members: Readonly<Record<string, unknown>>): boolean {
  return !OWN_MEMBERS.some((member) => members[member] !== undefined)
}

function tail(method: Method, complete: boolean, serverInfo: string | undefined): string {
  const hints = complete && method.cacheable ? `"ttlMs":${UNCACHED.ttlMs},"cacheScope":"${UNCACHED.cacheScope}",` : ''
  const meta = serverInfo === undefined ? '{}' : `{${SERVER_INFO}:${serverInfo}}`
  return `"resultType":"complete",${hints}"_meta":${meta}`
}

function append(json: string, members: string): string {
  return json === '{}' ? `{${members}}` : `${json.slice(0, -1)},${members}}`
}
