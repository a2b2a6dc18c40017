import { httpEndpoint } from '../http/endpoint.js'
import type { HttpOptions } from '../http/options.js'
import type { Router } from '../router/router.js'
import { type Server, toServer } from '../server/server.js'
import { FetchCall } from './fetch-call.js'

/** Answers one web `Request`. */
export type FetchHandler = (request: Request) => Promise<Response>

/**
 * A handler for hosts and frameworks that speak `Request` and `Response`: Hono, Next, Bun, Deno, Workers. It serves
 * whatever path it is mounted at. Only loopback names are served until `hosts` lists others.
 *
 * @throws TypeError for an option that is unknown or out of range.
 * @example
 * const mcp = fetchHandler(router, { hosts: ['app.example.com'] })
 * app.all('/mcp', (context) => mcp(context.req.raw))   // Hono
 */
export function fetchHandler<Assigns extends object>(
  target: Router<Assigns> | Server,
  options: HttpOptions = {},
): FetchHandler {
  // Such hosts do not work between two requests: nothing can wait there.
  const server = toServer(target as Router<never> | Server, { continuations: { mode: 'replay' } })
  const endpoint = httpEndpoint(server, options, 'fetchHandler')
  return (request) => {
    const call = new FetchCall(request)
    void endpoint.handle(call)
    return call.response
  }
}
