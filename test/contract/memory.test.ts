import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryBackplane } from '../../src/backplane/memory.js'
import { MemoryPubSub } from '../../src/backplane/memory-pub-sub.js'
import { MemoryStore } from '../../src/backplane/memory-store.js'
import { testPubSub } from './pub-sub-contract.js'
import { testStore } from './store-contract.js'

testStore('memory', async () => {
  let now = 1_000_000
  const backplane = memoryBackplane({ clock: () => now })
  return {
    store: backplane.store,
    advance: (ms) => {
      now += ms
    },
    close: async () => backplane.close?.(),
  }
})

testPubSub('memory', async () => {
  const backplane = memoryBackplane()
  return { pubSub: backplane.pubSub, close: async () => backplane.close?.() }
})

const DAY_MS = 86_400_000
const bounds = { maxEntries: 10, maxBytes: 1_000 }

describe('the memory store', () => {
  let now = 0
  const stores: MemoryStore[] = []

  const open = (): MemoryStore => {
    now = 0
    const store = new MemoryStore({ clock: () => now })
    stores.push(store)
    return store
  }

  afterEach(() => {
    for (const store of stores.splice(0)) store.clear()
    vi.useRealTimers()
  })

  test('ends things to the millisecond', async () => {
    const store = open()
    await store.set('k', 'v', { ttlMs: 50 })
    await store.claim('c', 'a', 50)
    const id = await store.append('l', 'v', { ttlMs: 50, ...bounds })
    now = 49
    expect(await store.get('k')).toEqual({ value: 'v', revision: '1' })
    expect(await store.claim('c', 'b', 50)).toEqual({ owner: 'a', mine: false })
    expect(await store.readAfter('l', id, 1)).toEqual({ entries: [], gap: false })
    now = 50
    expect(await store.get('k')).toBeUndefined()
    expect(await store.claim('c', 'b', 50)).toEqual({ owner: 'b', mine: true })
    expect(await store.readAfter('l', id, 1)).toEqual({ entries: [], gap: true })
  })

  test('asking for what has ended lets go of it', async () => {
    const store = open()
    await store.set('k', 'v', { ttlMs: 50 })
    await store.append('l', 'v', { ttlMs: 50, ...bounds })
    expect(store.size).toBe(2)
    now = 50
    await store.get('k')
    await store.readAfter('l', undefined, 1)
    expect(store.size).toBe(0)
  })

  test('10,000 abandoned sessions of a day leave nothing behind once others write', async () => {
    const store = open()
    for (let index = 0; index < 10_000; index += 1) {
      now += 10
      await store.set(`s/${index}`, 'v', { ttlMs: DAY_MS })
      await store.append(`s/${index}`, 'v', { ttlMs: 60_000, ...bounds })
    }
    // The logs of the first 40 seconds have ended and were swept on the way.
    expect(store.size).toBe(10_000 + 6_000)
    now += DAY_MS
    for (let write = 0; write < 1_000; write += 1) await store.claim('node', 'a', 15_000)
    expect(store.size).toBe(1)
  })

  test('one write does not pay for all of them', async () => {
    const store = open()
    for (let index = 0; index < 100; index += 1) await store.set(`s/${index}`, 'v', { ttlMs: 50 })
    now = 50
    await store.set('k', 'v', { ttlMs: 50 })
    expect(store.size).toBe(101 - 16)
  })

  test('an idle process gives the memory back, and its timer rests when nothing is kept', async () => {
    vi.useFakeTimers()
    const store = open()
    for (let index = 0; index < 10_000; index += 1) await store.set(`s/${index}`, 'v', { ttlMs: DAY_MS })
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(60_000)
    expect(store.size).toBe(10_000)
    now = DAY_MS
    vi.advanceTimersByTime(5_000)
    expect(store.size).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
    await store.set('k', 'v', { ttlMs: DAY_MS })
    expect(vi.getTimerCount()).toBe(1)
    store.clear()
    expect(vi.getTimerCount()).toBe(0)
    expect(store.size).toBe(0)
  })

  test('no timer keeps the process alive', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const store = open()
    await store.set('k', 'v', { ttlMs: DAY_MS })
    expect(timers()).toBe(before)
  })

  test('where timers always keep the process alive there is none', async () => {
    const cleared: unknown[] = []
    vi.stubGlobal('setTimeout', () => 7)
    vi.stubGlobal('clearTimeout', (timer: unknown) => cleared.push(timer))
    try {
      const store = new MemoryStore({ clock: () => now })
      await store.set('k', 'v', { ttlMs: 50 })
      await store.set('k', 'v', { ttlMs: 50 })
      expect(cleared).toEqual([7])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test('renewing and deleting leave nothing behind either', async () => {
    const store = open()
    for (let index = 0; index < 1_000; index += 1) {
      now += 1
      await store.set('k', 'v', { ttlMs: DAY_MS })
      await store.claim('c', 'a', DAY_MS)
      await store.append('l', 'v', { ttlMs: DAY_MS, ...bounds })
    }
    expect(store.size).toBe(3)
    for (let index = 0; index < 1_000; index += 1) {
      await store.set(`s/${index}`, 'v', { ttlMs: DAY_MS })
      await store.append(`s/${index}`, 'v', { ttlMs: DAY_MS, ...bounds })
      await store.delete(`s/${index}`)
      await store.drop(`s/${index}`)
    }
    await store.release('c', 'a')
    expect(store.size).toBe(2)
  })

  test('a key that was renewed outlives those that were not', async () => {
    const store = open()
    for (const key of ['a', 'b', 'c']) await store.set(key, 'v', { ttlMs: 100 })
    now = 60
    await store.set('b', 'v', { ttlMs: 100 })
    now = 100
    await store.set('d', 'v', { ttlMs: 100 })
    expect(store.size).toBe(2)
    expect((await store.get('b'))?.value).toBe('v')
  })

  test('the id of the newest dropped entry is no gap: nothing after it is lost', async () => {
    const store = open()
    const ids: string[] = []
    for (const value of ['a', 'b', 'c', 'd'])
      ids.push(await store.append('l', value, { ...bounds, ttlMs: 50, maxEntries: 2 }))
    expect(ids).toEqual(['0000000000000001', '0000000000000002', '0000000000000003', '0000000000000004'])
    expect((await store.readAfter('l', '0000000000000001', 9)).gap).toBe(true)
    expect(await store.readAfter('l', '0000000000000002', 1)).toEqual({
      entries: [{ id: '0000000000000003', value: 'c' }],
      gap: false,
    })
  })
})

describe('the memory pub/sub', () => {
  test('reports what a listener throws', async () => {
    const errors: unknown[] = []
    const { pubSub } = memoryBackplane({ onError: (error) => errors.push(error) })
    const mistake = new Error('a listener that throws')
    await pubSub.subscribe('t', () => {
      throw mistake
    })
    await pubSub.publish('t', 'x')
    expect(errors).toEqual([mistake])
  })

  test('forgets a topic with its last subscription', async () => {
    const pubSub = new MemoryPubSub()
    const first = await pubSub.subscribe('t', () => {})
    const second = await pubSub.subscribe('t', () => {})
    await first()
    await first()
    expect(pubSub.size).toBe(1)
    await second()
    expect(pubSub.size).toBe(0)
    await pubSub.publish('t', 'x')
    expect(pubSub.size).toBe(0)
  })

  test('no message once unsubscribe was called, not even one on its way', async () => {
    const heard: string[] = []
    const pubSub = new MemoryPubSub()
    const unsubscribe = await pubSub.subscribe('t', (message) => heard.push(message))
    const published = pubSub.publish('t', 'x')
    await Promise.all([unsubscribe(), published])
    expect(heard).toEqual([])
  })

  test('one who subscribes after a publish does not hear it', async () => {
    const heard: string[] = []
    const pubSub = new MemoryPubSub()
    await pubSub.subscribe('t', (message) => heard.push(`1 ${message}`))
    const published = pubSub.publish('t', 'x')
    await Promise.all([pubSub.subscribe('t', (message) => heard.push(`2 ${message}`)), published])
    expect(heard).toEqual(['1 x'])
  })

  test('close ends every subscription and forgets every value', async () => {
    const heard: string[] = []
    const { pubSub, store, close } = memoryBackplane()
    await pubSub.subscribe('t', (message) => heard.push(message))
    await store.set('k', 'v', { ttlMs: DAY_MS })
    await close?.()
    await pubSub.publish('t', 'x')
    expect(heard).toEqual([])
    expect(await store.get('k')).toBeUndefined()
  })
})
