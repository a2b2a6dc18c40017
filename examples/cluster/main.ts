// node scripts/run-example.mjs examples/cluster/main redis://127.0.0.1:6379
// node scripts/run-example.mjs examples/cluster/main nats://127.0.0.1:4222
// Two processes on one port: each new connection goes to the next of them, whatever its session.
import cluster from 'node:cluster'
import { serveBoard } from './board.js'

const NODES = 2

if (cluster.isPrimary) startNodes()
else await runNode()

function startNodes(): void {
  for (let node = 0; node < NODES; node++) cluster.fork()
  cluster.on('exit', (_node, code) => {
    process.exitCode ||= code ?? 0
  })
  const stop = (): void => {
    for (const node of Object.values(cluster.workers ?? {})) node?.process.kill('SIGTERM')
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop)
}

async function runNode(): Promise<void> {
  const [backplaneUrl = 'redis://127.0.0.1:6379'] = process.argv.slice(2)
  const nodeId = `node-${cluster.worker?.id}`
  const { url, close } = await serveBoard({
    port: Number(process.env['PORT'] ?? 3001),
    backplaneUrl,
    nodeId,
    secretKeyBase:
      process.env['SECRET_KEY_BASE'] ?? 'for this example only: sixty-four characters that everybody can read',
  })
  // Ctrl+C reaches all processes of a terminal: the first one tells the others.
  process.on('SIGINT', () => undefined)
  process.once('SIGTERM', () => void close().then(() => cluster.worker?.disconnect()))
  console.error(`${nodeId} of the board serves ${url} (Ctrl+C ends all of them)`)
}
