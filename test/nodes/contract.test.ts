import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Backplane, memoryBackplane } from 'phantom-mcp'
import { testPubSub } from '../contract/pub-sub-contract.js'
import { testStore } from '../contract/store-contract.js'
import { socketBackplane } from './_socket-backplane.js'
import { serveBackplane } from './_store-server.js'

interface Opened {
  readonly here: Backplane
  readonly there: Backplane
  advance(ms: number): void
  close(): Promise<void>
}

/** Two clients of one backplane, whose time the test has in hand. */
async function open(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-backplane-'))
  let now = 1_000_000
  const shared = memoryBackplane({ clock: () => now })
  const stop = await serveBackplane(shared, join(folder, 'socket'))
  const [here, there] = [1, 2].map(() => socketBackplane(join(folder, 'socket'), () => undefined)) as [
    Backplane,
    Backplane,
  ]
  return {
    here,
    there,
    advance: (ms) => {
      now += ms
    },
    close: async () => {
      await here.close?.()
      await there.close?.()
      await stop()
      await shared.close?.()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// The backplane of the tests with several processes is one like any other.
testStore('socket', async () => {
  const { here, there, ...opened } = await open()
  return { ...opened, store: here.store, peer: there.store }
})
testPubSub('socket', async () => {
  const { here, there, close } = await open()
  return { pubSub: here.pubSub, peer: there.pubSub, close }
})
