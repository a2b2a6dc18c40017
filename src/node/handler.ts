import type { IncomingMessage, ServerResponse } from 'node:http'
import { httpEndpoint } from '../http/endpoint.js'
import type { HttpOptions } from '../http/options.js'
import type { Router } from '../router/router.js'
import { type Server, toServer } from '../server/server.js'
import { NodeCall } from './node-call.js'

/** Serves one request of `node:http`, or of what is built on it. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/**
 * A request handler for `node:http` and for frameworks built on it; it serves whatever path it is mounted at. Only loopback
 * names are served until `hosts` lists others.
 *
 * @throws TypeError for an option that is unknown or out of range.
 * @example
 * app.use('/mcp', nodeHandler(router, { hosts: ['app.example.com'] }))   // Express
 */
export function nodeHandler<Assigns extends object>(
  target: Router<Assigns> | Server,
  options: HttpOptions = {},
): NodeHandler {
  const endpoint = httpEndpoint(toServer(target as Router<never> | Server), options, 'nodeHandler')
  return (request, response) => endpoint.handle(new NodeCall(request, response))
}
