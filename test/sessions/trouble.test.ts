import { type Backplane, createRouter, memoryBackplane, type Router, type Store } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import { type Json, legacy, modern, type Sent, type Target, target } from '../http/_http.js'
import {
  beginAs,
  furnish,
  getStream,
  heldStream,
  listenersOf,
  listenStream,
  openApp,
  sessionStream,
  settle,
  slowBackplane,
  streamOf,
} from './_sessions.js'

type Name = keyof Store

/** A backplane whose Store fails where the test says so. */
function failing(): { backplane: Backplane; fail(...names: Name[]): void } {
  const inner = memoryBackplane()
  const failed = new Set<Name>()
  const store = new Proxy(inner.store, {
    get: (target, name) => {
      if (failed.has(name as Name)) return () => Promise.reject(new Error('secret: the store is away'))
      return (target[name as Name] as () => unknown).bind(target)
    },
  })
  const fail = (...names: Name[]): void => {
    failed.clear()
    for (const name of names) failed.add(name)
  }
  return { backplane: { ...inner, store }, fail }
}

describe('a Store that fails while a stream is open', () => {
  test('the result of a call comes all the same, or its stream ends: nobody waits for ever', async () => {
    const { backplane, fail } = failing()
    const app = openApp()
    const on = await target('node', app.router, { server: { backplane } })
    const { headers } = await beginAs(on)
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
    fail('append')
    held.release('all the same')
    await expect.poll(() => stream.over, PATIENT).toBe(true)
    expect(on.errors.length).toBeGreaterThan(0)
    expect(stream.text).not.toContain('secret')
    fail()
    expect((await on.send(legacy('ping', {}, { id: 2, headers }))).status).toBe(200)
  })

  test('the session’s stream goes on when it is back', async () => {
    const { backplane, fail } = failing()
    const on = await target('node', openApp().router, { server: { backplane } })
    const { id, headers } = await beginAs(on)
    const stream = await sessionStream(on, headers)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
    fail('append')
    await on.server.session(id)?.notify('notifications/x', { n: 1 })
    expect(on.errors.length).toBeGreaterThan(0)
    fail()
    await on.server.session(id)?.notify('notifications/x', { n: 2 })
    await expect.poll(() => stream.told('notifications/x', 'n').at(-1), PATIENT).toBe(2)
  })

  test('a stream that could not be opened is refused or over, and the next one works', async () => {
    const { backplane, fail } = failing()
    const on = await target('node', openApp().router, { server: { backplane } })
    const { id, headers } = await beginAs(on)
    fail('append', 'readAfter', 'drop')
    const first = await getStream(on, headers)
    await settle(on)
    fail()
    expect(on.errors.length).toBeGreaterThan(0)
    first.drop()
    let last = first
    await expect
      .poll(async () => {
        last = await getStream(on, headers)
        return last.status
      }, PATIENT)
      .toBe(200)
    await expect.poll(() => on.server.session(id) !== undefined, PATIENT).toBe(true)
    await on.server.session(id)?.notify('notifications/x', { n: 1 })
    await expect.poll(() => last.told('notifications/x', 'n'), PATIENT).toEqual([1])
    expect(listenersOf(on)).toBe(1)
  })

  test('one that is gone on with is over, and may be asked for again', async () => {
    const { backplane, fail } = failing()
    const on = await target('node', openApp().router, { server: { backplane } })
    const { id, headers } = await beginAs(on)
    const first = await sessionStream(on, headers)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
    await on.server.session(id)?.notify('notifications/x', { n: 1 })
    await expect.poll(() => first.told('notifications/x', 'n'), PATIENT).toEqual([1])
    first.drop()
    await expect.poll(() => on.server.channels?.ofSession(id)?.attached, PATIENT).toBe(false)
    await on.server.session(id)?.notify('notifications/x', { n: 2 })
    fail('readAfter')
    const second = await getStream(on, headers, first.lastId)
    // It cannot have what it missed: a stream that stayed open would hide that from it.
    await expect.poll(() => second.over, PATIENT).toBe(true)
    expect(second.messages.filter((message) => message['method'] !== undefined)).toEqual([])
    fail()
    const third = await getStream(on, headers, first.lastId)
    await expect.poll(() => third.told('notifications/x', 'n'), PATIENT).toEqual([2])
  })

  test('costs one session, and the others are told', async () => {
    const { backplane, fail } = failing()
    const on = await target('node', openApp().router, { server: { backplane } })
    const { headers } = await beginAs(on)
    await on.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
    await sessionStream(on, headers)
    const listening = await listenStream(on, { resourceSubscriptions: ['notes://plain'] })
    await expect.poll(() => listenersOf(on), PATIENT).toBe(2)
    fail('append')
    await on.server.notifyResourcesUpdated(['notes://plain'])
    await expect
      .poll(() => listening.told('notifications/resources/updated', 'uri'), PATIENT)
      .toEqual(['notes://plain'])
    await expect.poll(() => on.errors.length, PATIENT).toBeGreaterThan(0)
  })
})

describe('clients that come back in odd ways', () => {
  test('to a call whose first connection still stands: the later one has it', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on)
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
    const second = await getStream(on, headers, stream.lastId)
    await expect.poll(() => stream.over, PATIENT).toBe(true)
    const third = await getStream(on, headers, stream.lastId)
    await expect.poll(() => second.over, PATIENT).toBe(true)
    held.release('once')
    await expect.poll(() => third.ended, PATIENT).toBe(true)
    expect([stream, second, third].flatMap(({ messages }) => messages).filter(({ result }) => result)).toHaveLength(1)
    expect(app.aborted).toEqual([])
  })

  test('to the session’s stream while the first stands: refused, whatever the id', async () => {
    const on = await target('node', openApp().router)
    const { id, headers } = await beginAs(on)
    const first = await sessionStream(on, headers)
    await expect.poll(() => first.events.length, PATIENT).toBe(1)
    expect((await getStream(on, headers, first.lastId)).status).toBe(409)
    await on.server.session(id)?.notify('notifications/x', { n: 1 })
    await expect.poll(() => first.told('notifications/x', 'n'), PATIENT).toEqual([1])
  })

  test('with takeOver and an id: the first is cut, and nothing is lost or doubled', async () => {
    const on = await target('node', openApp().router, {
      http: { secondStream: 'takeOver' },
      server: { backplane: slowBackplane() },
    })
    const { id, headers } = await beginAs(on)
    const first = await sessionStream(on, headers)
    await expect.poll(() => first.events.length, PATIENT).toBe(1)
    const sending = Promise.all(
      Array.from({ length: 30 }, (_, n) => on.server.session(id)?.notify('notifications/x', { n })),
    )
    await expect.poll(() => first.told('notifications/x', 'n').length, PATIENT).toBeGreaterThan(3)
    const second = await getStream(on, headers, first.lastId)
    expect(second.status).toBe(200)
    await expect.poll(() => first.over, PATIENT).toBe(true)
    await sending
    // What the first one had in its hands when it named its last event may come to both, never to neither.
    const union = (): number => new Set([first, second].flatMap((stream) => stream.told('notifications/x', 'n'))).size
    await expect.poll(union, PATIENT).toBe(30)
    const seen = second.told('notifications/x', 'n') as number[]
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => 30 - seen.length + index))
  })

  test('with an empty Last-Event-ID, which names nothing', async () => {
    const on = await target('node', openApp().router)
    const { id, headers } = await beginAs(on)
    const stream = await getStream(on, headers, '')
    expect(stream.status).toBe(200)
    await expect.poll(() => on.server.session(id) !== undefined, PATIENT).toBe(true)
    await on.server.session(id)?.notify('notifications/x', { n: 1 })
    await expect.poll(() => stream.told('notifications/x', 'n'), PATIENT).toEqual([1])
  })
})

describe('connect that takes its time', () => {
  function waiting() {
    const asked = gate()
    const open = gate()
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: async (session, { headers }) => {
        if (headers.get('x-wait') !== null) {
          asked.open()
          await open.promise
        }
        return session
      },
      principal: () => null,
    })
    const app = { router: router as unknown as Router, ...furnish(router) }
    return { app, asked, open }
  }

  /** Sends a request, and hangs up when `connect` has been asked. */
  async function hangUp(on: Target, { headers, body }: Sent, asked: Promise<void>): Promise<void> {
    const controller = new AbortController()
    const gone = fetch(on.serving?.url ?? '', {
      method: 'POST',
      headers: { ...(headers as Record<string, string>), 'x-wait': '1' },
      body: String(body),
      signal: controller.signal,
    }).catch(() => 'gone')
    await asked
    controller.abort()
    expect(await gone).toBe('gone')
    await settle(on)
  }

  test('2026-07-28: a call whose client has gone meanwhile is not run, or is told at once', async () => {
    const { app, asked, open } = waiting()
    const on = await target('node', app.router)
    await hangUp(on, modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }), asked.promise)
    let entered = false
    void app.held('a').then(() => {
      entered = true
    })
    open.open()
    await settle(on)
    await expect.poll(() => !entered || app.aborted.includes('a'), PATIENT).toBe(true)
    expect(on.errors).toEqual([])
  })

  test('a listen whose client has gone meanwhile leaves nothing', async () => {
    const { app, asked, open } = waiting()
    const on = await target('node', app.router)
    await hangUp(on, modern('subscriptions/listen', { notifications: { toolsListChanged: true } }), asked.promise)
    open.open()
    await settle(on)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
    expect(await on.server.notifyToolList()).toBe(0)
  })

  test('a session’s call whose client has gone meanwhile runs to its end', async () => {
    const { app, asked, open } = waiting()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on)
    const sent = legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { headers })
    await hangUp(on, sent, asked.promise)
    open.open()
    const { release, session } = await app.held('a')
    await session.notifyProgress(1)
    release()
    await expect.poll(() => app.finished, PATIENT).toEqual(['a'])
    expect(app.aborted).toEqual([])
  })

  test('is asked once for a batch', async () => {
    let asked = 0
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session) => {
        asked++
        return session
      },
      principal: () => null,
    })
    furnish(router)
    const on = await target('fetch', router)
    const { headers } = await beginAs(on, {}, '2025-03-26')
    asked = 0
    const call = (id: number): Json => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ping' } })
    const answer = await on.send({ ...legacy('x', {}, { headers }), body: JSON.stringify([call(1), call(2), call(3)]) })
    expect([answer.status, asked]).toEqual([200, 1])
    expect((answer.message as unknown as Json[]).map(({ id }) => id)).toEqual([1, 2, 3])
  })
})

test('a call’s stream of a slow Store keeps its order, and its end last', async () => {
  const app = openApp()
  const on = await target('node', app.router, { server: { backplane: slowBackplane() } })
  const { headers } = await beginAs(on)
  const params = { name: 'hold', arguments: { tag: 'a' }, _meta: { progressToken: 1 } }
  const opening = streamOf(on, legacy('tools/call', params, { headers }))
  const { session, release } = await app.held('a')
  for (let step = 1; step <= 40; step++) void session.notifyProgress(step)
  release('last')
  const stream = await opening
  await expect.poll(() => stream.ended, PATIENT).toBe(true)
  expect(stream.told('notifications/progress', 'progress')).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  expect(stream.messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'last' }] } })
  expect(stream.messages).toHaveLength(41)
})

describe('a client that comes and goes', () => {
  test.each([1, 2, 3, 4])('sees everything once and in order, however it goes (seed %i)', async (seed) => {
    let state = seed * 7_919
    const random = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    const backplane = seed % 2 === 0 ? slowBackplane() : memoryBackplane()
    const on = await target('node', openApp().router, { server: { backplane } })
    const { id, headers } = await beginAs(on)
    const attached = (): boolean => on.server.channels?.ofSession(id)?.attached ?? false
    let stream = await sessionStream(on, headers)
    await expect.poll(() => stream.events.length, PATIENT).toBe(1)
    const seen: unknown[] = []
    let raised = 0
    const raise = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) {
        const sent = on.server.session(id)?.notify('notifications/x', { n: raised++ })
        if (random(2) === 0) await sent
      }
    }
    let lastId = stream.lastId
    const leave = async (): Promise<void> => {
      stream.drop()
      seen.push(...stream.told('notifications/x', 'n'))
      lastId = stream.ids.findLast((one) => one !== undefined) ?? lastId
      await expect.poll(attached, PATIENT).toBe(false)
    }
    for (let step = 0; step < 25; step++) {
      await raise(random(6))
      if (random(3) === 0) await settle(on)
      if (random(3) === 0) await on.server.session(id)?.finish()
      await leave()
      await raise(random(4))
      const coming = getStream(on, headers, lastId)
      await raise(random(4))
      stream = await coming
      expect(stream.status).toBe(200)
    }
    await raise(1)
    const all = Array.from({ length: raised }, (_, n) => n)
    await expect.poll(() => [...seen, ...stream.told('notifications/x', 'n')], PATIENT).toEqual(all)
    expect([listenersOf(on), on.errors]).toEqual([1, []])
  })
})

test('who goes on with a call of a session that ends meanwhile is let go', async () => {
  const asked = gate()
  const mayGoOn = gate()
  const inner = memoryBackplane()
  const store = new Proxy(inner.store, {
    get: (of, name: Name) => {
      const value = (of[name] as (...given: unknown[]) => unknown).bind(of)
      if (name !== 'readAfter') return value
      return async (...given: unknown[]) => {
        const part = await value(...given)
        asked.open()
        await mayGoOn.promise
        return part
      }
    },
  })
  const app = openApp()
  const on = await target('node', app.router, { server: { backplane: { ...inner, store } } })
  const { headers } = await beginAs(on)
  const { stream } = await heldStream(on, app, { tag: 'a', headers })
  const goesOn = getStream(on, headers, stream.lastId)
  await asked.promise
  expect((await on.send({ method: 'DELETE', headers })).status).toBe(204)
  await expect.poll(() => stream.over, PATIENT).toBe(true)
  mayGoOn.open()
  const late = await goesOn
  await expect.poll(() => late.over, PATIENT).toBe(true)
})
