import { createServer as createHttpServer, type Server as NodeHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { httpEndpoint } from '../http/endpoint.js'
import { HTTP_OPTIONS, type HttpOptions, LOOPBACK, resolveOptions, sse2024Paths } from '../http/options.js'
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
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const LOOPBACK_ADDRESSES = [...LOOPBACK, '::1']

/**
 * Serves MCP over HTTP, every protocol version at one path. Resolves when it listens.
 *
 * @throws TypeError for an option that is unknown or out of range, or a `host` beyond loopback without `hosts`,
 *   or without a `secretKeyBase` of the router.
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
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new TypeError(`serve: path must begin with '/', not '${String(path)}'`)
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`serve: port must be a whole number from 0 to 65535, not ${String(port)}`)
  }
  resolveOptions('serve', endpointOptions(options, `http://${LOOPBACK[0]}${path}`))
  assertOwnPaths(path, options)
  const server = toServer(target as Router<never> | Server)
  if (LOOPBACK_ADDRESSES.includes(host)) server.allowRandomSecret(warnOfRandomSecret)
  else server.assertSecret('serve')
  const http = createHttpServer()
  await listen(http, port, host)
  const taken = (http.address() as AddressInfo).port
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const url = `http://${name}:${taken}${path}`
  const sse2024 = sse2024Paths('serve', options)
  const paths = new Set([path, options.healthPath, options.readyPath, sse2024?.streamPath, sse2024?.messagePath])
  const endpoint = httpEndpoint(server, endpointOptions(options, url), 'serve')
  http.on('request', (request, response) => {
    const call = new NodeCall(request, response)
    if (paths.has(call.path) || call.path.startsWith(WELL_KNOWN)) void endpoint.handle(call)
    else call.reply(404, { 'content-type': 'text/plain' }, `Nothing is here: MCP is served at ${path}\n`)
  })
  const close = closer(http, server)
  if (signals) closeOnSignals(http, close)
  return { url, port: taken, close }
}

function warnOfRandomSecret(): void {
  process.emitWarning(
    'Questions to clients are sealed with a secret of this process: one that was asked before a restart has to call again. Give createRouter a secretKeyBase.',
    { type: 'PhantomMcpWarning', code: 'PHANTOM_RANDOM_SECRET' },
  )
}

/** @throws TypeError when HTTP+SSE would take the place of the endpoint. */
function assertOwnPaths(path: string, options: ServeOptions): void {
  const sse2024 = sse2024Paths('serve', options)
  if (sse2024?.messagePath === path || sse2024?.streamPath === path) {
    throw new TypeError(`serve, sse2024: its paths must differ from path, '${path}'`)
  }
}

/** Without a public URL the endpoint publishes the one that it listens at. */
function endpointOptions(options: ServeOptions, url: string): HttpOptions {
  const own = pick(options as HttpOptions, HTTP_OPTIONS as (keyof HttpOptions)[])
  return own.protectedResource === undefined
    ? own
    : { ...own, protectedResource: { resource: url, ...own.protectedResource } }
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

/** Milliseconds between two looks for connections that have become idle since the port was closed. */
const IDLE_CHECK_MS = 50
/** Milliseconds that the last answers have to leave the process. */
const LINGER_MS = 200

function closer(http: NodeHttpServer, server: Server): () => Promise<void> {
  let closing: Promise<void> | undefined
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      // While calls run the port stays open, so that whoever sends more is told to go elsewhere.
      void server.close().then(() => {
        const idle = setInterval(() => http.closeIdleConnections(), IDLE_CHECK_MS)
        http.close(() => {
          clearInterval(idle)
          resolve()
        })
        http.closeIdleConnections()
        // Every call has its answer: what is still open then are sockets that ask nothing.
        setTimeout(() => http.closeAllConnections(), LINGER_MS).unref()
      })
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
