import { type Backplane, createServer, type Json, memoryBackplane, type Server } from 'phantom-mcp'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { begin, CAPABILITIES, ended, follow, get, keysOf, type StoredApp, storedApp, watched } from './_stored.js'

const LEASE_MS = 150
const AWAY = new Error('away')
const LOST = { status: 'failed', error: { code: -32603, data: { reason: 'node_lost' } } }

const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** What the nodes of the tests share; time can be let pass for it. */
function shared(): Backplane & { pass(ms: number): void } {
  let passed = 0
  const { store, pubSub } = memoryBackplane({ clock: () => Date.now() + passed })
  return {
    store,
    pubSub,
    pass: (ms) => {
      passed += ms
    },
  }
}

interface TestNode extends ReturnType<typeof watched> {
  readonly server: Server
  readonly client: TestClient
  /** Nothing of the store is reached from here on. */
  cut(): void
}

async function node(app: StoredApp, backplane: Backplane): Promise<TestNode> {
  const seen = watched(backplane)
  const server = createServer(app.router, { backplane: seen.backplane, onError: () => undefined })
  const client = await connect(server, { capabilities: CAPABILITIES })
  undo.push(async () => {
    await server.close({ drainMs: 20 })
  })
  const cut = (): void => {
    seen.refuse = () => AWAY
  }
  return Object.assign(seen, { server, client, cut })
}

const hanging = (app: StoredApp): void => void app.works.set('hang', () => new Promise(() => undefined))
const told = (client: TestClient): readonly Json[] => client.notified('notifications/tasks')
const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('tasks of a node that is gone', () => {
  test('end failed without anybody asking, once, and their followers are told', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    hanging(app)
    const backplane = shared()
    const dying = await node(app, backplane)
    const living = [await node(app, backplane), await node(app, backplane), await node(app, backplane)]
    const ids = [await begin(dying.client, 'hang'), await begin(dying.client, 'hang')]
    const follower = living[2]?.client as TestClient
    await follow(follower, ids)
    const died = Date.now()
    dying.cut()
    await expect.poll(() => told(follower).length, { timeout: 2000 }).toBe(2)
    const tookMs = Date.now() - died
    expect(tookMs).toBeLessThan(LEASE_MS * 2 + 200)
    for (const id of ids) expect(told(follower).find(({ taskId }) => taskId === id)).toMatchObject(LOST)
    await elapsed(LEASE_MS)
    expect(told(follower)).toHaveLength(2)
    const written = living
      .flatMap(({ calls }) => calls)
      .filter(([method, , text]) => {
        return method === 'set' && String(text).includes('"failed"')
      })
    expect(written).toHaveLength(2)
    const seenTo = living
      .flatMap(({ calls }) => calls)
      .filter(([method, key]) => {
        return method === 'get' && String(key).includes(':tasks-of:')
      })
    expect(seenTo).toHaveLength(1)
    expect(living.flatMap(({ calls }) => calls.filter(([method]) => method === 'list'))).toEqual([])
    expect(await keysOf(backplane.store)).toEqual(['reaper', 'roster', 'task', 'task'])
  })

  test('are not looked for in the whole store: a look is two questions while nothing is worked on', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    const backplane = shared()
    const { calls } = await node(app, backplane)
    const ofTasks = (): string[] =>
      calls.map(([method, key]) => `${method} ${key}`).filter((call) => /tasks/.test(call))
    await expect.poll(() => ofTasks().length).toBeGreaterThan(8)
    expect(new Set(ofTasks())).toEqual(
      new Set(['claim io.modelcontextprotocol/tasks:reaper', 'get io.modelcontextprotocol/tasks:roster']),
    )
    expect(calls.filter(([method]) => method === 'list')).toEqual([])
  })

  test('end though whoever saw to it dies half way', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    hanging(app)
    const backplane = shared()
    const dying = await node(app, backplane)
    const first = await node(app, backplane)
    const ids = await Promise.all(Array.from({ length: 40 }, () => begin(dying.client, 'hang')))
    let ended = 0
    first.refuse = (method, _key, text) =>
      (method === 'set' && String(text).includes('"failed"') && ++ended > 5) || ended > 5 ? AWAY : undefined
    dying.cut()
    await expect.poll(() => ended, { timeout: 2000 }).toBeGreaterThan(5)
    const second = await node(app, backplane)
    await follow(second.client, ids)
    await expect.poll(() => told(second.client).length, { timeout: 3000 }).toBe(40)
    for (const task of told(second.client)) expect(task).toMatchObject(LOST)
  })

  test('are told of, if they have ended otherwise and their node died before it could tell', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    let release = (): void => undefined
    app.works.set('wait', () => new Promise((resolve) => (release = () => resolve('done'))))
    const backplane = shared()
    const pubSub: Backplane['pubSub'] = {
      publish: () => new Promise(() => undefined),
      subscribe: (topic, listener) => backplane.pubSub.subscribe(topic, listener),
    }
    const silent = { store: backplane.store, pubSub }
    const [dying, living] = [await node(app, silent), await node(app, backplane)]
    const id = await begin(dying.client, 'wait')
    await follow(living.client, [id])
    release()
    await expect.poll(async () => (await get(living.client, id))['status']).toBe('completed')
    dying.cut()
    expect(told(living.client)).toEqual([])
    await expect.poll(() => told(living.client), { timeout: 2000 }).toMatchObject([{ status: 'completed' }])
  })

  test('end though one of them cannot be read', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    hanging(app)
    const backplane = shared()
    const [dying, living] = [await node(app, backplane), await node(app, backplane)]
    const ids = [await begin(dying.client, 'hang'), await begin(dying.client, 'hang')] as const
    await follow(living.client, ids)
    dying.cut()
    await backplane.store.set(`io.modelcontextprotocol/tasks:task:${ids[0]}`, 'nothing of ours', { ttlMs: 10_000 })
    await expect.poll(() => told(living.client), { timeout: 2000 }).toMatchObject([{ taskId: ids[1], ...LOST }])
  })

  test('end after a start of all nodes, too', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    hanging(app)
    const backplane = shared()
    const dying = await node(app, backplane)
    const id = await begin(dying.client, 'hang')
    dying.cut()
    await elapsed(LEASE_MS * 2)
    const { client } = await node(app, backplane)
    expect(await get(client, id)).toMatchObject({ status: 'working' })
    await follow(client, [id])
    await expect.poll(() => told(client), { timeout: 2000 }).toMatchObject([LOST])
  })

  test('are found by who asks, before that', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    hanging(app)
    const { store, pubSub } = memoryBackplane()
    const dying = await node(app, { store, pubSub })
    const alone = createServer(app.router, { backplane: { store, pubSub, local: true } })
    undo.push(() => alone.close())
    const client = await connect(alone, { capabilities: CAPABILITIES })
    const id = await begin(dying.client, 'hang')
    expect(await get(client, id)).toMatchObject({ status: 'working' })
    dying.cut()
    expect(await ended(client, id)).toMatchObject(LOST)
  })
})

describe('a node that was away', () => {
  test('keeps what it works on, if nobody has missed it', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    let release = (): void => undefined
    app.works.set('wait', () => new Promise((resolve) => (release = () => resolve('done'))))
    const backplane = shared()
    const nodes = [await node(app, backplane), await node(app, backplane)] as const
    const id = await begin(nodes[0].client, 'wait')
    for (const one of nodes) one.cut()
    await elapsed(LEASE_MS * 3)
    for (const one of nodes) one.refuse = () => undefined
    for (let looks = 0; looks < 10; looks++) {
      expect(await get(nodes[1].client, id)).toMatchObject({ status: 'working' })
      await elapsed(LEASE_MS / 5)
    }
    release()
    expect(await ended(nodes[1].client, id)).toMatchObject({ status: 'completed' })
  })

  test('finds its tasks ended, and is seen to again with the next ones', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    hanging(app)
    let release = (): void => undefined
    app.works.set('wait', () => new Promise((resolve) => (release = () => resolve('late'))))
    const backplane = shared()
    const [away, living] = [await node(app, backplane), await node(app, backplane)]
    const id = await begin(away.client, 'wait')
    away.cut()
    expect(await ended(living.client, id)).toMatchObject(LOST)
    away.refuse = () => undefined
    release()
    const next = await begin(away.client, 'hang')
    await elapsed(LEASE_MS * 2)
    expect(await get(living.client, id)).toMatchObject(LOST)
    expect(await get(living.client, next)).toMatchObject({ status: 'working' })
    await follow(living.client, [next])
    away.cut()
    await expect.poll(() => told(living.client), { timeout: 2000 }).toMatchObject([LOST])
  })
})

describe('nothing is left', () => {
  test('of a node that is closed', async () => {
    const app = storedApp({ leaseMs: LEASE_MS })
    app.works.set('now', () => 'done')
    const backplane = shared()
    const { server, client } = await node(app, backplane)
    await ended(client, await begin(client, 'now'))
    expect(await keysOf(backplane.store)).toEqual(['node', 'reaper', 'roster', 'task', 'tasks-of'])
    await server.close()
    expect(await keysOf(backplane.store)).toEqual(['roster', 'task'])
    expect((await backplane.store.get('io.modelcontextprotocol/tasks:roster'))?.value).toBe('[]')
  })

  test('after the time that tasks are kept', async () => {
    const app = storedApp({ leaseMs: LEASE_MS, ttlMs: 60_000 })
    hanging(app)
    const backplane = shared()
    const dying = await node(app, backplane)
    await begin(dying.client, 'hang')
    dying.cut()
    expect(await keysOf(backplane.store)).toEqual(['node', 'reaper', 'roster', 'task', 'tasks-of'])
    backplane.pass(60_000 + LEASE_MS * 2)
    expect(await keysOf(backplane.store)).toEqual([])
  })

  test('but what is worked on is listed for as long as that takes', async () => {
    const app = storedApp({ leaseMs: 60, ttlMs: 300 })
    app.works.set('beat', async (task) => {
      for (let beats = 0; beats < 20; beats++) {
        await elapsed(50)
        await task.progress(beats)
      }
    })
    const backplane = shared()
    const { client } = await node(app, backplane)
    await begin(client, 'beat')
    for (let looks = 0; looks < 8; looks++) {
      await elapsed(100)
      expect(await keysOf(backplane.store)).toEqual(['node', 'reaper', 'roster', 'task', 'tasks-of'])
    }
  })
})
