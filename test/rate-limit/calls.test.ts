import { createRouter, type RateLimitOptions, type Router, rateLimit } from 'phantom-mcp'
import { connect } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { describeMatrix, HTTP } from '../_setup.js'
import { type Answer, codeOf, dataOf, legacy, modern, type TARGETS, type Target, target } from '../http/_http.js'
import { as, beginAs, pipe } from '../sessions/_sessions.js'
import { MINUTE, openRouter, outcomeOf, outcomesOf, stopClock, usersRouter } from './_rate-limit.js'

const LIMITED = 'rate_limited'

describeMatrix('a call beyond its rate', {}, (setup, { http, sessions }) => {
  test('is refused with an error that may be tried again, and does not reach the handler', async () => {
    stopClock()
    let count = 0
    const router = createRouter({ name: 'limited', version: '1.0.0' })
    router.use(rateLimit({ perTool: { limit: 2, windowMs: MINUTE } }))
    router.tool('ping', {}, () => `${++count}`)
    const client = await setup(router)
    expect(await outcomesOf(2, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok'])
    await expect(client.callTool('ping')).rejects.toMatchObject({
      code: -32603,
      message: 'Too many requests: try again later',
      data: { reason: LIMITED, retryable: true, retryAfterMs: MINUTE / 2 },
    })
    expect(count).toBe(2)
    if (http) expect((setup.wire as { statuses: number[] }).statuses.at(-1)).toBe(503)
  })

  test('is no error of the server: nothing is reported, and the connection goes on', async () => {
    stopClock()
    const client = await setup(openRouter({ perTool: { ping: { limit: 1, windowMs: MINUTE } } }))
    expect(await outcomesOf(3, () => outcomeOf(client, 'ping'))).toEqual(['ok', LIMITED, LIMITED])
    expect(await outcomeOf(client, 'pong')).toBe('ok')
    expect((await client.list('tools'))['tools']).toHaveLength(3)
  })

  test('perPrincipal counts every request, whatever it asks for', async () => {
    stopClock()
    // What begins a session is a request, too.
    const client = await setup(openRouter({ perPrincipal: { limit: sessions ? 4 : 3, windowMs: MINUTE } }))
    await client.list('tools')
    await client.list('prompts')
    expect(await outcomeOf(client, 'ping')).toBe('ok')
    expect(await outcomeOf(client, 'ping')).toBe(LIMITED)
    await expect(client.list('tools')).rejects.toMatchObject({ code: -32603, data: { reason: LIMITED } })
    await expect(client.readResource('notes://plain')).rejects.toMatchObject({ data: { reason: LIMITED } })
  })
})

describe.each(HTTP)('over %s', (kind) => {
  const ping = (on: Target, token?: string, name = 'ping'): Promise<Answer> =>
    on.send(modern('tools/call', { name }, { headers: token === undefined ? {} : { ...as(token) } }))
  const kindOf = kind as (typeof TARGETS)[number]

  test('a refusal is 503 with Retry-After, as JSON', async () => {
    stopClock()
    const on = await target(kindOf, openRouter({ perTool: { limit: 1, windowMs: MINUTE } }))
    expect((await ping(on)).status).toBe(200)
    const refused = await ping(on)
    expect([refused.status, codeOf(refused), refused.streamed]).toEqual([503, -32603, false])
    expect(Number(refused.header('retry-after'))).toBeGreaterThan(0)
    expect(dataOf(refused)).toEqual({ reason: LIMITED, retryable: true, retryAfterMs: MINUTE })
  })

  test('Retry-After says what retryAfterMs says', async () => {
    stopClock()
    const on = await target(kindOf, openRouter({ perTool: { limit: 1, windowMs: MINUTE } }))
    await ping(on)
    const refused = await ping(on)
    expect(Number(refused.header('retry-after')) * 1000).toBe(dataOf(refused)['retryAfterMs'])
  })

  test('a session is refused in the same way, and its stream-only client, too', async () => {
    stopClock()
    const on = await target(kindOf, openRouter({ perTool: { limit: 1, windowMs: MINUTE } }))
    const { headers } = await beginAs(on)
    const call = (accept: string): Promise<Answer> =>
      on.send(legacy('tools/call', { name: 'ping' }, { headers: { ...headers, accept } }))
    expect((await call('text/event-stream')).status).toBe(200)
    for (const accept of ['application/json', 'text/event-stream', 'application/json, text/event-stream']) {
      const refused = await call(accept)
      expect([accept, refused.status, codeOf(refused)]).toEqual([accept, 503, -32603])
    }
  })

  test('in a batch only what is beyond is refused', async () => {
    stopClock()
    const on = await target(kindOf, openRouter({ perTool: { limit: 1, windowMs: MINUTE } }))
    const { headers } = await beginAs(on, {}, '2025-03-26')
    const messages = [1, 2, 3].map((id) =>
      JSON.parse(String(legacy('tools/call', { name: id === 3 ? 'pong' : 'ping' }, { id }).body)),
    )
    const answer = await on.send({ ...legacy('ping', {}, { headers }), body: JSON.stringify(messages) })
    const found = JSON.parse(answer.text) as { id: number; error?: { data: { reason: string } } }[]
    expect(answer.status).toBe(200)
    expect(found.map(({ id, error }) => [id, error?.data.reason ?? 'ok'])).toEqual([
      [1, 'ok'],
      [2, LIMITED],
      [3, 'ok'],
    ])
  })

  test('a principal is limited whatever token it comes with, and no other is', async () => {
    stopClock()
    const on = await target(kindOf, usersRouter({ perPrincipal: { limit: 2, windowMs: MINUTE } }))
    const statuses: number[] = []
    for (const token of ['ana-1', 'ana-2', 'ana-3', 'bo', 'bo', 'ana', 'bo', 'cy'])
      statuses.push((await ping(on, token)).status)
    expect(statuses).toEqual([200, 200, 503, 200, 200, 503, 503, 200])
  })

  test('a principal is limited over its sessions, and over both kinds of versions', async () => {
    stopClock()
    const on = await target(kindOf, usersRouter({ perTool: { limit: 3, windowMs: MINUTE } }))
    const sessions = [await beginAs(on, as('ana')), await beginAs(on, as('ana'))]
    const statuses: number[] = []
    for (const { headers } of [...sessions, ...sessions])
      statuses.push((await on.send(legacy('tools/call', { name: 'ping' }, { headers }))).status)
    expect(statuses).toEqual([200, 200, 200, 503])
    expect((await ping(on, 'ana')).status).toBe(503)
    expect((await ping(on, 'bo')).status).toBe(200)
  })

  test('sessions without a principal are told apart', async () => {
    stopClock()
    const on = await target(kindOf, openRouter({ perTool: { limit: 1, windowMs: MINUTE } }))
    const sessions = [await beginAs(on), await beginAs(on)]
    const statuses: number[] = []
    for (const { headers } of [...sessions, ...sessions])
      statuses.push((await on.send(legacy('tools/call', { name: 'ping' }, { headers }))).status)
    expect(statuses).toEqual([200, 200, 503, 503])
  })

  test('callers with neither principal nor session count as one, and cost the others nothing', async () => {
    stopClock()
    const on = await target(kindOf, usersRouter({ perPrincipal: { limit: 2, windowMs: MINUTE } }))
    const statuses: number[] = []
    for (const token of [undefined, undefined, undefined, 'ana', undefined, 'ana', 'ana'])
      statuses.push((await ping(on, token)).status)
    expect(statuses).toEqual([200, 200, 503, 200, 503, 200, 503])
  })

  test('an initialize that is refused begins no session', async () => {
    stopClock()
    const on = await target(kindOf, usersRouter({ perPrincipal: { limit: 1, windowMs: MINUTE } }))
    await ping(on, 'ana')
    await expect(beginAs(on, as('ana'))).rejects.toThrow(/initialize: 503 .*rate_limited/)
    await beginAs(on, as('bo')).catch(() => undefined)
  })
})

describe('time', () => {
  test('a whole window later all of the rate is there again, and not more', async () => {
    const clock = stopClock()
    const client = await connect(openRouter({ perTool: { limit: 3, windowMs: MINUTE } }))
    expect(await outcomesOf(4, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok', 'ok', LIMITED])
    clock.advance(MINUTE)
    expect(await outcomesOf(4, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok', 'ok', LIMITED])
    clock.advance(100 * MINUTE)
    expect(await outcomesOf(4, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok', 'ok', LIMITED])
  })

  test('retryAfterMs later one more is let through, and not earlier', async () => {
    const clock = stopClock()
    const client = await connect(openRouter({ perTool: { limit: 4, windowMs: MINUTE } }))
    expect(await outcomesOf(5, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok', 'ok', 'ok', LIMITED])
    clock.advance(MINUTE / 4 - 1)
    expect(await outcomeOf(client, 'ping')).toBe(LIMITED)
    clock.advance(1)
    expect(await outcomesOf(2, () => outcomeOf(client, 'ping'))).toEqual(['ok', LIMITED])
  })

  test('what was refused is not counted: who keeps asking is let through in time', async () => {
    const clock = stopClock()
    const client = await connect(openRouter({ perPrincipal: { limit: 1, windowMs: 1000 } }))
    expect(await outcomeOf(client, 'ping')).toBe('ok')
    for (let tenth = 1; tenth < 10; tenth++) {
      clock.advance(100)
      expect(await outcomeOf(client, 'ping')).toBe(LIMITED)
    }
    clock.advance(101)
    expect(await outcomeOf(client, 'ping')).toBe('ok')
  })

  test('the real clock moves on, too', async () => {
    const client = await connect(openRouter({ perTool: { limit: 1, windowMs: 40 } }))
    expect(await outcomeOf(client, 'ping')).toBe('ok')
    await expect.poll(() => outcomeOf(client, 'ping'), { timeout: 4_000, interval: 10 }).toBe('ok')
  })
})

describe('perTool', () => {
  test('one rate is for each tool by itself', async () => {
    stopClock()
    const client = await connect(openRouter({ perTool: { limit: 1, windowMs: MINUTE } }))
    const outcomes: unknown[] = []
    for (const name of ['ping', 'pong', 'ping', 'pong']) outcomes.push(await outcomeOf(client, name))
    expect(outcomes).toEqual(['ok', 'ok', LIMITED, LIMITED])
  })

  test('rates by name: each its own, and none for others', async () => {
    stopClock()
    const perTool = { ping: { limit: 1, windowMs: MINUTE }, pong: { limit: 2, windowMs: MINUTE } }
    const router = openRouter({ perTool })
    router.tool('free', {}, () => 'free')
    const client = await connect(router)
    expect(await outcomesOf(2, () => outcomeOf(client, 'ping'))).toEqual(['ok', LIMITED])
    expect(await outcomesOf(3, () => outcomeOf(client, 'pong'))).toEqual(['ok', 'ok', LIMITED])
    expect(await outcomesOf(9, () => outcomeOf(client, 'free'))).toEqual(Array(9).fill('ok'))
  })

  test('prompts and resources of the name of a tool are not meant', async () => {
    stopClock()
    const router = openRouter({ perTool: { limit: 1, windowMs: MINUTE } })
    router.prompt('ping', {}, () => 'Ping')
    const client = await connect(router)
    expect(await outcomeOf(client, 'ping')).toBe('ok')
    for (let n = 0; n < 3; n++) await client.getPrompt('ping')
    for (let n = 0; n < 3; n++) await client.readResource('notes://plain')
    expect(await outcomeOf(client, 'ping')).toBe(LIMITED)
  })

  test.each(['__proto__', 'constructor', 'toString', 'limit', 'windowMs'])('a tool may be called %s', async (name) => {
    stopClock()
    const rates: [string, RateLimitOptions['perTool']][] = [
      ['one rate', { limit: 1, windowMs: MINUTE }],
      ['by name', Object.fromEntries([[name, { limit: 1, windowMs: MINUTE }]])],
      ['others by name', { ping: { limit: 1, windowMs: MINUTE } }],
    ]
    const found: unknown[] = []
    for (const [title, perTool] of rates) {
      const router = createRouter({ name: 'odd', version: '1.0.0' })
      router.use(rateLimit(perTool === undefined ? {} : { perTool }))
      router.tool(name, {}, () => 'odd')
      const client = await connect(router as Router)
      found.push([title, ...(await outcomesOf(2, () => outcomeOf(client, name)))])
    }
    expect(found).toEqual([
      ['one rate', 'ok', LIMITED],
      ['by name', 'ok', LIMITED],
      ['others by name', 'ok', 'ok'],
    ])
    expect(({} as Record<string, unknown>)['limit']).toBeUndefined()
  })

  test('a call without a name, and one of a tool that is not there, are refused as ever', async () => {
    stopClock()
    const client = await connect(openRouter({ perTool: { limit: 5, windowMs: MINUTE } }))
    for (const params of [{}, { name: 7 }, { name: null }, { name: '__proto__' }, { name: 'none' }])
      await expect(client.request('tools/call', params)).rejects.toMatchObject({ code: -32602 })
  })
})

describe('mounted routers', () => {
  /** `billing_refund` of a mounted router, and `ping` of the one around it. */
  const mounted = (limits: { outer?: RateLimitOptions; inner?: RateLimitOptions }): Router => {
    const inner = createRouter({ name: 'billing', version: '1.0.0' })
    if (limits.inner !== undefined) inner.use(rateLimit(limits.inner))
    inner.tool('refund', {}, () => 'refunded')
    const router = openRouter(limits.outer ?? {})
    router.mount('billing', inner)
    return router
  }

  test.each<[string, RateLimitOptions['perTool']]>([
    ['one rate', { limit: 1, windowMs: MINUTE }],
    ['by name', { billing_refund: { limit: 1, windowMs: MINUTE } }],
  ])('a tool of one is limited from outside, %s', async (_title, perTool) => {
    stopClock()
    const client = await connect(mounted({ outer: perTool === undefined ? {} : { perTool } }))
    expect(await outcomesOf(2, () => outcomeOf(client, 'billing_refund'))).toEqual(['ok', LIMITED])
  })

  test('the middleware of one limits its own tools', async () => {
    stopClock()
    const client = await connect(mounted({ inner: { perTool: { limit: 1, windowMs: MINUTE } } }))
    expect(await outcomesOf(2, () => outcomeOf(client, 'billing_refund'))).toEqual(['ok', LIMITED])
    expect(await outcomesOf(3, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok', 'ok'])
  })

  test("a tool's own middleware limits it, mounted or not", async () => {
    stopClock()
    const middleware = [rateLimit({ perTool: { limit: 1, windowMs: MINUTE } })]
    const inner = createRouter({ name: 'billing', version: '1.0.0' })
    inner.tool('refund', { middleware }, () => 'refunded')
    const router = openRouter({})
    router.tool('rare', { middleware }, () => 'rare')
    router.mount('billing', inner)
    const client = await connect(router)
    expect(await outcomesOf(2, () => outcomeOf(client, 'rare'))).toEqual(['ok', LIMITED])
    expect(await outcomesOf(2, () => outcomeOf(client, 'billing_refund'))).toEqual(['ok', LIMITED])
    expect(await outcomesOf(3, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok', 'ok'])
  })

  test('the middleware of one limits its callers', async () => {
    stopClock()
    const client = await connect(mounted({ inner: { perPrincipal: { limit: 1, windowMs: MINUTE } } }))
    expect(await outcomesOf(2, () => outcomeOf(client, 'billing_refund'))).toEqual(['ok', LIMITED])
    expect(await outcomesOf(3, () => outcomeOf(client, 'ping'))).toEqual(['ok', 'ok', 'ok'])
  })
})

describe('several limits', () => {
  test('hold together: what one lets through the other may refuse', async () => {
    stopClock()
    const rate = (limit: number) => ({ limit, windowMs: MINUTE })
    const client = await connect(openRouter({ perPrincipal: rate(3), perTool: { ping: rate(1) } }))
    const outcomes: unknown[] = []
    for (const name of ['ping', 'ping', 'pong', 'pong']) outcomes.push(await outcomeOf(client, name))
    expect(outcomes).toEqual(['ok', LIMITED, 'ok', LIMITED])
  })

  test('two middlewares count each for itself', async () => {
    stopClock()
    const router = openRouter({ perPrincipal: { limit: 3, windowMs: MINUTE } })
    router.use(rateLimit({ perPrincipal: { limit: 1, windowMs: 1000 } }))
    const client = await connect(router)
    expect(await outcomesOf(2, () => outcomeOf(client, 'ping'))).toEqual(['ok', LIMITED])
  })

  test('without any nothing is limited', async () => {
    const client = await connect(openRouter({}))
    expect(await outcomesOf(50, () => outcomeOf(client, 'ping'))).toEqual(Array(50).fill('ok'))
  })

  test('on one pipe both kinds of versions share a rate', async () => {
    stopClock()
    const { client, wire } = await pipe('stdio', openRouter({ perTool: { limit: 1, windowMs: MINUTE } }), {
      protocol: '2025-11-25',
    })
    expect(await outcomeOf(client, 'ping')).toBe('ok')
    const { body } = modern('tools/call', { name: 'ping' }, { id: 'modern' })
    const answer = await wire.ask(JSON.parse(String(body)))
    expect(answer).toMatchObject({ id: 'modern', error: { data: { reason: LIMITED } } })
  })
})
