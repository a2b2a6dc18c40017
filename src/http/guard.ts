import type { HttpCall } from './http-call.js'
import { LOOPBACK, type ResolvedOptions } from './options.js'
import { type Refusal, refusal } from './refusal.js'

/** Headers that decide who is served, and how. */
const ONCE = ['host', 'mcp-session-id'] as const

/** The name in a `Host` header, without its port. */
function hostName(host: string): string {
  const port = host.startsWith('[') ? host.indexOf(':', host.indexOf(']')) : host.indexOf(':')
  return (port < 0 ? host : host.slice(0, port)).toLowerCase()
}

/** Scheme and name of an origin; undefined for `null` and other opaque ones. */
function originHost(origin: string): string | undefined {
  const scheme = origin.indexOf('://')
  return scheme < 0 ? undefined : origin.slice(scheme + 3).toLowerCase()
}

/**
 * Refuses calls under a foreign name or from a foreign page before anything else is looked at (2025-11-25
 * basic/transports, Security Warning). Made once per endpoint.
 */
export class Guard {
  readonly #hosts: ReadonlySet<string> | undefined
  readonly #allows: (origin: string) => boolean

  constructor({ hosts, origins }: ResolvedOptions) {
    this.#hosts = hosts === '*' ? undefined : new Set(hosts.map(hostName))
    const listed = Array.isArray(origins)
      ? new Set(origins.map((origin: string) => origin.toLowerCase()))
      : new Set<string>()
    if (origins === '*') this.#allows = () => true
    else if (typeof origins === 'function') this.#allows = origins
    else this.#allows = (origin) => listed.has(origin.toLowerCase())
  }

  check(call: HttpCall): Refusal | undefined {
    const repeated = ONCE.find((name) => call.headers(name).length > 1)
    if (repeated !== undefined) {
      // What stands between client and server may have read the other one.
      return refusal(400, { reason: 'repeated', header: repeated }, `The header ${repeated} is there twice`)
    }
    const host = call.headers('host')[0]
    if (this.#hosts !== undefined && (host === undefined || !this.#hosts.has(hostName(host)))) {
      return refusal(
        403,
        { reason: 'host', option: 'hosts' },
        `Host '${host ?? ''}' is not served here: add its name to the option hosts`,
      )
    }
    const [origin, other] = call.headers('origin')
    if (origin === undefined || (other === undefined && (this.#isOwn(origin, host) || this.#allows(origin))))
      return undefined
    return refusal(
      403,
      { reason: 'origin', option: 'origins' },
      `Origin '${origin}' may not call this server: add it to the option origins`,
    )
  }

  /** Pages of this machine, and of the server itself where its name is known to be its own. */
  #isOwn(origin: string, host: string | undefined): boolean {
    const from = originHost(origin)
    if (from === undefined || this.#hosts === undefined) return false
    const name = hostName(from)
    return LOOPBACK.includes(name) ? this.#hosts.has(name) : from === host?.toLowerCase()
  }
}
