import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryPubSub } from '../backplane/memory-pub-sub.js'
import { MemoryStore } from '../backplane/memory-store.js'
import type { Store } from '../backplane/store.js'
import { NodeRoll } from './node-roll.js'
import { Nodes } from './nodes.js'

const HEARTBEAT = 1_000
const LEASE = 3 * HEARTBEAT

interface World {
  readonly store: Store
  begin(id: string): Promise<Nodes>
  pass(ms: number): Promise<void>
}

function world(changes: Partial<Store> = {}): World {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const store: Store = Object.assign(new MemoryStore({ clock: Date.now }), changes)
  const backplane = { store, pubSub: new MemoryPubSub() }
  const report = (error: unknown): void => expect.unreachable(String(error))
  return {
    store,
    begin: async (id) => {
      const nodes = new Nodes({ backplane, id, heartbeatMs: HEARTBEAT, report })
      onTestFinished(() => nodes.stop())
      await nodes.start()
      return nodes
    },
    pass: async (ms) => void (await vi.advanceTimersByTimeAsync(ms)),
  }
}

async function othersOf(nodes: Nodes): Promise<readonly string[]> {
  return [...(await nodes.others())].sort()
}

test('the others are found without a look at all that is kept', async () => {
  const { begin } = world({ list: () => expect.unreachable('the keys were listed') })
  const [one, two, three] = await Promise.all([begin('one'), begin('two'), begin('three')])
  for (const node of [one, two, three]) node.on('ask', (asked: string) => `${node.id} has heard ${asked}`)
  expect((await one.askAll<string>({ type: 'ask', body: 'it' }, 1_000)).sort()).toEqual([
    'three has heard it',
    'two has heard it',
  ])
  await two.stop()
  expect(await othersOf(one)).toEqual(['three'])
})

/** A node that gives no sign of life any more. */
async function paused(store: Store, id: string): Promise<NodeRoll> {
  const roll = new NodeRoll(store, id)
  await store.claim(`node/${id}`, id, LEASE)
  await roll.enter(true)
  return roll
}

test('a node that is gone is struck off, and no other with it', async () => {
  const { store, begin, pass } = world()
  const one = await begin('one')
  const roll = await paused(store, 'gone')
  await begin('two')
  expect(await othersOf(one)).toEqual(['gone', 'two'])
  await pass(LEASE)
  expect(await othersOf(one)).toEqual(['two'])
  expect((await roll.read()).names).toEqual(['one', 'two'])
})

test('a node that comes back is not struck off by who has just seen that it was gone', async () => {
  const { store, begin, pass } = world()
  const one = await begin('one')
  const roll = await paused(store, 'back')
  await pass(LEASE)
  const seen = await roll.read()
  await store.claim('node/back', 'back', LEASE)
  await roll.enter(true)
  await roll.strike(seen, ['back'])
  expect(await othersOf(one)).toEqual(['back'])
})

test('a node whose signs of life were held up says so anew', async () => {
  let reachable = true
  const kept = new MemoryStore({ clock: Date.now })
  const claim: Store['claim'] = (key, owner, ttlMs) =>
    reachable || !key.endsWith('slow') ? kept.claim(key, owner, ttlMs) : new Promise(() => undefined)
  const { store, begin, pass } = world({ claim, get: (key) => kept.get(key), set: (...all) => kept.set(...all) })
  await begin('one')
  const slow = await begin('slow')
  const roll = new NodeRoll(store, 'other')
  const before = await roll.read()
  await pass(HEARTBEAT)
  expect((await roll.read()).revision).toBe(before.revision)
  reachable = false
  await pass(LEASE)
  reachable = true
  await pass(HEARTBEAT)
  expect((await roll.read()).revision).not.toBe(before.revision)
  expect(await othersOf(slow)).toEqual(['one'])
})

test('when the engine has lost everything, the nodes find each other again with the next sign of life', async () => {
  const { store, begin, pass } = world()
  const [one, two] = [await begin('one'), await begin('two')]
  for (const key of ['nodes', 'node/one', 'node/two']) await store.delete(key)
  expect(await othersOf(one)).toEqual([])
  await pass(HEARTBEAT)
  expect(await othersOf(one)).toEqual(['two'])
  expect(await othersOf(two)).toEqual(['one'])
})

test('a node that has nothing to say for hours stays known', async () => {
  const { begin, pass } = world()
  const [one] = [await begin('one'), await begin('two')]
  await pass(3 * 3_600_000)
  expect(await othersOf(one)).toEqual(['two'])
})
