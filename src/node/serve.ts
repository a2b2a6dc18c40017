import { createServer as createHttpServer, type Server as NodeHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { httpEndpoint } from '../http/endpoint.js'
import { HTTP_OPTIONS, type HttpOptions, LOOPBACK } from '../http/options.js'
import { assertOptions, pick } from '../options.js'
import type { Router } from '../router/router.js'
import { type Server, toServer } from '../server/server.js'
import { NodeCall } from './node-call.js'

/** Where `serve` listens, beside how MCP is served. */
export interface ServeOptions extends HttpOptions {
  /** 0 takes a free one. @default 3000 */
  readonly port?: number
  /** Beyond loopback `hosts` has to be given. @default '127.0.0.1' */
  readonly host?: string
  /** @default '/mcp' */
  readonly path?: string
  /** Closes on SIGTERM and SIGINT. @default true */
  readonly signals?: boolean
}

/** A server that listens. */
export interface Serving {
  /** The address of the endpoint, `http://127.0.0.1:3000/mcp`. */
  readonly url: string
  readonly port: number
  /** Ends open streams, lets running requests finish, and resolves when the port is free. */
  close(): Promise<void>
}

const OWN_OPTIONS = ['port', 'host', 'path', 'signals']
const LOOPBACK_ADDRESSES = [...LOOPBACK, '::1']

/**
 * Serves MCP over HTTP, every protocol version at one path. Resolves when it listens.
 *
 * @throws TypeError for an option that is unknown or out of range, or a `host` beyond loopback without `hosts`.
 * @throws the system's error when the port cannot be taken.
 * @example
 * const { url } = await serve(router, { port: 3000 })   // http://127.0.0.1:3000/mcp
 */
export async function serve<Assigns extends object>(
  target: Router<Assigns> | Server,
  options: ServeOptions = {},
): Promise<Serving> {
  assertOptions('serve', options, [...OWN_OPTIONS, ...HTTP_OPTIONS])
  const { port = 3000, host = '127.0.0.1', path = '/mcp', signals = true } = options
  if (!LOOPBACK_ADDRESSES.includes(host) && options.hosts === undefined) {
    throw new TypeError(
      `serve: host '${host}' can be reached from elsewhere: list the names it is called by in hosts, ['mcp.example.com'], or say '*'`,
    )
  }
  if (!path.startsWith('/')) throw new TypeError(`serve: path must begin with '/', not '${path}'`)
  const server = toServer(target as Router<never> | Server)
  const endpoint = httpEndpoint(server, pick(options as HttpOptions, HTTP_OPTIONS as (keyof HttpOptions)[]), 'serve')
  const http = createHttpServer((request, response) => {
    const call = new NodeCall(request, response)
    if (call.path === path) void endpoint.handle(call)
    else call.reply(404, { 'content-type': 'text/plain' }, `Nothing is here: MCP is served at ${path}\n`)
  })
  await listen(http, port, host)
  const taken = (http.address() as AddressInfo).port
  const close = closer(http, server)
  if (signals) closeOnSignals(http, close)
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return { url: `http://${name}:${taken}${path}`, port: taken, close }
}

function listen(http: NodeHttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen({ port, host: host.replace(/^\[|\]$/g, '') }, () => {
      http.off('error', reject)
      resolve()
    })
  })
}

function closer(http: NodeHttpServer, server: Server): () => Promise<void> {
  let closing: Promise<void> | undefined
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve())
      server.close()
      http.closeIdleConnections()
    })
  return () => {
    closing ??= close()
    return closing
  }
}

function closeOnSignals(http: NodeHttpServer, close: () => Promise<void>): void {
  const onSignal = (): void => void close()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, onSignal)
    http.once('close', () => process.off(signal, onSignal))
  }
}
