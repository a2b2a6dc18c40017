import { createRouter } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { codeOf, type Json, legacy, modern, TARGETS, target } from '../http/_http.js'
import {
  as,
  beginAs,
  getStream,
  listenStream,
  openApp,
  type Stream,
  sessionStream,
  settle,
  streamOf,
  usersApp,
} from './_sessions.js'

const MESSAGE = 'notifications/message'
const LEVEL = 'io.modelcontextprotocol/logLevel'

/** A server with a tool that logs at every level, with and without a logger's name. */
function logging() {
  const router = createRouter({ name: 'logging', version: '1.0.0' })
  router.tool('log', {}, async (_params, session) => {
    await session.log.debug('d')
    await session.log.info('i', 'part')
    await session.log.warning({ w: 1 })
    await session.log.error('e', 'part')
    await session.log.emergency('x')
    return 'logged'
  })
  return router
}
const levelsOf = (messages: readonly Json[]): unknown[] =>
  messages.filter(({ method }) => method === MESSAGE).map(({ params }) => (params as Json)['level'])

describe.each(TARGETS)('logs over %s', (kind) => {
  verifies('field.O1', 'of sessions follow the level of each', async () => {
    const on = await target(kind, logging())
    const sessions = await Promise.all([1, 2, 3].map(() => beginAs(on)))
    const [a, b, c] = sessions.map(({ headers }) => headers)
    const set = (level: string, headers = {}) => on.send(legacy('logging/setLevel', { level }, { headers }))
    expect((await set('error', a)).message).toMatchObject({ result: {} })
    await set('debug', b)
    const levels = async (headers = {}): Promise<unknown[]> =>
      levelsOf((await on.send(legacy('tools/call', { name: 'log' }, { headers }))).events)
    for (let round = 0; round < 2; round++) {
      const [ofA, ofB, ofC] = await Promise.all([levels(a), levels(b), levels(c)])
      expect(ofA).toEqual(['error', 'emergency'])
      expect(ofB).toEqual(['debug', 'info', 'warning', 'error', 'emergency'])
      // Who has not asked gets what the server thinks right: warnings and worse.
      expect(ofC).toEqual(['warning', 'error', 'emergency'])
    }
    expect(codeOf(await set('loud', a))).toBe(-32602)
    expect(await levels(a)).toEqual(['error', 'emergency'])
  })

  verifies('field.O1', 'of 2026-07-28 follow the level of the request, before its answer', async () => {
    const on = await target(kind, logging())
    const call = (meta: Json) => on.send(modern('tools/call', { name: 'log' }, { meta }))
    const none = await call({})
    expect([none.streamed, levelsOf(none.events)]).toEqual([false, []])
    const warned = await call({ [LEVEL]: 'warning' })
    expect(levelsOf(warned.events)).toEqual(['warning', 'error', 'emergency'])
    expect(warned.events.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'logged' }] } })
    expect(warned.events[0]).toMatchObject({ params: { level: 'warning', data: { w: 1 } } })
    expect(warned.events[1]).toMatchObject({ params: { level: 'error', data: 'e', logger: 'part' } })
    for (const level of ['loud', 7, null, '']) {
      const loud = await call({ [LEVEL]: level })
      expect([codeOf(loud), loud.streamed]).toEqual([-32602, false])
    }
    const set = await on.send(modern('logging/setLevel', { level: 'debug' }))
    expect([set.status, codeOf(set)]).toEqual([404, -32601])
    // Nothing is remembered from one request to the next.
    expect(levelsOf((await call({})).events)).toEqual([])
  })
})

verifies('field.O1', 'logs are not told on a listen stream, nor on another session’s', async () => {
  const on = await target('node', logging())
  const listening = await listenStream(on, { toolsListChanged: true })
  const a = await beginAs(on)
  const b = await beginAs(on)
  const streams = [await sessionStream(on, a.headers), await sessionStream(on, b.headers)]
  await on.send(legacy('logging/setLevel', { level: 'debug' }, { headers: b.headers }))
  const ofA = await on.send(legacy('tools/call', { name: 'log' }, { headers: a.headers }))
  await on.send(modern('tools/call', { name: 'log' }, { meta: { [LEVEL]: 'debug' } }))
  expect(levelsOf(ofA.events)).toEqual(['warning', 'error', 'emergency'])
  await settle(on)
  for (const stream of [listening, ...streams]) expect(stream.methods).not.toContain(MESSAGE)
})

describe('server.session', () => {
  test('is undefined for an id that is unknown, ended, or without a stream', async () => {
    const on = await target('node', openApp().router)
    for (const id of ['', 'unknown', '__proto__', 'constructor']) expect(on.server.session(id)).toBeUndefined()
    const { id, headers } = await beginAs(on)
    expect(on.server.session(id)).toBeUndefined()
    await sessionStream(on, headers)
    await expect.poll(() => on.server.session(id), PATIENT).toBeDefined()
    await on.send({ method: 'DELETE', headers })
    expect(on.server.session(id)).toBeUndefined()
    const none = await target('node', openApp().router, { server: { sessions: false } })
    expect(none.server.session(id)).toBeUndefined()
  })

  async function withStream(version = '2025-11-25') {
    const on = await target('node', usersApp().router)
    const ana = await beginAs(on, as('ana'), version)
    const bo = await beginAs(on, as('bo'), version)
    const [stream, other] = [await sessionStream(on, ana.headers), await sessionStream(on, bo.headers)]
    await expect.poll(() => on.server.session(ana.id) && on.server.session(bo.id), PATIENT).toBeDefined()
    return { on, ...ana, stream, other, session: on.server.session(ana.id) }
  }

  test('notify reaches that session alone', async () => {
    const { stream, other, session, on } = await withStream()
    await session?.notify('notifications/x', { a: 1 })
    await session?.notify('notifications/y')
    await expect
      .poll(() => stream.messages, PATIENT)
      .toEqual([
        { jsonrpc: '2.0', method: 'notifications/x', params: { a: 1 } },
        { jsonrpc: '2.0', method: 'notifications/y' },
      ])
    await settle(on)
    expect(other.messages).toEqual([])
  })

  test('ping asks the client, whose answer is taken', async () => {
    const { on, headers, stream, session } = await withStream()
    await session?.ping()
    await session?.ping()
    await expect.poll(() => stream.methods, PATIENT).toEqual(['ping', 'ping'])
    const [first, second] = stream.messages.map((message) => message['id'])
    expect(first).not.toBe(second)
    expect(stream.messages[0]).toMatchObject({ jsonrpc: '2.0', method: 'ping' })
    for (const id of [first, second]) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, result: {} })
      expect((await on.send({ ...legacy('x', {}, { headers }), body })).status).toBe(202)
    }
    expect(on.errors).toEqual([])
  })

  test('finish lets the stream go after retry; the session lives, and its client may come back', async () => {
    const { on, id, headers, stream, session, other } = await withStream()
    await session?.notify('notifications/x', { n: 1 })
    await session?.finish()
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.events.at(-1)).toMatchObject({
      id: undefined,
      message: undefined,
      retry: expect.stringMatching(/^\d+$/),
    })
    expect(other.over).toBe(false)
    await on.server.session(id)?.notify('notifications/x', { n: 2 })
    const again = await getStream(on, headers, stream.lastId)
    await expect.poll(() => again.told('notifications/x', 'n'), PATIENT).toEqual([2])
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
  })

  test('finish before 2025-11-25 ends the stream without retry', async () => {
    const { on, headers, stream, session } = await withStream('2025-06-18')
    await session?.finish()
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.text).not.toMatch(/^retry:/m)
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
  })

  test('a handle that is kept beyond the session does nothing', async () => {
    const { on, headers, session } = await withStream()
    await on.send({ method: 'DELETE', headers })
    await session?.notify('notifications/x')
    await session?.ping()
    await session?.finish()
    expect(on.errors).toEqual([])
  })

  test('what JSON cannot hold is refused, and the stream goes on', async () => {
    const { session, stream } = await withStream()
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    for (const params of [cyclic, { big: 1n }]) {
      expect(() => session?.notify('notifications/x', params)).toThrow(TypeError)
    }
    await session?.notify('notifications/x', { n: 1 })
    await expect.poll(() => stream.told('notifications/x', 'n'), PATIENT).toEqual([1])
  })
})

describe('session.notify', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])(
    '%s: travels on the call’s own stream, before its answer',
    async (version) => {
      const app = openApp()
      const on = await target('node', app.router)
      const params = { name: 'hold', arguments: { tag: 'a' } }
      const isModern = version === '2026-07-28'
      const { headers } = isModern ? { headers: {} } : await beginAs(on, {}, version)
      let own: Stream | undefined
      if (!isModern) own = await sessionStream(on, headers)
      const opening = streamOf(on, isModern ? modern('tools/call', params) : legacy('tools/call', params, { headers }))
      const { session, release } = await app.held('a')
      await session.notify('notifications/custom', { a: 1 })
      await session.notify('notifications/bare')
      release()
      const stream = await opening
      await expect.poll(() => stream.ended, PATIENT).toBe(true)
      expect(stream.methods).toEqual(['notifications/custom', 'notifications/bare', 'answer'])
      await session.notify('notifications/late')
      await settle(on)
      expect(own?.messages ?? []).toEqual([])
      expect(on.errors).toEqual([])
    },
  )
})
