// The fixture of the field cases. PORT=n npm run serve:fixture, or --port n; npm run -s serve:fixture -- --stdio
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { createServer, type Server } from 'phantom-mcp'
import { type NodeHandler, nodeHandler } from 'phantom-mcp/node'
import { serveStdio } from 'phantom-mcp/stdio'
import { Counters } from './counters.js'
import { createFixture, createGuardedFixture, createPagedFixture } from './router.js'

const HOST = 'mcp.example.test'
const LOOPBACK = ['localhost', '127.0.0.1']

const counters = new Counters()
/** Every server of this process. */
const servers: Server[] = []
const router = createFixture({ counters, servers })

function add(server: Server): Server {
  servers.push(server)
  return server
}

function serveHttp(port: number): void {
  const handlers = new Map([...openHandlers(), ...guardedHandlers(), ...pagedHandlers()])
  const http = createHttpServer((request, response) => {
    const [path = '/'] = request.url?.split('?', 1) ?? []
    const handler = handlers.get(path)
    if (handler) void handler(request, response)
    else response.writeHead(404).end()
  })
  http.listen(port, '127.0.0.1', () => {
    console.error(`Field case fixture at http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  })
  process.once('SIGTERM', () => void close(http))
}

function openHandlers(): (readonly [path: string, handler: NodeHandler])[] {
  const main = add(createServer(router))
  const sse = nodeHandler(main, { sse2024: true })
  return [
    ['/mcp', nodeHandler(main)],
    ['/sse', sse],
    ['/messages', sse],
    ['/keepalive/mcp', nodeHandler(main, { keepAliveMs: 300 })],
    ['/modern/mcp', nodeHandler(add(createServer(router, { sessions: false })))],
    ['/idle/mcp', nodeHandler(add(createServer(router, { sessionTtlMs: 1000 })))],
  ]
}

/** The endpoints that need a token, each with the document that says where tokens come from. */
function guardedHandlers(): (readonly [path: string, handler: NodeHandler])[] {
  return ['/team-a/mcp', '/team-b/mcp'].flatMap((path) => {
    const handler = nodeHandler(add(createServer(createGuardedFixture({ counters, servers }))), {
      hosts: [HOST, ...LOOPBACK],
      protectedResource: {
        resource: `https://${HOST}${path}`,
        authorizationServers: ['https://login.example.test'],
        scopes: ['read'],
      },
    })
    return [
      [path, handler],
      [`/.well-known/oauth-protected-resource${path}`, handler],
    ] as const
  })
}

function pagedHandlers(): (readonly [path: string, handler: NodeHandler])[] {
  return [3, 7, 8].map((pageSize) => [
    `/paged${pageSize}/mcp`,
    nodeHandler(add(createServer(createPagedFixture(pageSize)))),
  ])
}

/** The process ends by itself once nothing is open. */
async function close(http: HttpServer): Promise<void> {
  http.close()
  await Promise.all(servers.map((server) => server.close()))
  // What is still open asks nothing.
  setInterval(() => http.closeIdleConnections(), 100).unref()
}

const { values: flags } = parseArgs({ options: { stdio: { type: 'boolean' }, port: { type: 'string' } } })
if (flags.stdio) await serveStdio(add(createServer(router)))
else serveHttp(Number(flags.port ?? process.env['PORT'] ?? 3000))
