import { memoryBackplane } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { failOnWarnings } from '../_warnings.js'
import { head, type Json, legacy, MODERN, modern, RawSocket, type Sent, type Target, target } from '../http/_http.js'
import { beginAs, getStream, listenersOf, listenStream, openApp, sessionStream } from './_sessions.js'

failOnWarnings()

/** Long enough that what the kernel takes in is soon full. */
const PAD = 'x'.repeat(20_000)
const UPDATES = 3_000
/** What may be on its way to a reader that has stopped: the kernel's buffers, and what the server may keep. */
const BOUND = 25_000_000
/** What is kept once it was let go. */
const LEFT = 1_000_000
const TIME = 20_000

/** A connection that has read the head of its answer, and then nothing more. */
async function paused(on: Target, sent: Sent): Promise<RawSocket> {
  const raw = await RawSocket.connect(on.serving?.port ?? 0)
  const { body = '' } = sent
  const length = sent.method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  await raw.write(head(sent, length) + String(body))
  await expect.poll(() => raw.received, PATIENT).toContain('\r\n\r\n')
  raw.socket.pause()
  return raw
}

/** Bytes that the process keeps for one socket or another, beyond what it had before. */
const writable = (): number =>
  (process as unknown as { _getActiveHandles(): { writableLength?: number }[] })
    ._getActiveHandles()
    .reduce((sum, { writableLength = 0 }) => sum + writableLength, 0)

/** The server has let the connection go: by the end of the answer, or of the socket. */
const isCut = ({ received, socket }: RawSocket): boolean => received.endsWith('0\r\n\r\n') || socket.closed

/** Raises updates; others on the event loop get their turn now and then. */
async function raise(on: Target, uris: (n: number) => string[]): Promise<void> {
  for (let n = 0; n < UPDATES; n++) {
    await on.server.notifyResourcesUpdated(uris(n))
    if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

const FAT = `notes://topic/${PAD}`

describe('a subscriber that stops reading', () => {
  test(
    '2026-07-28: is bounded, and let go; others are served',
    async () => {
      const on = await target('node', openApp().router)
      const lazy = await paused(
        on,
        modern('subscriptions/listen', { notifications: { resourceSubscriptions: [FAT] } }, { id: 'lazy' }),
      )
      await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
      const eager = await listenStream(on, { resourceSubscriptions: ['notes://plain'] }, { id: 'eager' })
      expect(listenersOf(on)).toBe(2)
      await raise(on, (n) => (n % 100 === 0 ? [FAT, 'notes://plain'] : [FAT]))
      expect(writable()).toBeLessThan(BOUND)
      await expect.poll(() => eager.told('notifications/resources/updated', 'uri').length, PATIENT).toBe(UPDATES / 100)
      // It is let go although it has neither read on nor hung up.
      await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
      expect(await on.server.notifyResourcesUpdated([FAT])).toBe(0)
      expect((await on.send(modern('tools/list'))).status).toBe(200)
      await expect.poll(writable, PATIENT).toBeLessThan(LEFT)
      // When it reads on it finds its connection cut, and not everything that was ever raised.
      lazy.socket.resume()
      await expect.poll(() => isCut(lazy), PATIENT).toBe(true)
      expect(lazy.received.length).toBeLessThan(BOUND)
      expect(on.errors).toEqual([])
    },
    TIME,
  )

  test(
    'the stream of a session: is bounded, and cut; the client may come back, others are served',
    async () => {
      const on = await target('node', openApp().router, { server: { resume: { entries: 10 } } })
      const { id, headers } = await beginAs(on)
      const lazy = await paused(on, { method: 'GET', headers: { accept: 'text/event-stream', ...headers } })
      await expect.poll(() => on.server.session(id), PATIENT).toBeDefined()
      const other = await beginAs(on)
      const eager = await sessionStream(on, other.headers)
      await expect.poll(() => listenersOf(on), PATIENT).toBe(2)
      for (let n = 0; n < UPDATES; n++) {
        void on.server.session(id)?.notify('notifications/x', { n, PAD })
        if (n % 100 === 0) await on.server.session(other.id)?.notify('notifications/x', { n })
        if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      expect(writable()).toBeLessThan(BOUND)
      await expect.poll(() => eager.told('notifications/x', 'n').length, PATIENT).toBe(UPDATES / 100)
      // Its place is free although the old connection has neither read on nor hung up.
      await expect
        .poll(async () => {
          const stream = await getStream(on, headers)
          stream.drop()
          return stream.status
        }, PATIENT)
        .toBe(200)
      // What was kept for the old one does not stay for ever.
      await expect.poll(writable, PATIENT).toBeLessThan(LEFT)
      lazy.socket.resume()
      await expect.poll(() => isCut(lazy), PATIENT).toBe(true)
      expect(lazy.received.length).toBeLessThan(BOUND)
      expect(on.errors).toEqual([])
    },
    TIME,
  )

  test('HTTP+SSE of 2024-11-05: is bounded, and let go; others are served', async () => {
    const on = await target('node', openApp().router, { http: { sse2024: true } })
    const lazy = await paused(on, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } })
    const endpoint = /data: (\S+)/.exec(lazy.received)?.[1] ?? ''
    const post = async (method: string, params: Json): Promise<void> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: method, method, params })
      const headers = { 'content-type': 'application/json' }
      expect((await on.send({ path: endpoint, headers, body })).status).toBe(202)
    }
    const clientInfo = { name: 'lazy', version: '0' }
    await post('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo })
    await post('resources/subscribe', { uri: FAT })
    expect([listenersOf(on), await on.server.notifyResourcesUpdated([FAT])]).toEqual([1, 1])
    await raise(on, () => [FAT])
    expect(writable()).toBeLessThan(BOUND)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
    await expect.poll(writable, PATIENT).toBeLessThan(LEFT)
    expect((await on.send(modern('tools/list'))).status).toBe(200)
    lazy.socket.resume()
    await expect.poll(() => isCut(lazy), PATIENT).toBe(true)
    expect(lazy.received.length).toBeLessThan(BOUND)
  }, 20_000)

  test('one that is merely slow loses nothing', async () => {
    const on = await target('node', openApp().router)
    const { id, headers } = await beginAs(on)
    const slow = await paused(on, { method: 'GET', headers: { accept: 'text/event-stream', ...headers } })
    await expect.poll(() => on.server.session(id), PATIENT).toBeDefined()
    for (let n = 0; n < 100; n++) void on.server.session(id)?.notify('notifications/x', { n, PAD })
    await new Promise((resolve) => setImmediate(resolve))
    slow.socket.resume()
    await expect.poll(() => slow.received.match(/"n":\d+/g)?.length, PATIENT).toBe(100)
    expect(slow.received.match(/"n":\d+/g)).toEqual(Array.from({ length: 100 }, (_, n) => `"n":${n}`))
  })

  test('many listeners of one client make no warning, and leave nothing', async () => {
    const on = await target('node', openApp().router)
    const streams = await Promise.all(
      Array.from({ length: 30 }, (_, id) => listenStream(on, { toolsListChanged: true }, { id })),
    )
    for (let round = 0; round < 30; round++) await on.server.notifyToolList()
    await expect.poll(() => streams.every(({ messages }) => messages.length === 31), PATIENT).toBe(true)
    for (const stream of streams) stream.drop()
    await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
  })
})

describe('a client that reads is not cut by a burst', () => {
  const BURST = 2_000

  test('of updates on the stream of its session', async () => {
    const followed = 1_000
    const on = await target('node', openApp().router, {
      server: { maxSubscriptions: followed, resume: { entries: followed } },
    })
    const { headers } = await beginAs(on)
    const uris = Array.from({ length: followed }, (_, n) => `notes://topic/${n}`)
    for (let from = 0; from < followed; from += 100) {
      const some = uris.slice(from, from + 100)
      await Promise.all(some.map((uri) => on.send(legacy('resources/subscribe', { uri }, { headers }))))
    }
    const stream = await sessionStream(on, headers)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
    expect(await on.server.notifyResourcesUpdated(uris)).toBe(1)
    await expect.poll(() => stream.told('notifications/resources/updated', 'uri').length, PATIENT).toBe(followed)
    expect(stream.told('notifications/resources/updated', 'uri')).toEqual(uris)
  })

  test.each(['2025-03-26', '2025-06-18', '2025-11-25', MODERN])('%s: of logs that nobody awaits', async (version) => {
    const { router } = openApp()
    router.tool('chatty', {}, (_params, session) => {
      for (let n = 0; n < BURST; n++) void session.log.error({ n, PAD: 'x'.repeat(200) })
      return 'done'
    })
    const on = await target('node', router)
    const logLevel = { 'io.modelcontextprotocol/logLevel': 'debug' }
    const answer =
      version === MODERN
        ? await on.send(modern('tools/call', { name: 'chatty' }, { meta: logLevel }))
        : await on.send(legacy('tools/call', { name: 'chatty' }, { headers: (await beginAs(on, {}, version)).headers }))
    expect(answer.events).toHaveLength(BURST + 1)
    expect(answer.events.at(-1)).toMatchObject({ result: { content: [{ text: 'done' }] } })
  })

  test('nor by what it missed when it comes back', async () => {
    const on = await target('node', openApp().router, { server: { resume: { entries: BURST } } })
    const { id, headers } = await beginAs(on)
    const first = await sessionStream(on, headers)
    await on.server.session(id)?.notify('notifications/x', { n: -1 })
    await expect.poll(() => first.told('notifications/x', 'n'), PATIENT).toEqual([-1])
    first.drop()
    await expect.poll(() => on.server.channels?.ofSession(id)?.attached, PATIENT).toBe(false)
    for (let n = 0; n < 1_500; n++) await on.server.session(id)?.notify('notifications/x', { n, PAD: 'x'.repeat(500) })
    const second = await getStream(on, headers, first.lastId)
    await expect.poll(() => second.told('notifications/x', 'n').length, PATIENT).toBe(1_500)
  })
})

describe('what is kept of calls that are done', () => {
  test('is bounded for all of them together: the oldest go first', async () => {
    const { router } = openApp()
    router.tool('fat', {}, async (_params, session) => {
      for (let n = 0; n < 6; n++) await session.log.error('x'.repeat(1_000_000))
      return 'done'
    })
    const backplane = memoryBackplane()
    const on = await target('node', router, { server: { backplane } })
    const { headers } = await beginAs(on)
    const firstIds: string[] = []
    for (let call = 0; call < 20; call++) {
      const answer = await on.send(legacy('tools/call', { name: 'fat' }, { headers }))
      firstIds.push(/^id: (\S+)$/m.exec(answer.text)?.[1] ?? '')
    }
    const beforeLast = async (index: number): Promise<number> => {
      // The log of a call begins with what its bytes allow: its last event is among that.
      const [name, id] = firstIds[index]?.split('.') ?? []
      expect(id).toBeDefined()
      const { entries } = await backplane.store.readAfter(`stream/${headers['mcp-session-id']}/${name}`, undefined, 10)
      return entries.length
    }
    expect(await beforeLast(0)).toBe(0)
    expect(await beforeLast(19)).toBeGreaterThan(0)
    await on.send({ method: 'DELETE', headers })
  }, 20_000)
})
