import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryPubSub } from '../backplane/memory-pub-sub.js'
import { MemoryStore } from '../backplane/memory-store.js'
import { Nodes } from './nodes.js'
import { StreamOwners } from './stream-owners.js'

const TTL = 1_000

test('a stream has its node for as long as it is open, and no longer', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  let now = 1_000_000
  const backplane = { store: new MemoryStore({ clock: () => now }), pubSub: new MemoryPubSub() }
  const report = (error: unknown): void => expect.unreachable(String(error))
  const node = async (id: string): Promise<StreamOwners> => {
    const nodes = new Nodes({ backplane, id, heartbeatMs: 100, report })
    await nodes.start()
    onTestFinished(() => nodes.stop())
    const owners = new StreamOwners({ store: backplane.store, nodes, ttlMs: TTL, report })
    owners.onYield(async () => ({ attached: true }))
    onTestFinished(() => owners.close())
    return owners
  }
  const [one, two] = [await node('one'), await node('two')]
  expect(await one.take('session', false)).toEqual({ refused: false, lost: false })
  for (let times = 0; times < 40; times++) {
    now += TTL / 10
    await vi.advanceTimersByTimeAsync(TTL / 10)
  }
  expect(await two.take('session', false)).toEqual({ refused: true })
  one.leave('session', 'ended')
  await vi.waitFor(async () => expect(await one.ownerOf('session')).toBeUndefined())
  expect(await two.take('session', false)).toEqual({ refused: false, lost: false })
})
