import type { Codec, Method } from '../codec.js'
import { SESSION_NUMBERS } from '../error-numbers.js'
import { isObject } from '../jsonrpc.js'
import { SerializedResult } from '../model.js'
import { SESSION_VERSIONS, type SessionVersion } from '../versions.js'
import { STRUCTURED_CONTENT_SINCE } from './gates.js'
import { METHODS } from './methods.js'
import { Projection } from './project.js'
import { QuestionEncoding } from './questions.js'

type Members = Readonly<Record<string, unknown>>

function sessionCodec(version: SessionVersion): Codec {
  const projection = new Projection(version)
  const encoding = new ResultEncoding(version, projection)
  const questions = new QuestionEncoding(version, projection)
  return {
    version,
    methods: METHODS,
    batches: version === '2025-03-26',
    stateless: false,
    asks: 'request',
    // SEP-1303, in force from 2025-11-25 on: bad arguments are for the model to mend.
    argumentFailure: version >= '2025-11-25' ? 'result' : 'error',
    logScope: 'session',
    defaultLogLevel: 'warning',
    resumable: version >= '2025-03-26',
    primesStreams: version >= '2025-11-25',
    hangUpCancels: false,
    unknownId: 'null',
    progressMessage: version >= '2025-03-26',
    errorNumber: (code) => SESSION_NUMBERS[code],
    project: (kind, item) => projection.project(kind, item as Members),
    encodeResult: (method, result) =>
      result instanceof SerializedResult
        ? { page: result, members: '' }
        : JSON.stringify(encoding.encode(method, result as Members)),
    encodeQuestion: (method, params, id) => questions.encode(method, params, id),
  }
}

/** Results as the version knows them. */
class ResultEncoding {
  readonly #version: SessionVersion
  readonly #projection: Projection

  constructor(version: SessionVersion, projection: Projection) {
    this.#version = version
    this.#projection = projection
  }

  encode(method: Method, result: Members): Members {
    const members = withoutCacheHints(result)
    switch (method.operation) {
      case 'call-tool':
        return this.#toolResult(members)
      case 'get-prompt':
        return { ...members, messages: listOf(members['messages']).map((message) => this.#promptMessage(message)) }
      case 'read-resource':
        return { ...members, contents: this.#projected('contents', members['contents']) }
      default:
        return members
    }
  }

  /** Structured content is an object here; any other value stays in the text block that goes with it. */
  #toolResult(result: Members): Members {
    const { structuredContent, ...rest } = result
    const content = this.#projected('content', result['content'])
    const fits = this.#version >= STRUCTURED_CONTENT_SINCE && isObject(jsonForm(structuredContent))
    return fits ? { ...rest, content, structuredContent } : { ...rest, content }
  }

  #promptMessage(message: Members): Members {
    const { content } = message
    return isObject(content) ? { ...message, content: this.#projection.project('content', content) } : message
  }

  #projected(kind: 'content' | 'contents', list: unknown): readonly Members[] {
    return listOf(list).map((item) => this.#projection.project(kind, item))
  }
}

/** What JSON makes of a value that says so itself, a date for one. */
function jsonForm(value: unknown): unknown {
  const { toJSON } = (value ?? {}) as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (JSON.parse(JSON.stringify(value)) as unknown) : value
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function withoutCacheHints(result: Members): Members {
  if (!Object.hasOwn(result, 'ttlMs') && !Object.hasOwn(result, 'cacheScope')) return result
  const { ttlMs: _ttl, cacheScope: _scope, ...rest } = result
  return rest
}

const CODECS: ReadonlyMap<string, Codec> = new Map(SESSION_VERSIONS.map((version) => [version, sessionCodec(version)]))

/** The codec of a version that begins with `initialize`. */
export function legacyCodec(version: SessionVersion): Codec {
  return CODECS.get(version) as Codec
}
