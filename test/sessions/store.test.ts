import { type Backplane, createServer, memoryBackplane, type ServerOptions } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import {
  afterTest,
  codeOf,
  dataOf,
  initialize,
  type Json,
  legacy,
  modern,
  resultOf,
  TARGETS,
  type Target,
  type TargetOptions,
  target,
  textBlockOf,
} from '../http/_http.js'
import {
  type App,
  as,
  beginAs,
  getStream,
  heldStream,
  listenersOf,
  openApp,
  sessionStream,
  slowBackplane,
  usersApp,
} from './_sessions.js'

/** Everything that a backplane keeps, by key. */
async function kept({ store }: Backplane): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for await (const key of store.list('')) found.set(key, (await store.get(key))?.value ?? '')
  return found
}

/** Servers on one backplane, one after the other: each as a process that is started anew. */
async function generations(app: () => App, server: ServerOptions = {}) {
  const backplane = memoryBackplane(server.clock === undefined ? {} : { clock: server.clock })
  const next = async (http: TargetOptions['http'] = {}): Promise<Target & { app: App }> => {
    const made = app()
    return { ...(await target('node', made.router, { server: { ...server, backplane }, http })), app: made }
  }
  return { backplane, next }
}

describe.each(TARGETS)('sessions in the Store over %s', (kind) => {
  test('are there from initialize on, and gone with DELETE', async () => {
    const backplane = memoryBackplane()
    const on = await target(kind, usersApp().router, { server: { backplane } })
    expect([...(await kept(backplane)).keys()]).toEqual([])
    const { id, headers } = await beginAs(on, as('ana-TOKEN'))
    const all = await kept(backplane)
    expect([...all.keys()].filter((key) => key.includes(id))).toHaveLength(1)
    expect(JSON.stringify([...all])).not.toContain('TOKEN')
    expect(JSON.stringify([...all])).toContain('2025-11-25')
    await on.send({ method: 'DELETE', headers })
    expect([...(await kept(backplane)).keys()]).toEqual([])
  })

  test('2026-07-28 leaves nothing there, whatever header it sends', async () => {
    const backplane = memoryBackplane()
    const on = await target(kind, openApp().router, { server: { backplane } })
    const answer = await on.send(modern('tools/list', {}, { headers: { 'mcp-session-id': 'x' } }))
    expect([answer.status, answer.header('mcp-session-id')]).toEqual([200, undefined])
    expect([...(await kept(backplane)).keys()]).toEqual([])
  })

  test('ids come from the platform’s random source, 122 bits of it', async () => {
    const on = await target(kind, openApp().router)
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await beginAs(on)).id))
    expect(new Set(ids).size).toBe(20)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  test('one that is removed from the Store is gone here too', async () => {
    const backplane = memoryBackplane()
    const on = await target(kind, openApp().router, { server: { backplane } })
    const { headers } = await beginAs(on)
    for await (const key of backplane.store.list('')) await backplane.store.delete(key)
    const answer = await on.send(legacy('ping', {}, { headers }))
    expect([answer.status, dataOf(answer)['reason']]).toEqual([404, 'session_unknown'])
  })

  test('DELETE is for ever, whoever asks on whichever server', async () => {
    const backplane = memoryBackplane()
    const one = await target(kind, openApp().router, { server: { backplane } })
    const two = await target(kind, openApp().router, { server: { backplane } })
    const { headers } = await beginAs(one)
    expect((await two.send(legacy('ping', {}, { headers }))).status).toBe(200)
    expect((await one.send({ method: 'DELETE', headers })).status).toBe(204)
    for (const on of [one, two, one]) {
      expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(404)
      expect((await on.send({ method: 'DELETE', headers })).status).toBe(404)
      expect((await on.send({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).status).toBe(404)
    }
  })

  test('time slides on every server, and is over on every server', async () => {
    let now = 1_000_000
    const clock = (): number => now
    const backplane = memoryBackplane({ clock })
    const server = { backplane, clock, sessionTtlMs: 1_000 }
    const one = await target(kind, openApp().router, { server })
    const two = await target(kind, openApp().router, { server })
    const { headers } = await beginAs(one)
    const use = async (on: Target): Promise<number> => (await on.send(legacy('ping', {}, { headers }))).status
    for (let round = 0; round < 6; round++) {
      now += 900
      expect(await use(round % 2 === 0 ? two : one)).toBe(200)
    }
    now += 1_300
    expect([await use(one), await use(two), await use(one)]).toEqual([404, 404, 404])
    expect([...(await kept(backplane)).keys()]).toEqual([])
  })

  test('a node that did not open it does not end it while it is used elsewhere', async () => {
    let now = 1_000_000
    const clock = (): number => now
    const server = { backplane: memoryBackplane({ clock }), clock, sessionTtlMs: 1_000 }
    const opener = await target(kind, openApp().router, { server })
    const other = await target(kind, openApp().router, { server })
    const { headers } = await beginAs(opener)
    const use = async (on: Target): Promise<number> => (await on.send(legacy('ping', {}, { headers }))).status
    for (let round = 0; round < 5; round++) {
      now += 700
      expect(await use(other)).toBe(200)
    }
    // The opener has not seen it for 3.5 times its life.
    expect(await use(opener)).toBe(200)
  })

  test('a Store that is away costs the request: retryable, masked and reported', async () => {
    let away = false
    const backplane = memoryBackplane()
    const guarded: Backplane = {
      ...backplane,
      store: new Proxy(backplane.store, {
        get: (store, name) =>
          away
            ? () => Promise.reject(new Error('secret: redis.example.test'))
            : (store[name as keyof typeof store] as () => unknown).bind(store),
      }),
    }
    const on = await target(kind, openApp().router, { server: { backplane: guarded } })
    const { headers } = await beginAs(on)
    away = true
    for (const sent of [legacy('ping', {}, { headers }), initialize(), { method: 'DELETE', headers }]) {
      const answer = await on.send(sent)
      expect([answer.status, codeOf(answer), dataOf(answer)['retryable']]).toEqual([503, -32603, true])
      expect(Number(answer.header('retry-after'))).toBeGreaterThan(0)
      expect(answer.text).not.toContain('secret')
      expect(on.errors.splice(0)).toHaveLength(1)
    }
    // Requests that stand alone need no Store.
    expect((await on.send(modern('tools/list'))).status).toBe(200)
    away = false
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
  })

  test('what the Store holds of somebody else’s making is no session', async () => {
    const backplane = memoryBackplane()
    const on = await target(kind, openApp().router, { server: { backplane } })
    await beginAs(on)
    for (const id of ['../x', '%00', 'session/', '__proto__', 'constructor', 'a'.repeat(8_000)]) {
      expect((await on.send(legacy('ping', {}, { headers: { 'mcp-session-id': id } }))).status).toBe(404)
    }
  })
})

describe('a server that is started anew on the same backplane', () => {
  test('knows its sessions: version, client, level, subscriptions and owner', async () => {
    const { next } = await generations(() => usersApp())
    const first = await next()
    const { headers } = await beginAs(first, as('ana'), '2025-06-18')
    await first.send(legacy('logging/setLevel', { level: 'error' }, { headers }))
    await first.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
    await first.serving?.close()
    const second = await next()
    expect((await second.send(legacy('ping', {}, { headers: { ...headers, ...as('bo') } }))).status).toBe(404)
    const { stream, held } = await heldStream(second, second.app, { tag: 'b', headers })
    const { session } = held
    expect([session.protocolVersion, session.clientInfo]).toEqual(['2025-06-18', { name: 'probe', version: '0' }])
    await session.log.warning('too low')
    await session.log.error('high enough')
    held.release()
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.told('notifications/message', 'data')).toEqual(['high enough'])
    const own = await sessionStream(second, headers)
    await expect.poll(() => listenersOf(second), PATIENT).toBe(1)
    expect(await second.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
    await expect.poll(() => own.told('notifications/resources/updated', 'uri'), PATIENT).toEqual(['notes://plain'])
  })

  test('a session that was closed politely goes on where its stream stopped', async () => {
    const { next } = await generations(() => openApp())
    const first = await next()
    const { id, headers } = await beginAs(first)
    await first.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
    const before = await sessionStream(first, headers)
    await first.server.session(id)?.notify('notifications/x', { n: 1 })
    await expect.poll(() => before.told('notifications/x', 'n'), PATIENT).toEqual([1])
    await first.serving?.close()
    await expect.poll(() => before.over, PATIENT).toBe(true)
    const second = await next()
    const after = await getStream(second, headers, before.lastId)
    expect(after.status).toBe(200)
    await expect.poll(() => second.server.session(id) !== undefined, PATIENT).toBe(true)
    await second.server.session(id)?.notify('notifications/x', { n: 2 })
    expect(await second.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
    await expect.poll(() => after.methods, PATIENT).toEqual(['notifications/x', 'notifications/resources/updated'])
    expect(after.over).toBe(false)
  })

  test('gives the result of a call that ended before it came', async () => {
    const { next } = await generations(() => openApp())
    const first = await next()
    const { headers } = await beginAs(first)
    const { stream, held } = await heldStream(first, first.app, { tag: 'a', headers, id: 'call-1' })
    stream.drop()
    held.release('kept')
    await first.serving?.close()
    const second = await next()
    const again = await getStream(second, headers, stream.lastId)
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    expect(again.messages).toMatchObject([{ id: 'call-1', result: { content: [{ text: 'kept' }] } }])
  })

  test('ends the stream of a call that was lost with its process', async () => {
    const { next } = await generations(() => openApp(), { drainMs: 50 })
    const first = await next()
    const { headers } = await beginAs(first)
    const { stream } = await heldStream(first, first.app, { tag: 'a', headers })
    // As after a crash: the first server is still there, and knows nothing of the second.
    const second = await next()
    const again = await getStream(second, headers, stream.lastId)
    await expect.poll(() => again.over, PATIENT).toBe(true)
    expect((await second.send(legacy('ping', {}, { id: 2, headers }))).status).toBe(200)
  })

  test('without a backplane of its own it starts from nothing', async () => {
    const first = await target('node', openApp().router)
    const { headers } = await beginAs(first)
    await first.serving?.close()
    const second = await target('node', openApp().router)
    expect((await second.send(legacy('ping', {}, { headers }))).status).toBe(404)
  })
})

describe('a Store that takes its time', () => {
  test('loses and doubles no session', async () => {
    const app = openApp()
    const on = await target('node', app.router, { server: { backplane: slowBackplane() } })
    const sessions = await Promise.all(Array.from({ length: 10 }, () => beginAs(on)))
    const answers = await Promise.all(
      sessions.flatMap(({ headers }) => [1, 2, 3].map((id) => on.send(legacy('ping', {}, { id, headers })))),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200))
  })

  test('keeps what two requests at once have changed', async () => {
    const backplane = slowBackplane()
    const on = await target('node', openApp().router, { server: { backplane } })
    const { headers } = await beginAs(on)
    const uris = Array.from({ length: 8 }, (_, index) => `notes://topic/${index}`)
    const answers = await Promise.all(
      uris.map((uri, index) => on.send(legacy('resources/subscribe', { uri }, { id: index, headers }))),
    )
    expect(answers.every(({ message }) => (message as Json)['result'] !== undefined)).toBe(true)
    const stream = await sessionStream(on, headers)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
    expect(await on.server.notifyResourcesUpdated(uris)).toBe(1)
    await expect.poll(() => stream.told('notifications/resources/updated', 'uri'), PATIENT).toEqual(uris)
  })

  test('a session that is ended while it is used stays ended', async () => {
    let now = 1_000
    const clock = (): number => now
    const backplane = memoryBackplane({ clock })
    const server = { backplane: slowBackplane(backplane), clock, sessionTtlMs: 1_000 }
    const on = await target('node', openApp().router, { server })
    for (let round = 0; round < 5; round++) {
      const { headers } = await beginAs(on)
      now += 500
      const uses = [1, 2, 3].map((id) =>
        on.send(legacy('resources/subscribe', { uri: `notes://topic/${id}` }, { id, headers })),
      )
      const [deleted] = await Promise.all([on.send({ method: 'DELETE', headers }), ...uses])
      expect(deleted.status).toBe(204)
      expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(404)
    }
    expect([...(await kept(backplane)).keys()]).toEqual([])
  })
})

test('a cap holds for what is there, not for what has been', async () => {
  const backplane = memoryBackplane()
  const on = await target('fetch', openApp().router, { server: { maxSessions: 3, backplane } })
  const begun = []
  for (let index = 0; index < 6; index++) begun.push(await beginAs(on))
  const statuses = []
  for (const { headers } of begun) statuses.push((await on.send(legacy('ping', {}, { headers }))).status)
  expect(statuses).toEqual([404, 404, 404, 200, 200, 200])
  expect((await kept(backplane)).size).toBe(3)
  for (const { headers } of begun.slice(3)) await on.send({ method: 'DELETE', headers })
  for (let index = 0; index < 3; index++) await beginAs(on)
  expect((await kept(backplane)).size).toBe(3)
})

test('sessions: false issues, asks for and keeps nothing, and promises no stream', async () => {
  const backplane = memoryBackplane()
  const app = openApp()
  const on = await target('node', app.router, { server: { sessions: false, backplane } })
  const begun = await on.send(initialize('2025-11-25'))
  expect([begun.status, begun.header('mcp-session-id')]).toEqual([200, undefined])
  const capabilities = resultOf(begun)?.['capabilities'] as Record<string, Json>
  for (const kind of ['tools', 'prompts', 'resources']) {
    expect([kind, capabilities[kind]]).toEqual([kind, {}])
  }
  const call = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
  const { session, release } = await app.held('a')
  expect([session.id, session.stateless]).toEqual([undefined, false])
  release()
  expect(textBlockOf(await call)).toBe('a')
  for (const method of ['GET', 'DELETE']) {
    const answer = await on.send({ method, headers: { accept: 'text/event-stream', 'mcp-session-id': 'x' } })
    expect([method, answer.status, answer.header('allow')]).toEqual([method, 405, 'POST, OPTIONS'])
  }
  const set = await on.send(legacy('logging/setLevel', { level: 'debug' }))
  expect(set.message).toMatchObject({ result: {} })
  expect((await kept(backplane)).size).toBe(0)
})

test('two servers in one process have nothing in common by default', async () => {
  const server = createServer(openApp().router)
  const { url, close } = await serve(server, { port: 0, signals: false })
  afterTest(close)
  const other = await target('node', openApp().router)
  const { id } = await beginAs(other)
  const foreign = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'mcp-session-id': id },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  expect(foreign.status).toBe(404)
})
