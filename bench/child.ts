// A process of its own for a server, the load, or a pair of pieces of work: `child.js <kind> <name>`. It answers requests
// of its parent, and ends with it.
import type { AddressInfo } from 'node:net'
import { type Load, runLoad } from './load.js'
import { PROCESSES, type ProcessName, SERVERS, type ServerName } from './modules.js'
import { timePair } from './timing.js'

/** What a parent asks; the answer has the same id. */
type Asked = { readonly id: number } & (
  | { readonly ask: 'usage' }
  | { readonly ask: 'load'; readonly load: Load }
  | { readonly ask: 'time'; readonly rounds: number }
)

async function answer(asked: Asked, prepared: Prepared): Promise<unknown> {
  switch (asked.ask) {
    case 'usage': {
      const { user, system } = process.cpuUsage()
      return user + system
    }
    case 'load':
      return await runLoad(asked.load)
    case 'time':
      return timePair(await PROCESSES[prepared.name as ProcessName](), asked.rounds)
  }
}

interface Prepared {
  readonly name: string
}

async function main([kind, name = '']: readonly string[]): Promise<void> {
  process.on('disconnect', () => process.exit())
  process.on('message', (asked: Asked) => {
    answer(asked, { name }).then(
      (value) => process.send?.({ id: asked.id, value }),
      (error: unknown) => process.send?.({ id: asked.id, error: String(error) }),
    )
  })
  if (kind !== 'server') return void process.send?.({ id: 0, value: undefined })
  const server = await SERVERS[name as ServerName]()
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ id: 0, value: (server.address() as AddressInfo).port })
  })
}

await main(process.argv.slice(2))
