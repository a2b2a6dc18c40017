// The process that has the clients. REDIS_URL is where the queue is, PORT the port, 3000 unless set.
// node scripts/run-example.mjs examples/report-queue/main, and beside it worker; then send `authorization: Bearer ada-token`.
import { serve } from 'phantom-mcp/node'
import { onSignal, openApp } from './app.js'

const app = openApp()
const { url, close } = await serve(app.server, { port: Number(process.env['PORT'] ?? 3000), signals: false })
onSignal(() => close().then(() => app.close()))
console.error(`Reports at ${url}`)
