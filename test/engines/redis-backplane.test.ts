import { Redis } from 'ioredis'
import { createRouter, createServer } from 'phantom-mcp'
import { redisBackplane } from 'phantom-mcp/redis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Engine, freePort } from './_engine.js'
import { CLIENTS, redisMissing, runDurableRedis, runRedis, type UserClient, urlOf } from './_redis.js'

const left = redisMissing ? ' (left out: redis-server is not installed)' : ''
const MINUTE = { ttlMs: 60_000 }
const LOG = { ttlMs: 60_000, maxEntries: 10, maxBytes: 1_000 }

describe('redisBackplane refuses', () => {
  const client = new Redis({ lazyConnect: true })
  const NO_CLIENT =
    "redisBackplane: the first argument must be a client of ioredis or node-redis: new Redis(url) of 'ioredis', or " +
    "createClient({ url }) of 'redis', which has to be connected"

  test.each([undefined, null, 'redis://127.0.0.1', {}, { evalsha: () => undefined }, () => undefined])(
    'what is no client: %s',
    (wrong) => {
      expect(() => redisBackplane(wrong as unknown as Redis)).toThrow(new TypeError(NO_CLIENT))
    },
  )

  test('a client that puts something in front of keys', () => {
    const told = "redisBackplane: give it a client without keyPrefix; the backplane's own option is prefix"
    expect(() => redisBackplane(new Redis({ lazyConnect: true, keyPrefix: 'x:' }))).toThrow(new TypeError(told))
    expect(() => redisBackplane(createClient({ keyPrefix: 'x:' } as object))).toThrow(new TypeError(told))
  })

  test.each([
    [{ prefx: 'x' }, "redisBackplane: unknown option 'prefx'; known are prefix, timeoutMs, onError"],
    [{ prefix: 7 }, 'redisBackplane: prefix must be a string, not number'],
    [{ timeoutMs: 0 }, 'redisBackplane: timeoutMs must be a whole number from 1 on, not 0'],
    [{ onError: 'log' }, 'redisBackplane: onError must be a function, not string'],
    [null, 'redisBackplane: the options must be an object, not null'],
  ])('the options %j', (options, told) => {
    expect(() => redisBackplane(client, options as object)).toThrow(new TypeError(told))
  })
})

describe('without a server', () => {
  test.each(['ioredis', 'node-redis'] as const)('a call of %s fails in its time, and says why', async (kind) => {
    const port = await freePort()
    const told: string[] = []
    const onError = (error: unknown): number => told.push(String(error))
    const client =
      kind === 'ioredis' ? new Redis(port, '127.0.0.1') : createClient({ url: `redis://127.0.0.1:${port}` })
    client.on('error', () => undefined)
    if (!(client instanceof Redis)) client.connect().catch(() => undefined)
    const { store, pubSub, close } = redisBackplane(client, { timeoutMs: 200, onError })
    const started = Date.now()
    await expect(store.get('k')).rejects.toThrow(new Error('Redis: no connection within 200 ms'))
    await expect(pubSub.publish('t', 'x')).rejects.toThrow(new Error('Redis: no connection within 200 ms'))
    await expect(pubSub.subscribe('t', () => {})).rejects.toThrow(new Error('Redis: no connection within 200 ms'))
    expect(Date.now() - started).toBeLessThan(2_000)
    expect(told[0]).toContain('ECONNREFUSED')
    await close?.()
    if (client instanceof Redis) client.disconnect()
    else client.destroy()
  })

  test('a client that was never connected, or was closed', async () => {
    const told = new Error('The Redis client is not connected: it was closed, or connect was not called')
    await expect(redisBackplane(createClient()).store.get('k')).rejects.toThrow(told)
    const client = new Redis({ lazyConnect: true })
    client.disconnect()
    await expect(redisBackplane(client).store.get('k')).rejects.toThrow(told)
  })

  test('a server reports that it could not subscribe, and runs', async () => {
    const client = new Redis(await freePort(), '127.0.0.1')
    client.on('error', () => undefined)
    const backplane = redisBackplane(client, { timeoutMs: 100 })
    const errors: unknown[] = []
    const router = createRouter({ name: 'x', version: '1', secretKeyBase: 's'.repeat(64) })
    createServer(router, { backplane, onError: (error) => errors.push(error) })
    await expect.poll(() => errors).toContainEqual(new Error('Redis: no connection within 100 ms'))
    await backplane.close?.()
    client.disconnect()
  })
})

describe.skipIf(redisMissing).each(['ioredis', 'node-redis'] as const)(`the Redis backplane by %s${left}`, (kind) => {
  let engine: Engine
  let user: UserClient
  beforeAll(async () => {
    engine = await runRedis()
    user = await CLIENTS[kind](urlOf(engine))
  })
  afterAll(async () => {
    user.close()
    await engine.end()
  })
  const connections = async (): Promise<number> =>
    String(await user.send('CLIENT', 'LIST'))
      .split('\n')
      .filter((line) => line !== '').length

  test('makes a second connection when something subscribes, and closes that one alone', async () => {
    const before = await connections()
    const backplane = user.backplane({ prefix: 'a:' })
    await backplane.pubSub.publish('t', 'x')
    await backplane.store.set('k', 'v', MINUTE)
    expect(await connections()).toBe(before)
    await backplane.pubSub.subscribe('t', () => {})
    await backplane.pubSub.subscribe('u', () => {})
    expect(await connections()).toBe(before + 1)
    await backplane.close?.()
    await backplane.close?.()
    await expect.poll(connections).toBe(before)
    await expect(backplane.pubSub.subscribe('t', () => {})).rejects.toThrow(new Error('redisBackplane: it was closed'))
    expect((await user.backplane({ prefix: 'a:' }).store.get('k'))?.value).toBe('v')
  })

  test('keeps every name under its prefix, and away from other prefixes', async () => {
    const one = user.backplane({ prefix: 'one*:' })
    const two = user.backplane({ prefix: 'one:' })
    const heard: string[] = []
    await one.pubSub.subscribe('t', (message) => heard.push(`one ${message}`))
    await two.pubSub.subscribe('t', (message) => heard.push(`two ${message}`))
    await one.store.set('k', 'v', MINUTE)
    await one.store.append('l', 'v', LOG)
    await two.store.set('other', 'v', MINUTE)
    await one.pubSub.publish('t', 'x')
    await expect.poll(() => heard).toEqual(['one x'])
    expect(await two.store.get('k')).toBeUndefined()
    const listed: string[] = []
    for await (const key of one.store.list('')) listed.push(key)
    expect(listed).toEqual(['k'])
    const names = (await user.send('KEYS', 'one\\**')) as string[]
    expect([...names].sort()).toEqual(['one*:l:l', 'one*:v:k'])
    await one.close?.()
    await two.close?.()
  })

  test('everything ends in Redis itself', async () => {
    const { store } = user.backplane({ prefix: 'ends:' })
    await store.set('k', 'v', { ttlMs: 100 })
    await store.claim('c', 'a', 100)
    await store.append('l', 'v', { ...LOG, ttlMs: 100 })
    await expect.poll(() => user.send('KEYS', 'ends:*')).toEqual([])
  })

  test('sends its scripts again to a server that has forgotten them', async () => {
    const { store } = user.backplane({ prefix: 's:' })
    await store.set('k', 'one', MINUTE)
    await user.send('SCRIPT', 'FLUSH')
    await store.set('k', 'two', MINUTE)
    expect((await store.get('k'))?.value).toBe('two')
  })

  test('reports what a listener throws', async () => {
    const errors: unknown[] = []
    const { pubSub, close } = user.backplane({ prefix: 'e:', onError: (error) => errors.push(error) })
    const mistake = new Error('a listener that throws')
    await pubSub.subscribe('t', () => {
      throw mistake
    })
    await pubSub.publish('t', 'x')
    await expect.poll(() => errors).toEqual([mistake])
    await close?.()
  })

  test('subscribes again when its own connection alone was cut', async () => {
    const { pubSub, close } = user.backplane({ prefix: 'c:' })
    const heard: string[] = []
    await pubSub.subscribe('t', (message) => heard.push(message))
    await user.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
    const ring = async (): Promise<string[]> => {
      await pubSub.publish('t', 'x')
      return heard
    }
    await expect.poll(ring).toContain('x')
    await close?.()
  })
})

describe.skipIf(redisMissing)(`a Redis that goes away${left}`, () => {
  test.each(['ioredis', 'node-redis'] as const)(
    'what %s gave up is not carried out later',
    async (kind) => {
      const engine = await runDurableRedis()
      const user = await CLIENTS[kind](urlOf(engine))
      const { store } = user.backplane({ prefix: 'x:', timeoutMs: 100 })
      await store.set('k', 'before', MINUTE)
      await engine.stop()
      await expect
        .poll(() =>
          store.get('k').then(
            () => 'there',
            () => 'gone',
          ),
        )
        .toBe('gone')
      await expect(store.set('k', 'meanwhile', MINUTE)).rejects.toThrow(new Error('Redis: no connection within 100 ms'))
      await engine.start()
      const value = async (): Promise<string | undefined> => (await store.get('k').catch(() => undefined))?.value
      await expect.poll(value, { timeout: 10_000 }).toBe('before')
      expect((await store.get('k'))?.value).toBe('before')
      user.close()
      await engine.end()
    },
    30_000,
  )

  test('a server that does not answer is given up', async () => {
    const engine = await runRedis()
    const user = await CLIENTS.ioredis(urlOf(engine))
    const { store } = user.backplane({ timeoutMs: 200 })
    await store.get('k')
    await user.send('CLIENT', 'PAUSE', '60000')
    await expect(store.get('k')).rejects.toThrow(new Error('Redis: no answer within 200 ms'))
    user.close()
    await engine.end()
  })

  test('a lazy client of ioredis is connected by the first call', async () => {
    const engine = await runRedis()
    const client = new Redis(engine.port, '127.0.0.1', { lazyConnect: true })
    const backplane = redisBackplane(client)
    await backplane.pubSub.subscribe('t', () => {})
    await backplane.store.set('k', 'v', MINUTE)
    expect((await backplane.store.get('k'))?.value).toBe('v')
    await backplane.close?.()
    client.disconnect()
    await engine.end()
  })
})
