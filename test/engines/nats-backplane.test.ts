import type { NatsConnection } from '@nats-io/transport-node'
import { natsBackplane } from 'phantom-mcp/nats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from './_engine.js'
import { connectTo, natsMissing, runNats, runPlainNats, urlOf } from './_nats.js'

const left = natsMissing ? ' (left out: nats-server is not installed)' : ''
const MINUTE = { ttlMs: 60_000 }
const LOG = { ttlMs: 60_000, maxEntries: 100, maxBytes: 10_000_000 }
const HOUR_MS = 3_600_000

describe('natsBackplane refuses', () => {
  test.each([undefined, null, 'nats://127.0.0.1', {}, { publish: () => undefined }])(
    'what is no connection: %s',
    (wrong) => {
      const told =
        "natsBackplane: the first argument must be a connection of nats.js: await connect({ servers }) of '@nats-io/transport-node'"
      expect(() => natsBackplane(wrong as unknown as NatsConnection)).toThrow(new TypeError(told))
    },
  )

  const none = (): never => {
    throw new Error('nothing is to be asked')
  }
  const client = {
    publish: none,
    subscribe: none,
    request: none,
    requestMany: none,
    flush: none,
    isClosed: none,
    status: none,
  }
  test.each([
    [
      { prefx: 'x' },
      "natsBackplane: unknown option 'prefx'; known are prefix, timeoutMs, storage, replicas, clock, onError",
    ],
    [{ prefix: 'a.b' }, 'natsBackplane: prefix must be 1 to 64 letters, digits, - and _, not a.b'],
    [{ prefix: '' }, 'natsBackplane: prefix must be 1 to 64 letters, digits, - and _, not '],
    [{ timeoutMs: 0 }, 'natsBackplane: timeoutMs must be a whole number from 1 on, not 0'],
    [{ replicas: 1.5 }, 'natsBackplane: replicas must be a whole number from 1 on, not 1.5'],
    [{ storage: 'disk' }, "natsBackplane: storage must be 'file' or 'memory', not disk"],
    [{ clock: 7 }, 'natsBackplane: clock must be a function, not number'],
    [{ onError: 'log' }, 'natsBackplane: onError must be a function, not string'],
  ])('the options %j', (options, told) => {
    expect(() => natsBackplane(client, options as object)).toThrow(new TypeError(told))
  })
})

describe.skipIf(natsMissing)(`the NATS backplane${left}`, () => {
  let engine: Engine
  let connection: NatsConnection
  beforeAll(async () => {
    engine = await runNats()
    connection = await connectTo(urlOf(engine))
  })
  afterAll(async () => {
    await connection.close()
    await engine.end()
  })

  interface Info {
    readonly config: Readonly<Record<string, unknown>>
    readonly state: { readonly messages: number; readonly bytes: number }
  }
  const ask = async (command: string, query: object = {}): Promise<Info> =>
    (await connection.request(`$JS.API.STREAM.${command}`, JSON.stringify(query))).json<Info>()

  test('makes its streams when they are needed, as it was told', async () => {
    const { store } = natsBackplane(connection, { prefix: 'made', storage: 'memory' })
    expect(await ask('INFO.made_values')).toMatchObject({ error: { code: 404 } })
    await store.set('k', 'v', MINUTE)
    await store.append('l', 'v', LOG)
    expect((await ask('INFO.made_values')).config).toMatchObject({
      ...{ subjects: ['made.v.>', 'made.vp.>'], storage: 'memory', num_replicas: 1, max_age: HOUR_MS * 1e6 },
      ...{ max_msgs_per_subject: 1, allow_direct: false, retention: 'limits', discard: 'old' },
    })
    expect((await ask('INFO.made_logs')).config).toMatchObject({
      ...{
        subjects: ['made.l.>', 'made.lp.>'],
        storage: 'memory',
        max_age: 24 * HOUR_MS * 1e6,
        max_msgs_per_subject: -1,
      },
    })
  })

  test('the age of a stream grows with what is kept, and never shrinks', async () => {
    const nodes = [natsBackplane(connection, { prefix: 'age' }), natsBackplane(connection, { prefix: 'age' })]
    await nodes[0]!.store.set('k', 'v', { ttlMs: 30 * HOUR_MS })
    expect((await ask('INFO.age_values')).config['max_age']).toBe(32 * HOUR_MS * 1e6)
    await nodes[1]!.store.set('k', 'v', { ttlMs: 5 * HOUR_MS })
    expect((await ask('INFO.age_values')).config['max_age']).toBe(32 * HOUR_MS * 1e6)
    await nodes[1]!.store.append('l', 'v', { ...LOG, ttlMs: 13 * HOUR_MS })
    expect((await ask('INFO.age_logs')).config['max_age']).toBe(32 * HOUR_MS * 1e6)
    await nodes[1]!.store.set('k', 'v', { ttlMs: Number.MAX_SAFE_INTEGER })
    expect((await nodes[0]!.store.get('k'))?.value).toBe('v')
  })

  test('two prefixes have nothing to do with each other', async () => {
    const one = natsBackplane(connection, { prefix: 'one' })
    const two = natsBackplane(connection, { prefix: 'two' })
    const heard: string[] = []
    await one.pubSub.subscribe('t', (message) => heard.push(`one ${message}`))
    await two.pubSub.subscribe('t', (message) => heard.push(`two ${message}`))
    await one.store.set('k', 'v', MINUTE)
    expect(await two.store.get('k')).toBeUndefined()
    await one.pubSub.publish('t', 'x')
    await expect.poll(() => heard).toEqual(['one x'])
    await one.close?.()
    await one.close?.()
    await two.close?.()
    await expect(one.pubSub.subscribe('t', () => {})).rejects.toThrow(new Error('natsBackplane: it was closed'))
    expect(connection.isClosed()).toBe(false)
  })

  test('things end by the clock that was given', async () => {
    let now = 1_000_000
    const { store } = natsBackplane(connection, { prefix: 'clock', clock: () => now })
    await store.set('k', 'v', { ttlMs: 50 })
    await store.claim('c', 'a', 50)
    const id = await store.append('l', 'v', { ...LOG, ttlMs: 50 })
    now += 49
    expect((await store.get('k'))?.value).toBe('v')
    expect(await store.claim('c', 'b', 50)).toEqual({ owner: 'a', mine: false })
    expect(await store.readAfter('l', id, 1)).toEqual({ entries: [], gap: false })
    now += 1
    expect(await store.get('k')).toBeUndefined()
    expect(await store.claim('c', 'b', 50)).toEqual({ owner: 'b', mine: true })
    expect(await store.readAfter('l', id, 1)).toEqual({ entries: [], gap: true })
  })

  test('what was replaced, deleted or dropped leaves nothing behind, large or small', async () => {
    const { store } = natsBackplane(connection, { prefix: 'tidy' })
    const large = 'x'.repeat(2_000_000)
    await store.set('replaced', large, MINUTE)
    await store.set('replaced', 'small', MINUTE)
    await store.set('deleted', large, MINUTE)
    await store.delete('deleted')
    const revision = await store.set('refused', 'small', MINUTE)
    expect(await store.set('refused', large, { ...MINUTE, ifRevision: `${revision}0` })).toBeUndefined()
    for (let index = 0; index < 20; index += 1) await store.set('often', `${index}`, MINUTE)
    expect((await ask('INFO.tidy_values')).state.messages).toBe(3)
    for (let index = 0; index < 5; index += 1) await store.append('l', large, { ...LOG, maxEntries: 2 })
    // Two entries, each of four parts and what speaks of them.
    expect((await ask('INFO.tidy_logs')).state.messages).toBe(10)
    await store.drop('l')
    expect((await ask('INFO.tidy_logs')).state.messages).toBe(0)
  })

  test('small entries that were dropped go in batches', async () => {
    const { store } = natsBackplane(connection, { prefix: 'batch' })
    for (let index = 0; index < 100; index += 1) await store.append('l', 'x', { ...LOG, maxEntries: 10 })
    expect((await ask('INFO.batch_logs')).state.messages).toBeLessThanOrEqual(26)
    expect((await store.readAfter('l', undefined, 100)).entries).toHaveLength(10)
  })

  test('listing takes out what has ended', async () => {
    let now = 0
    const { store } = natsBackplane(connection, { prefix: 'list', clock: () => now })
    for (const key of ['a', 'b', 'c']) await store.set(key, 'v', { ttlMs: 50 })
    await store.set('d', 'v', MINUTE)
    now = 50
    const listed: string[] = []
    for await (const key of store.list('')) listed.push(key)
    expect(listed).toEqual(['d'])
    expect((await ask('INFO.list_values')).state.messages).toBe(1)
  })

  test('entries that the stream itself has let go are a gap', async () => {
    const { store } = natsBackplane(connection, { prefix: 'aged' })
    const ids: string[] = []
    for (const value of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) ids.push(await store.append('l', value, LOG))
    await ask('PURGE.aged_logs', { seq: Number(ids[2]) })
    const { entries, gap } = await store.readAfter('l', undefined, 100)
    expect([entries.map(({ value }) => value).join(''), gap]).toEqual(['cdefghi', true])
    expect((await store.readAfter('l', ids[0], 100)).gap).toBe(true)
    expect((await store.readAfter('l', ids[2], 100)).gap).toBe(false)
    // One in the middle: what comes before it is told first.
    await ask('MSG.DELETE.aged_logs', { seq: Number(ids[4]) })
    const before = await store.readAfter('l', ids[2], 100)
    expect([before.entries.map(({ value }) => value), before.gap]).toEqual([['d'], false])
    const behind = await store.readAfter('l', before.entries[0]!.id, 100)
    expect([behind.entries.map(({ value }) => value).join(''), behind.gap]).toEqual(['fghi', true])
  })

  test('reports what a listener throws, and what is no message of a backplane', async () => {
    const errors: unknown[] = []
    const { pubSub, close } = natsBackplane(connection, { prefix: 'e', onError: (error) => errors.push(error) })
    const mistake = new Error('a listener that throws')
    await pubSub.subscribe('t', () => {
      throw mistake
    })
    await pubSub.publish('t', 'x')
    await expect.poll(() => errors).toEqual([mistake])
    connection.publish('e.t.kdA', 'nonsense')
    await expect.poll(() => errors).toEqual([mistake, expect.any(SyntaxError)])
    await close?.()
  })
})

describe.skipIf(natsMissing)(`a NATS that is not as it should be${left}`, () => {
  test('without JetStream there are messages, and the store says what is missing', async () => {
    const engine = await runPlainNats()
    const connection = await connectTo(urlOf(engine))
    const { store, pubSub, close } = natsBackplane(connection)
    const heard: string[] = []
    await pubSub.subscribe('t', (message) => heard.push(message))
    await pubSub.publish('t', 'x')
    await expect.poll(() => heard).toEqual(['x'])
    const told = 'NATS: no JetStream answers: start nats-server with -js, and give the account JetStream'
    await expect(store.get('k')).rejects.toThrow(new Error(told))
    await close?.()
    await connection.close()
    await expect(store.get('k')).rejects.toThrow(new Error('The NATS connection is closed'))
    await engine.end()
  })

  test('calls fail in their time while it is away, and what was given up is not carried out later', async () => {
    const engine = await runNats()
    const connection = await connectTo(urlOf(engine))
    const { store, pubSub, close } = natsBackplane(connection, { timeoutMs: 100 })
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
    const told = new Error('NATS: no connection within 100 ms')
    await expect(store.set('k', 'meanwhile', MINUTE)).rejects.toThrow(told)
    await expect(pubSub.publish('t', 'x')).rejects.toThrow(told)
    await expect(pubSub.subscribe('t', () => {})).rejects.toThrow(told)
    await expect(natsBackplane(connection, { timeoutMs: 100 }).store.get('k')).rejects.toThrow(/^NATS: no /)
    await engine.start()
    const value = async (): Promise<string | undefined> => (await store.get('k').catch(() => undefined))?.value
    await expect.poll(value, { timeout: 10_000 }).toBe('before')
    await close?.()
    await connection.close()
    await engine.end()
  }, 30_000)

  test('streams that a restart took away are made again', async () => {
    const engine = await runNats()
    const connection = await connectTo(urlOf(engine))
    const { store } = natsBackplane(connection, { storage: 'memory', timeoutMs: 500 })
    await store.set('k', 'v', MINUTE)
    await engine.stop()
    await engine.start()
    const works = async (): Promise<string | undefined> => await store.set('k', 'again', MINUTE).catch(() => undefined)
    await expect.poll(works, { timeout: 10_000 }).toBeDefined()
    expect((await store.get('k'))?.value).toBe('again')
    await connection.close()
    await engine.end()
  }, 30_000)
})
