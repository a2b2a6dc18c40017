import { assertOptions } from '../options.js'
import type { HttpCall } from './http-call.js'

/** What is published of the authorization of this endpoint (RFC 9728). */
export interface ProtectedResourceOptions {
  /** Public URL of the endpoint, `https://mcp.example.com/mcp`. `serve` takes its own address when it is not given. */
  readonly resource?: string
  /** Issuers whose tokens are taken; at least one. */
  readonly authorizationServers: readonly string[]
  /** The scopes that a client should ask for at first. */
  readonly scopes?: readonly string[]
  /** The endpoint's name for people. */
  readonly name?: string
  /** Where people read about it. */
  readonly documentation?: string
}

const OPTIONS = ['resource', 'authorizationServers', 'scopes', 'name', 'documentation']
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** The metadata document of an endpoint, and the challenge that leads to it. */
export class ProtectedResource {
  /** The document as JSON. */
  readonly document: string
  /** Parameters for a 401 challenge that does not say them itself. */
  readonly challenge: Readonly<Record<string, string>>
  readonly #paths: ReadonlySet<string>

  constructor(options: ProtectedResourceOptions, resource: string) {
    const { origin, pathname } = new URL(resource)
    const suffix = pathname === '/' ? '' : pathname
    const { authorizationServers, scopes, name, documentation } = options
    this.#paths = new Set([WELL_KNOWN, WELL_KNOWN + suffix])
    this.challenge = {
      resource_metadata: origin + WELL_KNOWN + suffix,
      ...(scopes === undefined || scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    }
    this.document = JSON.stringify({
      resource,
      authorization_servers: authorizationServers,
      ...(scopes === undefined ? {} : { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
      ...(name === undefined ? {} : { resource_name: name }),
      ...(documentation === undefined ? {} : { resource_documentation: documentation }),
    })
  }

  /** Whether the document is asked for: under the path of the endpoint, or at the root of the host. */
  isAsked({ path }: HttpCall): boolean {
    return this.#paths.has(path)
  }
}

/** @throws TypeError that names the option and the mend. */
export function protectedResource(
  owner: string,
  options: ProtectedResourceOptions | undefined,
): ProtectedResource | undefined {
  if (options === undefined) return undefined
  assertOptions(`${owner}, protectedResource`, options, OPTIONS)
  const { resource, authorizationServers, scopes } = options
  const issuers: unknown = authorizationServers
  if (!Array.isArray(issuers) || issuers.length === 0 || !issuers.every((issuer) => URL.canParse(String(issuer)))) {
    throw new TypeError(`${owner}, protectedResource: authorizationServers must be the URLs of at least one issuer`)
  }
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'))) {
    throw new TypeError(`${owner}, protectedResource: scopes must be a list of names`)
  }
  if (resource === undefined) {
    throw new TypeError(`${owner}, protectedResource: resource must be the public URL of this endpoint`)
  }
  if (!URL.canParse(resource) || resource.includes('#')) {
    throw new TypeError(`${owner}, protectedResource: resource must be a URL without fragment, not '${resource}'`)
  }
  return new ProtectedResource(options, resource)
}
