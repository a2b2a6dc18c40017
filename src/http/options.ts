import { assertCounts, assertOptions, assertTimes, pick } from '../options.js'
import type { ProtectedResourceOptions } from './protected-resource.js'
import type { Sse2024Options } from './sse-2024-options.js'

/** Which origins a browser may call from: a list (`https://app.example.com`), `'*'`, or a function. */
export type Origins = readonly string[] | '*' | ((origin: string) => boolean)
/** Under which names the server is called: a list (`mcp.example.com`, without port), or `'*'`. */
export type Hosts = readonly string[] | '*'

/** What browsers are told beside the allowed origins. */
export interface CorsOptions {
  /** Request headers beside those of MCP. */
  readonly allowHeaders?: readonly string[]
  /** Answer headers beside those of MCP. */
  readonly exposeHeaders?: readonly string[]
  /** Cookies may be sent; not together with `origins: '*'`. @default false */
  readonly credentials?: boolean
}

/** How MCP is served over HTTP, whatever the host. */
export interface HttpOptions {
  /**
   * Origins that a browser may call from. A request without `Origin` is not from a browser and passes.
   * @default loopback names, and the server's own origin where `hosts` lists it
   */
  readonly origins?: Origins
  /** Names in the `Host` header that are served; protects local servers from DNS rebinding. @default loopback names */
  readonly hosts?: Hosts
  /** Answers browsers from allowed origins; false sends no CORS headers. @default true */
  readonly cors?: boolean | CorsOptions
  /** Bytes of a request's body. @default 1_048_576 */
  readonly maxBodyBytes?: number
  /** Levels of nesting in a request's body. @default 200 */
  readonly maxDepth?: number
  /** Milliseconds after which an unanswered call opens its stream, so that nothing on the way gives up. @default 10_000 */
  readonly streamAfterMs?: number
  /** Milliseconds between two comments on a silent stream. @default 15_000 */
  readonly keepAliveMs?: number
  /** Milliseconds after which a client comes back whose stream we let go (2025-11-25). @default 1_000 */
  readonly retryMs?: number
  /** A second stream of one session is refused, or takes over from the first. @default 'refuse' */
  readonly secondStream?: 'refuse' | 'takeOver'
  /** Serves HTTP+SSE on two paths of its own, for clients of 2024-11-05 that know nothing else. @default false */
  readonly sse2024?: boolean | Sse2024Options
  /** Path that answers 200 while the process lives. @default none */
  readonly healthPath?: string
  /** Path that answers 200 while new calls are taken, 503 once the server is closing. @default none */
  readonly readyPath?: string
  /** Repeats what `withCache` says in `Cache-Control`, for caches that look at HTTP only. @default false */
  readonly cacheHeaders?: boolean
  /** Publishes where callers get their tokens, and fills the challenge of `unauthorized`. */
  readonly protectedResource?: ProtectedResourceOptions
}

export type ResolvedOptions = Required<
  Omit<HttpOptions, 'protectedResource' | 'healthPath' | 'readyPath' | 'sse2024'>
> &
  Pick<HttpOptions, 'healthPath' | 'readyPath'>

const DEFAULTS = {
  cors: true,
  maxBodyBytes: 1_048_576,
  maxDepth: 200,
  streamAfterMs: 10_000,
  keepAliveMs: 15_000,
  retryMs: 1_000,
  cacheHeaders: false,
  secondStream: 'refuse',
} as const

/** A name or IPv4 address, or an IPv6 address in brackets; a port may follow and does not count. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[^/:\s[\]]+)(?::\d+)?$/i
const COUNTS = ['maxBodyBytes', 'maxDepth'] as const
const TIMES = ['streamAfterMs', 'keepAliveMs', 'retryMs'] as const
export const HTTP_OPTIONS: readonly string[] = [
  'origins',
  'hosts',
  'protectedResource',
  'healthPath',
  'readyPath',
  'sse2024',
  ...Object.keys(DEFAULTS),
]
export const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** @throws TypeError that names the option and the mend. */
export function resolveOptions(owner: string, options: HttpOptions): ResolvedOptions {
  assertOptions(owner, options, HTTP_OPTIONS)
  assertCounts(owner, options, COUNTS)
  assertTimes(owner, options, TIMES)
  assertNames(owner, options)
  for (const option of ['healthPath', 'readyPath'] as const) {
    const path = options[option]
    if (path !== undefined && !path.startsWith('/')) throw new TypeError(`${owner}: ${option} must begin with '/'`)
  }
  assertCors(owner, options)
  const second = options.secondStream
  if (second !== undefined && second !== 'refuse' && second !== 'takeOver') {
    throw new TypeError(`${owner}: secondStream must be 'refuse' or 'takeOver', not ${JSON.stringify(second)}`)
  }
  const given = pick(options, HTTP_OPTIONS as (keyof HttpOptions)[])
  const { protectedResource: _resource, sse2024: _sse, ...rest } = given
  return { ...DEFAULTS, hosts: LOOPBACK, origins: [], ...rest }
}

/** The paths of HTTP+SSE; undefined where it is not served. @throws TypeError for what is no path. */
export function sse2024Paths(owner: string, { sse2024 }: HttpOptions): Required<Sse2024Options> | undefined {
  if (sse2024 === undefined || sse2024 === false) return undefined
  const given = sse2024 === true ? {} : sse2024
  assertOptions(`${owner}, sse2024`, given, ['streamPath', 'messagePath'])
  const { streamPath = '/sse', messagePath = '/messages' } = given
  for (const path of [streamPath, messagePath]) {
    if (typeof path !== 'string' || !path.startsWith('/')) {
      throw new TypeError(`${owner}, sse2024: a path must begin with '/', not '${String(path)}'`)
    }
  }
  return { streamPath, messagePath }
}

function assertCors(owner: string, { cors, origins }: HttpOptions): void {
  if (cors === undefined || typeof cors === 'boolean') return
  if (typeof cors !== 'object' || cors === null) {
    throw new TypeError(`${owner}: cors must be true, false or an object, not ${JSON.stringify(cors)}`)
  }
  assertOptions(`${owner}, cors`, cors, ['allowHeaders', 'exposeHeaders', 'credentials'])
  for (const option of ['allowHeaders', 'exposeHeaders'] as const) {
    if (cors[option] !== undefined && !isStrings(cors[option])) {
      throw new TypeError(`${owner}: cors.${option} must be a list of header names`)
    }
  }
  if (cors.credentials === true && origins === '*') {
    throw new TypeError(
      `${owner}: cors.credentials needs a list of origins, since '*' would send cookies from anywhere`,
    )
  }
}

function assertNames(owner: string, { hosts, origins }: HttpOptions): void {
  if (hosts !== undefined && hosts !== '*' && !isStrings(hosts)) {
    throw new TypeError(`${owner}: hosts must be a list of names such as 'mcp.example.com', or '*'`)
  }
  for (const host of Array.isArray(hosts) ? (hosts as readonly string[]) : []) {
    if (HOST.test(host)) continue
    throw new TypeError(
      `${owner}: hosts are names without scheme and path, such as 'mcp.example.com' or '[::1]', not '${host}'`,
    )
  }
  if (origins === undefined || origins === '*' || typeof origins === 'function') return
  if (!isStrings(origins)) throw new TypeError(`${owner}: origins must be a list, a function or '*'`)
  for (const origin of origins) {
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]+$/i.test(origin)) {
      throw new TypeError(`${owner}: origins are of the form 'https://app.example.com', not '${origin}'`)
    }
  }
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
