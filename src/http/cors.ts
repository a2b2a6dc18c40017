import type { HttpCall, HttpHeaders } from './http-call.js'
import type { CorsOptions, ResolvedOptions } from './options.js'

const ALLOW_HEADERS = [
  'content-type',
  'accept',
  'authorization',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'last-event-id',
]
const EXPOSE_HEADERS = ['mcp-session-id', 'mcp-protocol-version', 'www-authenticate', 'retry-after']
const DAY_SECONDS = 86_400

/** What browsers are told, so that pages of allowed origins can read the answers, errors included (Fetch, CORS protocol). */
export class Cors {
  readonly #anyOrigin: boolean
  readonly #options: CorsOptions
  readonly #enabled: boolean

  constructor({ cors, origins }: ResolvedOptions) {
    this.#enabled = cors !== false
    this.#anyOrigin = origins === '*'
    this.#options = typeof cors === 'object' ? cors : {}
  }

  /** Headers for every answer to a page; undefined for who is not one. The guard has allowed the origin before. */
  answer(call: HttpCall): HttpHeaders | undefined {
    const origin = this.#enabled ? call.headers('origin')[0] : undefined
    if (origin === undefined) return undefined
    return {
      ...this.#origin(origin),
      'access-control-expose-headers': [...EXPOSE_HEADERS, ...(this.#options.exposeHeaders ?? [])].join(', '),
    }
  }

  preflight(call: HttpCall, methods: string): HttpHeaders {
    const origin = this.#enabled ? call.headers('origin')[0] : undefined
    if (origin === undefined) return { allow: methods }
    const asked = call.headers('access-control-request-headers').join(',').split(',')
    const params = asked
      .map((name) => name.trim().toLowerCase())
      .filter((name) => /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
    return {
      allow: methods,
      ...this.#origin(origin),
      'access-control-allow-methods': methods,
      'access-control-allow-headers': [...ALLOW_HEADERS, ...(this.#options.allowHeaders ?? []), ...params].join(', '),
      'access-control-max-age': String(DAY_SECONDS),
    }
  }

  #origin(origin: string): HttpHeaders {
    if (this.#anyOrigin) return { 'access-control-allow-origin': '*' }
    const credentials = this.#options.credentials === true ? { 'access-control-allow-credentials': 'true' } : {}
    return { 'access-control-allow-origin': origin, vary: 'Origin', ...credentials }
  }
}
