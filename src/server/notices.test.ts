import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryPubSub } from '../backplane/memory-pub-sub.js'
import { MemoryStore } from '../backplane/memory-store.js'
import { Access } from '../router/access.js'
import type { Authorizing } from './authorize.js'
import { type Listener, Listeners } from './listeners.js'
import { Nodes } from './nodes.js'
import { Notices } from './notices.js'

test('who comes from another node is not told again what it was told there, when the letter comes after it', async () => {
  const backplane = { store: new MemoryStore({ clock: Date.now }), pubSub: new MemoryPubSub() }
  const report = (error: unknown): void => expect.unreachable(String(error))
  const begin = async (id: string): Promise<Nodes> => {
    const nodes = new Nodes({ backplane, id, heartbeatMs: 1_000, report })
    onTestFinished(() => nodes.stop())
    await nodes.start()
    return nodes
  }
  const [one, two] = [await begin('one'), await begin('two')]
  const told: string[] = []
  const listener = (name: string): Listener => ({
    access: new Access(),
    lists: new Set(['tool']),
    resources: new Set(),
    tell: () => told.push(name),
  })
  const [here, come] = [listener('here'), listener('come')]
  const listeners = new Listeners()
  const authorizing = (): Authorizing => expect.unreachable('nobody follows a resource')
  const notices = new Notices(two, listeners, authorizing)
  for (const each of [here, come]) listeners.add(each)
  await notices.catchUp(come, { ids: ['first'], sinceMs: 0 })
  const tell = (id: string): Promise<void> => one.send('two', 'notice', { id, told: { list: 'tool' } })
  await tell('first')
  await vi.waitFor(() => expect(told).toEqual(['here']))
  await tell('second')
  await vi.waitFor(() => expect(told).toEqual(['here', 'here', 'come']))
})
