// The fixture of the field cases. PORT=n npm run serve:fixture, or --port n; npm run -s serve:fixture -- --stdio
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { createServer } from 'phantom-mcp'
import { nodeHandler } from 'phantom-mcp/node'
import { serveStdio } from 'phantom-mcp/stdio'
import { Counters } from './counters.js'
import { createFixture, createPagedFixture } from './router.js'

const router = createFixture(new Counters())

function serveHttp(port: number): void {
  const main = createServer(router)
  const modern = createServer(router, { sessions: false })
  const paged = [3, 7, 8].map((pageSize) => ({ pageSize, server: createServer(createPagedFixture(pageSize)) }))
  const handlers = new Map([
    ['/mcp', nodeHandler(main)],
    ['/modern/mcp', nodeHandler(modern)],
    ['/keepalive/mcp', nodeHandler(main, { keepAliveMs: 300 })],
    ...paged.map(({ pageSize, server }) => [`/paged${pageSize}/mcp`, nodeHandler(server)] as const),
  ])
  const http = createHttpServer((request, response) => {
    const [path = '/'] = request.url?.split('?', 1) ?? []
    const handler = handlers.get(path)
    if (handler) void handler(request, response)
    else response.writeHead(404).end()
  })
  http.listen(port, '127.0.0.1', () => {
    console.error(`Field case fixture at http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  })
  process.once('SIGTERM', () => {
    http.close()
    for (const server of [main, modern, ...paged.map(({ server }) => server)]) server.close()
    // Connections that are busy now fall idle later.
    setInterval(() => http.closeIdleConnections(), 100).unref()
  })
}

const { values: flags } = parseArgs({ options: { stdio: { type: 'boolean' }, port: { type: 'string' } } })
if (flags.stdio) await serveStdio(router)
else serveHttp(Number(flags.port ?? process.env['PORT'] ?? 3000))
