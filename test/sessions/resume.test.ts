import { createRouter } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import { initialize, type Json, legacy, type Target, target } from '../http/_http.js'
import {
  type App,
  beginAs,
  furnish,
  getStream,
  heldStream,
  listenersOf,
  openApp,
  type Stream,
  sessionStream,
  settle,
  slowBackplane,
  streamOf,
} from './_sessions.js'

const NUMBERED = 'notifications/x'

/** Raises numbered messages on the session's own stream. */
async function raise(on: Target, id: string, ...numbers: number[]): Promise<void> {
  for (const n of numbers) await on.server.session(id)?.notify(NUMBERED, { n })
}

const numbersOf = (stream: Stream): unknown[] => stream.told(NUMBERED, 'n')
const comes = (stream: Stream, numbers: number[]): Promise<void> =>
  expect.poll(() => numbersOf(stream), PATIENT).toEqual(numbers)

/** The session's stream, with the server certain to have it. */
async function opened(on: Target, headers: Parameters<typeof getStream>[1]): Promise<Stream> {
  const stream = await sessionStream(on, headers)
  await expect.poll(() => listenersOf(on), PATIENT).toBeGreaterThan(0)
  return stream
}

/** Gone, and the server knows it. */
async function dropped(on: Target, stream: Stream, headers: Parameters<typeof getStream>[1]): Promise<void> {
  stream.drop()
  const id = String(headers['mcp-session-id'])
  await expect.poll(() => on.server.channels?.ofSession(id)?.attached ?? false, PATIENT).toBe(false)
}

describe('what a stream carries', () => {
  test.each([
    ['2024-11-05', false, false],
    ['2025-03-26', true, false],
    ['2025-06-18', true, false],
    ['2025-11-25', true, true],
  ])('%s: event ids %s, priming %s', async (version, ids, primes) => {
    const app = openApp()
    const on = await target('node', app.router)
    const { id, headers } = await beginAs(on, {}, version)
    const own = await opened(on, headers)
    const { stream: call, held } = await heldStream(on, app, { tag: 'a', headers })
    await raise(on, id, 1)
    held.release()
    await expect.poll(() => [call.ended, numbersOf(own)], PATIENT).toEqual([true, [1]])
    for (const stream of [own, call]) {
      const [first, ...others] = stream.events
      if (primes) {
        // 2025-11-25 basic/transports: an event with an id and an empty data field, at once.
        expect(first).toEqual({
          id: expect.stringMatching(/^\S+$/),
          retry: undefined,
          event: undefined,
          message: undefined,
        })
        expect(stream.text.startsWith(`id: ${first?.id}\ndata:`)).toBe(true)
      }
      const carrying = primes ? others : stream.events
      expect(carrying.length).toBeGreaterThan(0)
      for (const event of carrying) {
        expect(event.message).toBeDefined()
        expect(event.id !== undefined).toBe(ids)
        expect(event.retry).toBeUndefined()
      }
    }
  })

  test('ids differ among all streams of a session, and tell their stream', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { id, headers } = await beginAs(on)
    const own = await opened(on, headers)
    const calls = await Promise.all(
      ['a', 'b', 'c'].map((tag, index) => heldStream(on, app, { tag, headers, id: index + 1 })),
    )
    await raise(on, id, 1, 2, 3)
    for (const { held } of calls) {
      await held.session.notifyProgress(2)
      held.release()
    }
    await comes(own, [1, 2, 3])
    await expect.poll(() => calls.every(({ stream }) => stream.ended), PATIENT).toBe(true)
    const all = [own, ...calls.map(({ stream }) => stream)].flatMap(({ ids }) => ids)
    expect(all).toHaveLength(4 + 3 * 4)
    expect(new Set(all).size).toBe(all.length)
  })

  test('a short answer has no stream to go on with', async () => {
    const on = await target('node', openApp().router)
    const { headers } = await beginAs(on)
    const answer = await on.send(legacy('tools/call', { name: 'ping' }, { headers }))
    expect([answer.status, answer.streamed]).toEqual([200, false])
  })
})

describe('the session’s stream', () => {
  test('goes on behind Last-Event-ID, in order, nothing lost and nothing doubled', async () => {
    const on = await target('node', openApp().router)
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    await raise(on, id, 1, 2, 3)
    await comes(first, [1, 2, 3])
    await dropped(on, first, headers)
    await raise(on, id, 4, 5)
    const second = await getStream(on, headers, first.lastId)
    await comes(second, [4, 5])
    await raise(on, id, 6)
    await comes(second, [4, 5, 6])
    expect(second.over).toBe(false)
    // An older id gets again what came after it.
    await dropped(on, second, headers)
    const third = await getStream(
      on,
      headers,
      first.events.find(({ message }) => (message?.['params'] as Json)?.['n'] === 1)?.id,
    )
    await comes(third, [2, 3, 4, 5, 6])
    expect(third.ids.every((one) => one !== undefined)).toBe(true)
  })

  test('goes on behind the priming event', async () => {
    const on = await target('node', openApp().router)
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    await expect.poll(() => first.events.length, PATIENT).toBe(1)
    await dropped(on, first, headers)
    await raise(on, id, 1)
    const second = await getStream(on, headers, first.lastId)
    await comes(second, [1])
  })

  test('what was raised while the client was away is there when it comes back, also without an id', async () => {
    const on = await target('node', openApp().router)
    const { id, headers } = await beginAs(on)
    await on.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
    const first = await opened(on, headers)
    await raise(on, id, 1)
    await comes(first, [1])
    await dropped(on, first, headers)
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
    const second = await getStream(on, headers, first.lastId)
    await expect.poll(() => second.told('notifications/resources/updated', 'uri'), PATIENT).toEqual(['notes://plain'])
    await settle(on)
    expect(second.told('notifications/resources/updated', 'uri')).toHaveLength(1)
    expect(numbersOf(second)).toEqual([])
  })

  test('messages that come while a client comes back are not lost and not doubled', async () => {
    const on = await target('node', openApp().router, { server: { backplane: slowBackplane() } })
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1)
    await raise(on, id, ...numbers.slice(0, 20))
    await comes(first, numbers.slice(0, 20))
    await dropped(on, first, headers)
    await raise(on, id, ...numbers.slice(20, 30))
    const [second] = await Promise.all([getStream(on, headers, first.lastId), raise(on, id, ...numbers.slice(30))])
    await comes(second, numbers.slice(20))
  })

  test('a lost connection ends no session, and no call', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on)
    const own = await opened(on, headers)
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
    own.drop()
    stream.drop()
    await settle(on)
    expect((await on.send(legacy('ping', {}, { id: 2, headers }))).status).toBe(200)
    expect(app.aborted).toEqual([])
    held.release()
    await expect.poll(() => app.finished, PATIENT).toEqual(['a'])
  })

  test.each(['refuse', 'takeOver'] as const)(
    'two that are opened at once, %s: one of them stays',
    async (secondStream) => {
      const waiting = gate()
      const router = createRouter({
        name: 'x',
        version: '1',
        connect: async (session, request) => {
          if (request.headers.get('x-wait') !== null) await waiting.promise
          return session
        },
        principal: () => null,
      })
      furnish(router)
      const on = await target('node', router, { http: { secondStream } })
      const { id, headers } = await beginAs(on)
      const opening = ['1', '2', '3'].map((wait) => getStream(on, { ...headers, 'x-wait': wait }))
      await settle(on)
      waiting.open()
      const streams = await Promise.all(opening)
      const statuses = streams.map(({ status }) => status).sort()
      expect(statuses).toEqual(secondStream === 'refuse' ? [200, 409, 409] : [200, 200, 200])
      await expect.poll(() => streams.filter(({ over }) => !over).length, PATIENT).toBe(1)
      expect(listenersOf(on)).toBe(1)
      await raise(on, id, 1)
      await expect.poll(() => streams.flatMap(numbersOf), PATIENT).toEqual([1])
    },
  )

  test('a client that hangs up while it is let in leaves the place free', async () => {
    const waiting = gate()
    const asked = gate()
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: async (session, request) => {
        if (request.headers.get('x-wait') !== null) {
          asked.open()
          await waiting.promise
        }
        return session
      },
      principal: () => null,
    })
    furnish(router)
    const on = await target('node', router)
    const { id, headers } = await beginAs(on)
    const controller = new AbortController()
    const url = on.serving?.url ?? ''
    const gone = fetch(url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': id, 'x-wait': '1' },
      signal: controller.signal,
    }).catch(() => 'gone')
    await asked.promise
    controller.abort()
    expect(await gone).toBe('gone')
    await settle(on)
    waiting.open()
    await settle(on)
    const stream = await getStream(on, headers)
    expect(stream.status).toBe(200)
    await raise(on, id, 1)
    await comes(stream, [1])
  })

  test('of a session that has ended is over, and cannot be gone on with', async () => {
    const on = await target('node', openApp().router)
    const { headers } = await beginAs(on)
    const stream = await opened(on, headers)
    await expect.poll(() => stream.events.length, PATIENT).toBe(1)
    await on.send({ method: 'DELETE', headers })
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect((await getStream(on, headers, stream.lastId)).status).toBe(404)
    expect(listenersOf(on)).toBe(0)
  })
})

describe('ids that lead nowhere', () => {
  /** A stream that was asked for with an id that is none: it gets nothing, and does not stay. */
  async function expectNothing(on: Target, headers: Parameters<typeof getStream>[1], lastId: string): Promise<void> {
    const stream = await getStream(on, headers, lastId)
    expect(stream.status).toBe(400)
    await expect.poll(() => stream.over, PATIENT).toBe(true)
    expect(stream.text).toContain('"reason":"events_gone"')
  }

  /** A session's stream goes on all the same: its client is told that everything may have changed. */
  async function expectAnew(on: Target, headers: Parameters<typeof getStream>[1], lastId: string): Promise<void> {
    const stream = await getStream(on, headers, lastId)
    expect(stream.status).toBe(200)
    const methods = (): unknown[] => stream.messages.map(({ method }) => method)
    const lists = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`)
    await expect.poll(methods, PATIENT).toEqual(lists)
    await dropped(on, stream, headers)
  }

  /** The session is as good as before. */
  async function expectAlive(on: Target, id: string, headers: Parameters<typeof getStream>[1]): Promise<void> {
    expect((await on.send(legacy('ping', {}, { id: 'alive', headers }))).status).toBe(200)
    const stream = await getStream(on, headers)
    expect(stream.status).toBe(200)
    await raise(on, id, 99)
    await comes(stream, [99])
    await dropped(on, stream, headers)
  }

  const GARBAGE = [
    'x',
    '0',
    '-1',
    'null',
    'session.',
    '.1',
    'session.zzzz',
    'session.9999999999999999',
    'session.1.2',
    '../session/x',
    `session.${'9'.repeat(64)}`,
    'x'.repeat(5_000),
    '%00',
    'a b',
    '"',
    'constructor.1',
    '__proto__.1',
  ]
  test.each(GARBAGE)('garbage: %s', async (lastId) => {
    const on = await target('node', openApp().router)
    const { id, headers } = await beginAs(on)
    const stream = await opened(on, headers)
    await raise(on, id, 1)
    await comes(stream, [1])
    await dropped(on, stream, headers)
    await (/^session\.[\w-]+$/.test(lastId) && lastId.length <= 72 ? expectAnew : expectNothing)(on, headers, lastId)
    await expectAlive(on, id, headers)
    expect(on.errors).toEqual([])
  })

  test('an id of another session, of its own stream or of a call', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const [ana, bo] = [await beginAs(on), await beginAs(on)]
    const stream = await opened(on, ana.headers)
    await raise(on, ana.id, 1, 2)
    await comes(stream, [1, 2])
    const { stream: call, held } = await heldStream(on, app, { tag: 'a', headers: ana.headers })
    for (const lastId of stream.ids) await expectAnew(on, bo.headers, String(lastId))
    for (const lastId of call.ids) await expectNothing(on, bo.headers, String(lastId))
    await expectAlive(on, bo.id, bo.headers)
    held.release('for ana')
    await expect.poll(() => call.text, PATIENT).toContain('for ana')
    for (const lastId of [...call.ids]) await expectNothing(on, bo.headers, String(lastId))
    // Nor did it disturb whose it is.
    await raise(on, ana.id, 3)
    await comes(stream, [1, 2, 3])
  })

  test('a stream gets nothing of another one of the same session', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { id, headers } = await beginAs(on)
    const own = await opened(on, headers)
    const a = await heldStream(on, app, { tag: 'a', headers, id: 1 })
    const b = await heldStream(on, app, { tag: 'b', headers, id: 2 })
    a.stream.drop()
    b.stream.drop()
    await raise(on, id, 1)
    await comes(own, [1])
    a.held.release('of a')
    b.held.release('of b')
    await expect.poll(() => app.finished.length, PATIENT).toBe(2)
    const again = await getStream(on, headers, a.stream.lastId)
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    expect(again.messages).toMatchObject([{ id: 1, result: { content: [{ text: 'of a' }] } }])
    expect(own.messages).toHaveLength(1)
  })

  test('more was missed than is kept: the client is told that everything may have changed', async () => {
    const on = await target('node', openApp().router, { server: { resume: { entries: 5 } } })
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    await raise(on, id, 1)
    await comes(first, [1])
    await dropped(on, first, headers)
    await raise(on, id, 2, 3, 4, 5, 6, 7, 8)
    await expectAnew(on, headers, first.lastId)
    await expectAlive(on, id, headers)
  })

  test('as much was missed as is kept: nothing is lost', async () => {
    const on = await target('node', openApp().router, { server: { resume: { entries: 5 } } })
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    await raise(on, id, 1)
    await comes(first, [1])
    await dropped(on, first, headers)
    await raise(on, id, 2, 3, 4, 5)
    const second = await getStream(on, headers, first.lastId)
    await comes(second, [2, 3, 4, 5])
  })

  test('more bytes were missed than are kept', async () => {
    const on = await target('node', openApp().router, { server: { resume: { bytes: 1_000 } } })
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    await raise(on, id, 1)
    await comes(first, [1])
    await dropped(on, first, headers)
    for (let n = 0; n < 5; n++) await on.server.session(id)?.notify(NUMBERED, { n, text: 'x'.repeat(300) })
    await expectAnew(on, headers, first.lastId)
    await expectAlive(on, id, headers)
  })

  test('the log has run out of time, and something was missed', async () => {
    let now = 1_000_000
    const on = await target('node', openApp().router, { server: { clock: () => now, resume: { ttlMs: 1_000 } } })
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    await raise(on, id, 1)
    await comes(first, [1])
    await dropped(on, first, headers)
    await raise(on, id, 2)
    now += 1_001
    await expectAnew(on, headers, first.lastId)
    await expectAlive(on, id, headers)
  })

  test('the log has run out of time, and nothing was missed: the stream goes on where it was', async () => {
    let now = 1_000_000
    const on = await target('node', openApp().router, { server: { clock: () => now, resume: { ttlMs: 1_000 } } })
    const { id, headers } = await beginAs(on)
    const first = await opened(on, headers)
    await raise(on, id, 1)
    await comes(first, [1])
    await dropped(on, first, headers)
    now += 1_001
    const second = await getStream(on, headers, first.lastId)
    await raise(on, id, 2)
    await comes(second, [2])
    expect(second.messages).toHaveLength(1)
    await dropped(on, second, headers)
    await raise(on, id, 3)
    const third = await getStream(on, headers, second.lastId)
    await comes(third, [3])
    expect(third.messages).toHaveLength(1)
  })

  test('what a client was told that it had missed includes the resources that it follows', async () => {
    const on = await target('node', openApp().router, { server: { resume: { entries: 2 } } })
    const { id, headers } = await beginAs(on)
    await on.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
    const first = await opened(on, headers)
    await raise(on, id, 1)
    await comes(first, [1])
    await dropped(on, first, headers)
    await raise(on, id, 2, 3, 4)
    const second = await getStream(on, headers, first.lastId)
    await expect.poll(() => second.told('notifications/resources/updated', 'uri'), PATIENT).toEqual(['notes://plain'])
  })
})

describe('the stream of a call', () => {
  const result = (text: string): unknown => ({ id: 1, result: { content: [{ text }] } })

  async function begun(version = '2025-11-25'): Promise<{ on: Target; app: App; headers: Json }> {
    const app = openApp()
    const on = await target('node', app.router)
    return { on, app, headers: (await beginAs(on, {}, version)).headers }
  }

  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'J5 %s: a client that hangs up does not cancel, and gets the rest by Last-Event-ID while the call runs',
    async (version) => {
      const { on, app, headers } = await begun(version)
      const { stream, held } = await heldStream(on, app, { tag: 'a', headers: headers as never })
      stream.drop()
      await settle(on)
      await held.session.notifyProgress(2)
      const again = await getStream(on, headers as never, stream.lastId)
      expect(again.status).toBe(200)
      await expect.poll(() => again.told('notifications/progress', 'progress'), PATIENT).toEqual([2])
      await held.session.notifyProgress(3)
      await expect.poll(() => again.told('notifications/progress', 'progress'), PATIENT).toEqual([2, 3])
      expect(again.over).toBe(false)
      held.release('done')
      await expect.poll(() => again.ended, PATIENT).toBe(true)
      expect(again.messages.at(-1)).toMatchObject(result('done') as object)
      expect(again.messages).toHaveLength(3)
      expect([app.aborted, app.finished]).toEqual([[], ['a']])
    },
  )

  test('after it has ended: the result once, and then the end', async () => {
    const { on, app, headers } = await begun()
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers: headers as never })
    stream.drop()
    await settle(on)
    held.release('late')
    await expect.poll(() => app.finished, PATIENT).toEqual(['a'])
    for (let round = 0; round < 2; round++) {
      const again = await getStream(on, headers as never, stream.lastId)
      await expect.poll(() => again.ended, PATIENT).toBe(true)
      expect(again.messages).toMatchObject([result('late')])
    }
  })

  test('whoever has seen the result gets nothing more', async () => {
    const { on, app, headers } = await begun()
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers: headers as never })
    held.release()
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    const again = await getStream(on, headers as never, stream.lastId)
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    expect(again.messages).toEqual([])
  })

  test('can be lost and found many times', async () => {
    const { on, app, headers } = await begun()
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers: headers as never })
    let last = stream
    for (let step = 2; step < 8; step++) {
      last.drop()
      await held.session.notifyProgress(step)
      const next = await getStream(on, headers as never, last.lastId)
      await expect.poll(() => next.told('notifications/progress', 'progress'), PATIENT).toEqual([step])
      last = next
    }
    held.release('found')
    await expect.poll(() => last.ended, PATIENT).toBe(true)
    expect(last.messages.at(-1)).toMatchObject(result('found') as object)
  })

  test('is gone on with beside the session’s own stream', async () => {
    const { on, app, headers } = await begun()
    const own = await opened(on, headers as never)
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers: headers as never })
    stream.drop()
    const again = await getStream(on, headers as never, stream.lastId)
    expect(again.status).toBe(200)
    held.release('beside')
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    expect(again.messages).toMatchObject([result('beside')])
    expect([own.over, own.messages]).toEqual([false, []])
  })

  test('ends with its session', async () => {
    const { on, app, headers } = await begun()
    const { stream } = await heldStream(on, app, { tag: 'a', headers: headers as never })
    await on.send({ method: 'DELETE', headers: headers as never })
    await expect.poll(() => [stream.ended, app.aborted], PATIENT).toEqual([true, ['a']])
    expect(stream.messages.some((message) => message['result'] !== undefined)).toBe(false)
  })

  test('a cancelled one ends without a result, also for who comes back', async () => {
    const { on, app, headers } = await begun()
    const { stream } = await heldStream(on, app, { tag: 'a', headers: headers as never })
    stream.drop()
    await on.send(
      legacy('notifications/cancelled', { requestId: 1 }, { headers: headers as never, notification: true }),
    )
    expect(app.aborted).toEqual(['a'])
    const again = await getStream(on, headers as never, stream.lastId)
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    expect(again.messages).toEqual([])
  })

  test('a call that fails gives its error by Last-Event-ID, masked', async () => {
    const router = createRouter({ name: 'x', version: '1' })
    const fails = gate()
    router.tool('fail', {}, async (_params, session) => {
      await session.notifyProgress(1)
      await fails.promise
      throw new Error('secret')
    })
    const on = await target('node', router)
    const { headers } = await beginAs(on)
    const params = { name: 'fail', _meta: { progressToken: 0 } }
    const stream = await streamOf(on, legacy('tools/call', params, { headers }))
    await expect.poll(() => stream.messages.length, PATIENT).toBe(1)
    stream.drop()
    fails.open()
    await expect.poll(() => on.errors.length, PATIENT).toBe(1)
    const again = await getStream(on, headers, stream.lastId)
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    expect(again.messages).toMatchObject([{ id: 1, error: { code: -32603 } }])
    expect(again.text).not.toContain('secret')
  })
})

describe('session.finish', () => {
  test('2025-11-25: lets the connection go after retry; the result comes by Last-Event-ID', async () => {
    const app = openApp()
    const on = await target('node', app.router, { http: { retryMs: 1_234 } })
    const { headers } = await beginAs(on)
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
    await held.session.finish()
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.events.at(-1)).toEqual({ id: undefined, retry: '1234', event: undefined, message: undefined })
    expect(stream.messages).toHaveLength(1)
    expect(app.aborted).toEqual([])
    await held.session.notifyProgress(2)
    const again = await getStream(on, headers, stream.lastId)
    await expect.poll(() => again.told('notifications/progress', 'progress'), PATIENT).toEqual([2])
    await held.session.finish()
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    held.release('polled')
    await expect.poll(() => app.finished, PATIENT).toEqual(['a'])
    const last = await getStream(on, headers, again.lastId)
    await expect.poll(() => last.ended, PATIENT).toBe(true)
    expect(last.messages).toMatchObject([{ id: 1, result: { content: [{ text: 'polled' }] } }])
  })

  test('2025-11-25: as the first thing a call does, it leaves an id to come back with', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on)
    const opening = streamOf(on, legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { headers }))
    const held = await app.held('a')
    await held.session.finish()
    const stream = await opening
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.messages).toEqual([])
    expect(stream.events.map(({ id, retry }) => [id !== undefined, retry])).toEqual([
      [true, undefined],
      [false, '1000'],
    ])
    held.release('after')
    const again = await getStream(on, headers, stream.lastId)
    await expect.poll(() => again.ended, PATIENT).toBe(true)
    expect(again.messages).toMatchObject([{ id: 1, result: { content: [{ text: 'after' }] } }])
  })

  // 2025-06-18 basic/transports: the server SHOULD NOT close the stream before the response.
  test.each(['2024-11-05', '2025-03-26', '2025-06-18'])(
    '%s: does nothing, for the version knows no return',
    async (version) => {
      const app = openApp()
      const on = await target('node', app.router)
      const { headers } = await beginAs(on, {}, version)
      const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
      await held.session.finish()
      await settle(on)
      expect(stream.over).toBe(false)
      held.release('here')
      await expect.poll(() => stream.ended, PATIENT).toBe(true)
      expect(stream.text).not.toMatch(/^retry:/m)
      expect(stream.messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'here' }] } })
    },
  )

  test('after the answer it does nothing', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on)
    const call = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { headers }))
    const held = await app.held('a')
    held.release()
    await call
    await held.session.finish()
    expect(on.errors).toEqual([])
  })
})

test('a batch of 2025-03-26 is answered on its own stream, which can be gone on with', async () => {
  const app = openApp()
  const on = await target('node', app.router)
  const { headers } = await beginAs(on, {}, '2025-03-26')
  const call = (id: number, tag: string): Json => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'hold', arguments: { tag }, _meta: { progressToken: tag } },
  })
  const sent = { ...legacy('x', {}, { headers }), body: JSON.stringify([call(1, 'a'), call(2, 'b')]) }
  const opening = streamOf(on, sent)
  const [a, b] = [await app.held('a'), await app.held('b')]
  await a.session.notifyProgress(1)
  const stream = await opening
  await expect.poll(() => stream.messages.length, PATIENT).toBe(1)
  stream.drop()
  a.release('A')
  b.release('B')
  await expect.poll(() => app.finished.length, PATIENT).toBe(2)
  const again = await getStream(on, headers, stream.lastId)
  await expect.poll(() => again.ended, PATIENT).toBe(true)
  const answers = again.messages.flatMap((message) => (Array.isArray(message) ? (message as Json[]) : [message]))
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2])
})

test('initialize itself begins no stream to go on with', async () => {
  const on = await target('node', openApp().router)
  const answer = await on.send(initialize())
  expect([answer.streamed, answer.text.includes('id: ')]).toEqual([false, false])
})
