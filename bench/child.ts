// A process of its own for a server, the load, or a pair of pieces of work: `child.js <kind> <name> [engine]`. It answers requests
// of its parent, and ends with it.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Load, runLoad } from './load.js'
import { PROCESSES, type ProcessName, SERVERS, type ServerName } from './modules.js'
import { timePair } from './timing.js'

/** What a parent asks; the answer has the same id. */
type Asked = { readonly id: number } & (
  | { readonly ask: 'usage' }
  | { readonly ask: 'heap'; readonly connections: number }
  | { readonly ask: 'advance'; readonly ms: number }
  | { readonly ask: 'load'; readonly load: Load }
  | { readonly ask: 'time'; readonly rounds: number }
)

async function answer(asked: Asked, prepared: Prepared): Promise<unknown> {
  switch (asked.ask) {
    case 'usage': {
      const { user, system } = process.cpuUsage()
      return user + system
    }
    case 'heap':
      return await heapUsed(prepared, asked.connections)
    case 'advance':
      prepared.aheadMs += asked.ms
      return undefined
    case 'load':
      return await runLoad(asked.load)
    case 'time':
      return timePair(await PROCESSES[prepared.name as ProcessName](), asked.rounds)
  }
}

interface Prepared {
  readonly name: string
  server?: Server
  /** How far the clock that servers see is ahead. */
  aheadMs: number
}

const SETTLE_MS = 5_000
const COLLECTIONS = 4

/** What is left when the connections are gone that should be, and everything that nobody holds. */
async function heapUsed({ server }: Prepared, connections: number): Promise<number> {
  const { gc } = globalThis as { gc?: () => void }
  if (server === undefined || gc === undefined) throw new Error('A heap is asked of a server with --expose-gc')
  const deadline = Date.now() + SETTLE_MS
  while ((await openConnections(server)) > connections && Date.now() < deadline) await sleep(20)
  for (let round = 0; round < COLLECTIONS; round++) {
    gc()
    // Weak references, and what closes in a later turn, are let go between two collections.
    await sleep(20)
  }
  return process.memoryUsage().heapUsed
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))
}

async function main([kind, name = '', engine]: readonly string[]): Promise<void> {
  const prepared: Prepared = { name, aheadMs: 0 }
  process.on('disconnect', () => process.exit())
  process.on('message', (asked: Asked) => {
    answer(asked, prepared).then(
      (value) => process.send?.({ id: asked.id, value }),
      (error: unknown) => process.send?.({ id: asked.id, error: String(error) }),
    )
  })
  if (kind !== 'server') return void process.send?.({ id: 0, value: undefined })
  const server = await SERVERS[name as ServerName](() => Date.now() + prepared.aheadMs, engine)
  prepared.server = server
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ id: 0, value: (server.address() as AddressInfo).port })
  })
}

await main(process.argv.slice(2))
