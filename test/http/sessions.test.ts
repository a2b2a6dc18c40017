import { describe, expect, test } from 'vitest'
import { eventually } from './_eventually.js'
import { fixture } from './_fixture.js'
import {
  type Answer,
  afterTest,
  begin,
  codeOf,
  dataOf,
  initialize,
  legacy,
  open,
  resultOf,
  TARGETS,
  type Target,
  target,
  textBlockOf,
} from './_http.js'

const UNKNOWN = '5f0e0000-0000-4000-8000-000000000000'

describe.each(TARGETS)('sessions over %s', (kind) => {
  const withSession = (on: Target, id: string): Record<string, () => Promise<Answer>> => ({
    'POST of a request': () => on.send(legacy('tools/list', {}, { headers: { 'mcp-session-id': id } })),
    'POST of a notification': () =>
      on.send(legacy('notifications/initialized', {}, { headers: { 'mcp-session-id': id }, notification: true })),
    GET: () => on.send({ method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': id } }),
    DELETE: () => on.send({ method: 'DELETE', headers: { 'mcp-session-id': id } }),
  })

  test.each(['POST of a request', 'POST of a notification', 'GET', 'DELETE'])(
    'D1: %s with an id that was never issued is 404 before any stream',
    async (how) => {
      const on = await target(kind, fixture().router)
      await begin(on)
      const answer = await withSession(on, UNKNOWN)[how]?.()
      expect(answer?.status).toBe(404)
      expect(answer?.streamed).toBe(false)
      expect(answer && codeOf(answer)).toBe(-32600)
      expect(answer && dataOf(answer)['reason']).toBe('session_unknown')
    },
  )

  test.each(['POST of a request', 'POST of a notification', 'GET', 'DELETE'])('%s after DELETE is 404', async (how) => {
    const on = await target(kind, fixture().router)
    const { id, headers } = await begin(on)
    const deleted = await on.send({ method: 'DELETE', headers })
    expect([200, 204]).toContain(deleted.status)
    expect((await withSession(on, id)[how]?.())?.status).toBe(404)
    expect(resultOf(await on.send(initialize()))).toBeDefined()
  })

  test('D1: without an id it is 400, with a word that names the header', async () => {
    const on = await target(kind, fixture().router)
    await begin(on)
    const asked = await on.send(legacy('tools/list', {}, { id: 'mine' }))
    expect(asked.message).toMatchObject({ id: 'mine', error: { code: -32600 } })
    for (const sent of [
      legacy('tools/list'),
      legacy('notifications/initialized', {}, { notification: true }),
      { method: 'GET', headers: { accept: 'text/event-stream' } },
      { method: 'DELETE' },
    ]) {
      const answer = await on.send(sent)
      expect(answer.status).toBe(400)
      expect(dataOf(answer)).toMatchObject({ reason: 'session_required', header: 'Mcp-Session-Id' })
    }
  })

  test('ids are visible ASCII, unguessable, and differ', async () => {
    const on = await target(kind, fixture().router)
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await begin(on)).id))
    expect(new Set(ids).size).toBe(50)
    for (const id of ids) {
      expect(id).toMatch(/^[\x21-\x7e]{22,}$/)
      // No two ids of a counter or a clock would have so little in common.
      const others = ids.filter((other) => other !== id && other.slice(0, 12) === id.slice(0, 12))
      expect(others).toEqual([])
    }
  })

  test('a second initialize of a session is refused, and the session goes on', async () => {
    const on = await target(kind, fixture().router)
    const { headers } = await begin(on)
    const again = await on.send(initialize('2025-11-25', headers))
    expect([again.status, codeOf(again)]).toEqual([400, -32600])
    expect((await on.send(legacy('ping', {}, { headers }))).message).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  test('an initialize that fails begins no session', async () => {
    const on = await target(kind, fixture().router, { server: { maxSessions: 1 } })
    const failed = await on.send(legacy('initialize', { capabilities: {} }))
    expect(codeOf(failed)).toBe(-32602)
    expect(failed.header('mcp-session-id')).toBeUndefined()
  })

  test('an initialize with an id that is gone begins another session', async () => {
    const on = await target(kind, fixture().router)
    const answer = await on.send(initialize('2025-11-25', { 'mcp-session-id': UNKNOWN }))
    expect(answer.status).toBe(200)
    expect(answer.header('mcp-session-id')).not.toBe(UNKNOWN)
  })

  test('sessions are told apart: version, running ids and cancellation', async () => {
    const { router, held, finished } = fixture()
    const on = await target(kind, router)
    const one = await begin(on, '2025-06-18')
    const two = await begin(on, '2025-11-25')
    const call = (tag: string, headers: typeof one.headers): Promise<Answer> =>
      on.send(legacy('tools/call', { name: 'hold', arguments: { tag } }, { id: 9, headers }))
    const answers = [call('one', one.headers), call('two', two.headers)]
    const [first, second] = [await held('one'), await held('two')]
    expect([first.session.protocolVersion, second.session.protocolVersion]).toEqual(['2025-06-18', '2025-11-25'])
    expect([first.session.id, second.session.id]).toEqual([one.id, two.id])
    const cancel = { headers: two.headers, notification: true }
    expect((await on.send(legacy('notifications/cancelled', { requestId: 9 }, cancel))).status).toBe(202)
    first.release()
    expect(textBlockOf((await answers[0]) as Answer)).toBe('one')
    expect(((await answers[1]) as Answer).message).toBeUndefined()
    expect(finished).toEqual(['one'])
  })

  test('an id that is in flight in the same session is refused, and the first call is answered', async () => {
    const { router, held } = fixture()
    const on = await target(kind, router)
    const { headers } = await begin(on)
    const first = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { id: 4, headers }))
    const { release } = await held('a')
    const second = await on.send(legacy('tools/list', {}, { id: 4, headers }))
    expect([second.status, codeOf(second)]).toEqual([400, -32600])
    release()
    expect(textBlockOf(await first)).toBe('a')
    expect((await on.send(legacy('tools/list', {}, { id: 4, headers }))).status).toBe(200)
  })

  test('J3: late and senseless cancels are accepted and change nothing', async () => {
    const on = await target(kind, fixture().router)
    const { headers } = await begin(on)
    await on.send(legacy('tools/list', {}, { id: 5, headers }))
    for (const params of [{ requestId: 5 }, { requestId: 999 }, {}, { requestId: {} }, { requestId: 5 }]) {
      const answer = await on.send(legacy('notifications/cancelled', params, { headers, notification: true }))
      expect([answer.status, answer.text]).toEqual([202, ''])
    }
    expect((await on.send(legacy('tools/list', {}, { id: 5, headers }))).status).toBe(200)
  })

  test('notifications and responses are accepted with 202 and no body', async () => {
    const on = await target(kind, fixture().router)
    const { headers } = await begin(on)
    const unknown = await on.send(legacy('notifications/moon', {}, { headers, notification: true }))
    expect([unknown.status, unknown.text]).toEqual([202, ''])
    const response = await on.send({ ...legacy('x', {}, { headers }), body: '{"jsonrpc":"2.0","id":3,"result":{}}' })
    expect([response.status, response.text]).toEqual([202, ''])
  })

  test('a session that is not used ends after sessionTtlMs; each use begins its time anew', async () => {
    let now = 1_000
    const on = await target(kind, fixture().router, { server: { sessionTtlMs: 100, clock: () => now } })
    const { headers } = await begin(on)
    const use = async (): Promise<number> => (await on.send(legacy('ping', {}, { headers }))).status
    now += 90
    expect(await use()).toBe(200)
    now += 90
    expect(await use()).toBe(200)
    now += 101
    expect(await use()).toBe(404)
    expect(await use()).toBe(404)
  })

  test('a session with a running call does not run out of time', async () => {
    let now = 1_000
    const { router, held } = fixture()
    const on = await target(kind, router, { server: { sessionTtlMs: 100, clock: () => now } })
    const { headers } = await begin(on)
    const call = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { headers }))
    const { release } = await held('a')
    now += 500
    expect((await on.send(legacy('ping', {}, { id: 2, headers }))).status).toBe(200)
    release()
    expect(textBlockOf(await call)).toBe('a')
  })

  test('maxSessions: the one that was idle longest makes room', async () => {
    let now = 1_000
    const on = await target(kind, fixture().router, { server: { maxSessions: 2, clock: () => now++ } })
    const [one, two] = [await begin(on), await begin(on)]
    const alive = async (headers: typeof one.headers): Promise<boolean> =>
      (await on.send(legacy('ping', {}, { headers }))).status === 200
    expect(await alive(one.headers)).toBe(true)
    const three = await begin(on)
    expect([await alive(one.headers), await alive(two.headers), await alive(three.headers)]).toEqual([
      true,
      false,
      true,
    ])
  })

  test('maxSessions: where all are in use a new one is told to come again', async () => {
    const { router, held } = fixture()
    const on = await target(kind, router, { server: { maxSessions: 1 } })
    const { headers } = await begin(on)
    const call = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { headers }))
    const { release } = await held('a')
    const refused = await on.send(initialize())
    expect([refused.status, codeOf(refused), dataOf(refused)]).toEqual([503, -32603, { retryable: true }])
    expect(Number(refused.header('retry-after'))).toBeGreaterThan(0)
    expect(refused.header('mcp-session-id')).toBeUndefined()
    release()
    await call
    expect((await on.send(initialize())).status).toBe(200)
  })

  test('DELETE ends the running calls of its session', async () => {
    const { router, held, aborted } = fixture()
    const on = await target(kind, router)
    const { headers } = await begin(on)
    const call = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { headers }))
    await held('a')
    await on.send({ method: 'DELETE', headers })
    await call
    expect(aborted).toEqual(['a'])
  })

  test('sessions: false issues no id, asks for none, and takes the version from the header', async () => {
    const { router, held } = fixture()
    const on = await target(kind, router, { server: { sessions: false } })
    const begun = await on.send(initialize('2025-06-18'))
    expect(begun.header('mcp-session-id')).toBeUndefined()
    expect(resultOf(begun)).toMatchObject({ protocolVersion: '2025-06-18' })
    const versionOf = async (tag: string, headers: Record<string, string>): Promise<string> => {
      const call = on.send(legacy('tools/call', { name: 'hold', arguments: { tag } }, { headers }))
      const { session, release } = await held(tag)
      release()
      await call
      return session.protocolVersion
    }
    expect(await versionOf('a', {})).toBe('2025-03-26')
    expect(await versionOf('b', { 'mcp-protocol-version': '2025-06-18' })).toBe('2025-06-18')
    expect(await versionOf('c', { 'mcp-session-id': UNKNOWN })).toBe('2025-03-26')
  })

  test('an ids option that throws costs one request, masked and reported', async () => {
    let broken = true
    const ids = (): string => {
      if (broken) throw new Error('no entropy')
      return 'a'.repeat(32)
    }
    const on = await target(kind, fixture().router, { server: { ids } })
    const answer = await on.send(initialize())
    expect([answer.status, codeOf(answer)]).toEqual([500, -32603])
    expect(answer.text).not.toContain('entropy')
    expect(on.errors).toHaveLength(1)
    broken = false
    expect((await begin(on)).id).toBe('a'.repeat(32))
  })
})

describe('the stream of a session', () => {
  const stream = (headers: Readonly<Record<string, unknown>>): Parameters<typeof open>[1] => ({
    method: 'GET',
    headers: { accept: 'text/event-stream', ...headers } as Record<string, string>,
  })

  test('K1: headers come at once though nothing is due, unbuffered and not compressed', async () => {
    const on = await target('node', fixture().router)
    const { headers } = await begin(on)
    const answer = await open(on.serving?.port ?? 0, stream({ ...headers, 'accept-encoding': 'gzip, br' }))
    afterTest(() => void answer.destroy())
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/event-stream')
    expect(answer.headers['x-accel-buffering']).toBe('no')
    expect(answer.headers['cache-control']).toContain('no-cache')
    expect(answer.headers['content-encoding']).toBeUndefined()
    expect(answer.headers['content-length']).toBeUndefined()
  })

  test.each(['application/json', 'text/html'])('Accept %s is 406', async (accept) => {
    const on = await target('node', fixture().router)
    const { headers } = await begin(on)
    const answer = await on.send({ method: 'GET', headers: { ...headers, accept } })
    expect([answer.status, dataOf(answer)['reason']]).toEqual([406, 'accept'])
  })

  test('a second one is 409 and the first stays', async () => {
    const on = await target('node', fixture().router)
    const { headers } = await begin(on)
    const first = await open(on.serving?.port ?? 0, stream(headers))
    afterTest(() => void first.destroy())
    const second = await on.send(stream(headers))
    expect(second.status).toBe(409)
    expect(codeOf(second)).toBe(-32600)
    expect(dataOf(second)).toMatchObject({ reason: 'stream_open', option: 'secondStream' })
    expect(first.complete).toBe(false)
  })

  test('when its client is gone, another may take its place', async () => {
    const on = await target('node', fixture().router)
    const { headers } = await begin(on)
    const port = on.serving?.port ?? 0
    const first = await open(port, stream(headers))
    first.on('error', () => undefined)
    first.destroy()
    await eventually(async () => {
      const next = await open(port, stream(headers))
      next.on('error', () => undefined)
      next.destroy()
      return next.statusCode
    }).toBe(200)
  })

  test('takeOver ends the first one', async () => {
    const on = await target('node', fixture().router, { http: { secondStream: 'takeOver' } })
    const { headers } = await begin(on)
    const port = on.serving?.port ?? 0
    const first = await open(port, stream(headers))
    const over = new Promise((resolve) => first.on('end', resolve))
    first.resume()
    const second = await open(port, stream(headers))
    afterTest(() => void second.destroy())
    expect(second.statusCode).toBe(200)
    await over
    const third = await open(port, stream(headers))
    afterTest(() => void third.destroy())
    expect(third.statusCode).toBe(200)
  })

  test('DELETE ends it', async () => {
    const on = await target('node', fixture().router)
    const { headers } = await begin(on)
    const answer = await open(on.serving?.port ?? 0, stream(headers))
    const over = new Promise((resolve) => answer.on('end', resolve))
    answer.resume()
    await on.send({ method: 'DELETE', headers })
    await over
    expect(answer.complete).toBe(true)
  })

  test('a session with an open stream does not run out of time, and makes no room', async () => {
    let now = 1_000
    const server = { sessionTtlMs: 100, maxSessions: 1, clock: () => now }
    const on = await target('node', fixture().router, { server })
    const { headers } = await begin(on)
    const answer = await open(on.serving?.port ?? 0, stream(headers))
    answer.on('error', () => undefined)
    now += 1_000
    expect((await on.send(initialize())).status).toBe(503)
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
    answer.destroy()
    await eventually(async () => {
      // Each use begins the time anew.
      now += 1_000
      return (await on.send(legacy('ping', {}, { headers }))).status
    }).toBe(404)
  })
})
