import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRouter, type RateLimitOptions, type Router, rateLimit } from 'phantom-mcp'
import { connect } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { legacy, target } from '../http/_http.js'
import { beginAs } from '../sessions/_sessions.js'
import { MINUTE, openRouter, outcomeOf, outcomesOf, stopClock } from './_rate-limit.js'

const LIMITED = 'rate_limited'
const ONE = { limit: 1, windowMs: MINUTE }

/** Calls in the name of a principal: over HTTP the header says who. */
async function calling(options: RateLimitOptions): Promise<(principal: string, name?: string) => Promise<unknown>> {
  const router = createRouter({
    name: 'many',
    version: '1.0.0',
    connect: (session, { headers }) => session.assign({ user: headers.get('x-user') ?? 'nobody' }),
    principal: ({ assigns }) => assigns.user,
  })
  router.use(rateLimit(options))
  router.tool('ping', {}, () => 'pong')
  router.tool('pong', {}, () => 'ping')
  const on = await target('fetch', router as unknown as Router, { server: { sessions: false } })
  return async (principal, name = 'ping') => {
    const answer = await on.send(legacy('tools/call', { name }, { headers: { 'x-user': principal } }))
    return answer.status === 503 ? LIMITED : 'ok'
  }
}

describe('maxCallers', () => {
  test('whoever was quiet longest is forgotten first', async () => {
    stopClock()
    const call = await calling({ perPrincipal: ONE, maxCallers: 2 })
    expect([await call('a'), await call('b'), await call('a'), await call('b')]).toEqual(['ok', 'ok', LIMITED, LIMITED])
    // `a` asks again, so that it is `b` who makes room for `c`.
    expect([await call('a'), await call('c')]).toEqual([LIMITED, 'ok'])
    expect(await call('a')).toBe(LIMITED)
    expect(await call('b')).toBe('ok')
  })

  test('10 000 are remembered when nothing is said', async () => {
    stopClock()
    const call = await calling({ perPrincipal: ONE })
    const names = Array.from({ length: 10_000 }, (_, index) => `user-${index}`)
    for (const name of names) await call(name)
    expect(await call('user-0')).toBe(LIMITED)
    expect(await call('user-10000')).toBe('ok')
    // `user-0` has just been here; `user-1` had to go.
    expect(await call('user-0')).toBe(LIMITED)
    expect(await call('user-1')).toBe('ok')
  }, 20_000)

  test('what is remembered of tools does not push out callers', async () => {
    stopClock()
    const call = await calling({ perPrincipal: ONE, perTool: ONE, maxCallers: 2 })
    expect(await call('a', 'ping')).toBe('ok')
    expect(await call('a', 'pong')).toBe(LIMITED)
    expect(await call('b', 'ping')).toBe('ok')
    expect([await call('a'), await call('b')]).toEqual([LIMITED, LIMITED])
  })
})

// A caller chooses the names that it calls: they must not be a way around the limit, nor a way to fill memory.
describe('names of tools that are not there', () => {
  test('do not push out what is remembered of those that are', async () => {
    stopClock()
    const client = await connect(openRouter({ perTool: ONE, maxCallers: 10 }))
    expect(await outcomesOf(2, () => outcomeOf(client, 'ping'))).toEqual(['ok', LIMITED])
    for (let n = 0; n < 20; n++) await outcomeOf(client, `none-${n}`)
    expect(await outcomeOf(client, 'ping')).toBe(LIMITED)
  })

  test('do not push out other callers', async () => {
    stopClock()
    const call = await calling({ perTool: ONE, maxCallers: 10 })
    expect([await call('ana'), await call('ana')]).toEqual(['ok', LIMITED])
    for (let n = 0; n < 20; n++) await call('bo', `none-${n}`)
    expect(await call('ana')).toBe(LIMITED)
  })

  test('are not kept, however long they are', async () => {
    const call = await calling({ perTool: ONE })
    const before = heapUsed()
    for (let n = 0; n < 60; n++) await call('bo', `${n}-${'x'.repeat(1_000_000)}`)
    expect((heapUsed() - before) / 1e6).toBeLessThan(20)
  }, 20_000)
})

describe('sessions that come and go', () => {
  test('are bounded like any other caller', async () => {
    stopClock()
    const on = await target('fetch', openRouter({ perTool: ONE, maxCallers: 5 }))
    const { headers } = await beginAs(on)
    const call = async (own: typeof headers): Promise<number> =>
      (await on.send(legacy('tools/call', { name: 'ping' }, { headers: own }))).status
    expect([await call(headers), await call(headers)]).toEqual([200, 503])
    for (let n = 0; n < 5; n++) expect(await call((await beginAs(on)).headers)).toBe(200)
    expect(await call(headers)).toBe(200)
  })
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapUsed(): number {
  collect()
  const { heapUsed: used, external } = process.memoryUsage()
  return used + external
}
