import { type Backplane, createRouter, memoryBackplane, type RouterOptions, type Store } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import { afterTest, codeOf, dataOf, initialize, type Json, legacy, modern, TARGETS, target } from '../http/_http.js'
import { type Assigns, as, beginAs, getStream, openApp, pipe, settle, usersApp } from './_sessions.js'

const never = (): Promise<never> => new Promise(() => undefined)
const TIMED_OUT = { reason: 'callback_timeout', retryable: true }
const server = { callbackTimeoutMs: 40 }

describe.each(TARGETS)('sessions of one caller over %s', (kind) => {
  const alive = async (on: Awaited<ReturnType<typeof target>>, headers: Json): Promise<boolean> =>
    (await on.send(legacy('ping', {}, { headers: headers as Record<string, string> }))).status === 200

  test('beyond their number take the place of the caller’s own', async () => {
    let now = 1_000
    const options = { maxSessionsPerPrincipal: 2, clock: () => now++ }
    const on = await target(kind, usersApp().router, { server: options })
    const bo = await beginAs(on, as('bo'))
    const ana = [await beginAs(on, as('ana')), await beginAs(on, as('ana'))]
    expect(await alive(on, ana[0]?.headers as never)).toBe(true)
    ana.push(await beginAs(on, as('ana')))
    const seen = await Promise.all([bo, ...ana].map(({ headers }) => alive(on, headers as never)))
    expect(seen).toEqual([true, true, false, true])
  })

  test('are counted before they are there, however many begin at once', async () => {
    const on = await target(kind, usersApp().router, { server: { maxSessionsPerPrincipal: 3 } })
    const begun = await Promise.all(Array.from({ length: 20 }, () => on.send(initialize('2025-11-25', as('ana')))))
    const ids = begun.flatMap((answer) => answer.header('mcp-session-id') ?? [])
    const seen = await Promise.all(ids.map((id) => alive(on, { 'mcp-session-id': id, ...as('ana') })))
    expect(seen.filter(Boolean)).toHaveLength(3)
    for (const { status } of begun) expect([200, 503]).toContain(status)
  })

  test('do not push out those of others where there is room for nobody', async () => {
    let now = 1_000
    const on = await target(kind, usersApp().router, { server: { maxSessions: 3, clock: () => now++ } })
    const others = [await beginAs(on, as('bo')), await beginAs(on, as('cy'))]
    for (let n = 0; n < 20; n++) await beginAs(on, as('ana'))
    expect(await Promise.all(others.map(({ headers }) => alive(on, headers as never)))).toEqual([true, true])
  })

  test('of callers without a name are not counted', async () => {
    const on = await target(kind, openApp().router, { server: { maxSessionsPerPrincipal: 1 } })
    const begun = [await beginAs(on), await beginAs(on), await beginAs(on)]
    expect(await Promise.all(begun.map(({ headers }) => alive(on, headers as never)))).toEqual([true, true, true])
  })

  test('that are all in use leave room for no other', async () => {
    const app = usersApp()
    const on = await target(kind, app.router, { server: { maxSessionsPerPrincipal: 1 } })
    const { headers } = await beginAs(on, as('ana'))
    const call = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { headers }))
    const held = await app.held('a')
    const refused = await on.send(initialize('2025-11-25', as('ana')))
    expect([refused.status, codeOf(refused), dataOf(refused)]).toEqual([503, -32603, { retryable: true }])
    await beginAs(on, as('bo'))
    held.release()
    await call
    await beginAs(on, as('ana'))
  })
})

describe.each(TARGETS)('what never settles over %s', (kind) => {
  test('connect: the caller is told to come again, and it is reported once', async () => {
    const router = createRouter({ name: 'slow', version: '1.0.0', connect: never, principal: () => null })
    const on = await target(kind, router, { server })
    for (const sent of [
      modern('tools/list'),
      initialize(),
      legacy('ping'),
      { method: 'GET', headers: { accept: '*/*' } },
    ]) {
      const answer = await on.send(sent)
      expect([answer.status, codeOf(answer), dataOf(answer)]).toEqual([503, -32603, TIMED_OUT])
      expect(Number(answer.header('retry-after'))).toBeGreaterThan(0)
      expect(on.errors.splice(0)).toMatchObject([{ cause: { message: 'connect did not settle within 40 ms' } }])
    }
  })

  test('terminate: the session is over all the same', async () => {
    const on = await target(kind, openApp({ terminate: never }).router, { server })
    const { headers } = await beginAs(on)
    expect((await on.send({ method: 'DELETE', headers })).status).toBe(204)
    expect(on.errors.splice(0)).toMatchObject([{ cause: { message: 'terminate did not settle within 40 ms' } }])
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(404)
  })

  test('authorizeResourceSubscriptions: nothing is followed, and the client may try again', async () => {
    let asks = never as unknown as RouterOptions<object>['authorizeResourceSubscriptions']
    const on = await target(
      kind,
      openApp({ authorizeResourceSubscriptions: (...given) => asks?.(...given) ?? null }).router,
      { server },
    )
    const { headers } = await beginAs(on)
    const sent = [
      legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }),
      modern('subscriptions/listen', { notifications: { resourceSubscriptions: ['notes://plain'] } }),
    ]
    for (const one of sent) {
      const answer = await on.send(one)
      expect([answer.status, codeOf(answer), dataOf(answer)]).toEqual([503, -32603, TIMED_OUT])
      expect(on.errors.splice(0)).toHaveLength(1)
    }
    asks = (resources) => resources
    expect((await on.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))).status).toBe(200)
  })

  test.each(['get', 'set', 'delete'] as const)('the store, in %s', async (operation) => {
    const shared = memoryBackplane()
    let stuck = false
    const store = new Proxy(shared.store, {
      get: (inner, name: keyof Store) => (stuck && name === operation ? never : inner[name].bind(inner)),
    })
    const backplane: Backplane = { ...shared, store }
    const on = await target(kind, openApp().router, { server: { ...server, backplane } })
    const { headers } = await beginAs(on)
    stuck = true
    const sent = {
      get: legacy('ping', {}, { headers }),
      set: legacy('logging/setLevel', { level: 'debug' }, { headers }),
      delete: { method: 'DELETE', headers },
    }
    const answer = await on.send(sent[operation])
    const told = [answer.status, codeOf(answer), dataOf(answer)]
    expect(told).toEqual([503, -32603, { reason: 'backplane', retryable: true }])
    const cause = { cause: { message: `store.${operation} did not settle within 40 ms` } }
    expect(on.errors.splice(0)).toMatchObject([cause])
  })
})

describe('what never settles', () => {
  test('an update is not told to who cannot be asked about, and others hear of it', async () => {
    const slow = new Set<string>()
    const app = usersApp({
      authorizeResourceSubscriptions: (resources, session) =>
        slow.has((session.assigns as Assigns).user.id) ? never() : resources,
    })
    const on = await target('node', app.router, { server })
    for (const user of ['ana', 'bo']) {
      const { headers } = await beginAs(on, as(user))
      await on.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
      await getStream(on, headers)
    }
    slow.add('ana')
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
    expect(on.errors.splice(0)).toHaveLength(1)
  })

  test('a listen whose client has gone meanwhile costs nobody anything', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', note)
    afterTest(() => void process.off('unhandledRejection', note))
    const asked = gate()
    const authorizeResourceSubscriptions = (): Promise<never> => {
      asked.open()
      return never()
    }
    const told: string[] = []
    const take = ({ event }: { readonly event: string }): void => void told.push(event)
    const logger = { debug: take, info: take, warn: take, error: take }
    const on = await target('node', openApp({ authorizeResourceSubscriptions }).router, {
      server: { ...server, logger },
    })
    const controller = new AbortController()
    const sent = modern('subscriptions/listen', { notifications: { resourceSubscriptions: ['notes://plain'] } })
    const gone = fetch(on.serving?.url ?? '', {
      method: 'POST',
      headers: sent.headers as Record<string, string>,
      body: String(sent.body),
      signal: controller.signal,
    }).catch(() => 'gone')
    await asked.promise
    controller.abort()
    expect(await gone).toBe('gone')
    await expect.poll(() => told, PATIENT).toContain('callback_timed_out')
    await settle(on)
    expect(unhandled).toEqual([])
  })

  test('connect on a pipe makes serving it reject', async () => {
    const router = createRouter({ name: 'slow', version: '1.0.0', connect: never, principal: () => null })
    await expect(pipe('memory', router, { server })).rejects.toMatchObject({ data: TIMED_OUT })
  })
})
