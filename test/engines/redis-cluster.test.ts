import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from './_engine.js'
import { CLUSTER_CLIENTS, redisMissing, runCluster, type UserClient, urlOf } from './_redis.js'

const left = redisMissing ? ' (left out: redis-server is not installed)' : ''
const MINUTE = { ttlMs: 60_000 }
const LOG = { ttlMs: 60_000, maxEntries: 3, maxBytes: 1_000 }

describe.skipIf(redisMissing)(`a Redis cluster of two servers${left}`, () => {
  let engines: readonly [Engine, Engine]
  beforeAll(async () => {
    engines = await runCluster()
  }, 40_000)
  afterAll(async () => {
    for (const engine of engines) await engine.end()
  })

  describe.each(['ioredis', 'node-redis'] as const)('by %s', (kind) => {
    const clients: UserClient[] = []
    beforeAll(async () => {
      for (const engine of engines) clients.push(await CLUSTER_CLIENTS[kind](urlOf(engine)))
    })
    afterAll(() => {
      for (const client of clients) client.close()
    })
    const nodes = (name: string) => clients.map((client) => client.backplane({ prefix: `${kind}-${name}:` }))

    test('values, leases and logs are on both servers, and every node finds all of them', async () => {
      const [here, there] = nodes('store')
      const names = Array.from({ length: 200 }, (_, index) => `{n}/${index}`)
      for (const name of names) {
        const first = await here!.store.set(name, 'one', { ...MINUTE, ifRevision: null })
        expect(await there!.store.set(name, 'two', { ...MINUTE, ifRevision: 'none' })).toBeUndefined()
        expect(await there!.store.set(name, 'two', { ...MINUTE, ifRevision: first! })).toBeDefined()
        expect(await here!.store.claim(`lease ${name}`, 'a', 60_000)).toEqual({ owner: 'a', mine: true })
        for (const value of ['a', 'b', 'c', 'd']) await here!.store.append(name, value, LOG)
        expect((await there!.store.readAfter(name, undefined, 9)).entries.map(({ value }) => value)).toEqual([
          'b',
          'c',
          'd',
        ])
      }
      const listed: string[] = []
      for await (const key of there!.store.list('{n}/')) listed.push(key)
      expect(listed.sort()).toEqual(names.sort())
      const leases: string[] = []
      for await (const key of here!.store.list('lease ')) leases.push(key)
      expect(leases).toHaveLength(200)
    })

    test('messages of a topic keep their order', async () => {
      const [here, there] = nodes('topics')
      const heard: string[] = []
      await there!.pubSub.subscribe('t', (message) => heard.push(message))
      const expected = Array.from({ length: 500 }, (_, index) => String(index))
      await Promise.all(expected.map((message) => here!.pubSub.publish('t', message)))
      await expect.poll(() => heard.length).toBe(500)
      expect(heard).toEqual(expected)
      await here!.close?.()
      await there!.close?.()
    })
  })
})
