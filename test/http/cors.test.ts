import type { HttpOptions, ServerOptions } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import { type Answer, begin, initialize, legacy, modern, TARGETS, type Target, target } from './_http.js'

const PAGE = 'https://app.example.com'
const ASKED =
  'authorization,content-type,accept,mcp-protocol-version,mcp-method,mcp-name,mcp-param-region,mcp-session-id,last-event-id'

const list = (value: string | undefined): string[] => (value ?? '').toLowerCase().split(/\s*,\s*/)

describe.each(TARGETS)('CORS over %s', (kind) => {
  const served = (http: HttpOptions = {}, server: ServerOptions = {}): Promise<Target> =>
    target(kind, fixture().router, { http: { origins: [PAGE], ...http }, server })
  const preflight = (on: Target, origin = PAGE, asked = ASKED): Promise<Answer> =>
    on.send({
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    })

  test('M1: a preflight needs no login, and allows every header that was asked for', async () => {
    const on = await served()
    const answer = await preflight(on)
    expect(answer.status).toBeGreaterThanOrEqual(200)
    expect(answer.status).toBeLessThan(300)
    expect(answer.header('access-control-allow-origin')).toBe(PAGE)
    expect(list(answer.header('access-control-allow-headers'))).toEqual(expect.arrayContaining(ASKED.split(',')))
    expect(list(answer.header('access-control-allow-methods'))).toEqual(
      expect.arrayContaining(['post', 'get', 'delete']),
    )
    expect(list(answer.header('vary'))).toContain('origin')
    expect(Number(answer.header('access-control-max-age'))).toBeGreaterThan(0)
    expect(answer.text).toBe('')
  })

  test('without sessions only POST is offered', async () => {
    const on = await served({}, { sessions: false })
    const methods = list((await preflight(on)).header('access-control-allow-methods'))
    expect(methods).toContain('post')
    expect(methods).not.toContain('get')
    expect(methods).not.toContain('delete')
  })

  test('any Mcp-Param-* is allowed, and no header that nobody knows', async () => {
    const on = await served()
    const asked = 'mcp-param-tenant-id, MCP-Param-X_1, x-evil, mcp-param-, mcp-param-a b'
    const allowed = list((await preflight(on, PAGE, asked)).header('access-control-allow-headers'))
    expect(allowed).toEqual(expect.arrayContaining(['mcp-param-tenant-id', 'mcp-param-x_1']))
    for (const name of ['x-evil', 'mcp-param-', 'mcp-param-a b']) expect(allowed).not.toContain(name)
  })

  const readable = (answer: Answer): void => {
    expect(answer.header('access-control-allow-origin')).toBe(PAGE)
    expect(list(answer.header('vary'))).toContain('origin')
    expect(list(answer.header('access-control-expose-headers'))).toEqual(
      expect.arrayContaining(['mcp-session-id', 'www-authenticate']),
    )
    expect(answer.header('access-control-allow-credentials')).toBeUndefined()
  }

  test('M1: every answer can be read, errors too', async () => {
    const on = await served({ maxBodyBytes: 2_000 })
    const headers = { origin: PAGE }
    const { headers: session } = await begin(on)
    const sent = modern('tools/list', {}, { headers })
    const answers: [number, Answer][] = [
      [200, await on.send(sent)],
      [200, await on.send(modern('tools/list', {}, { headers: { ...headers, accept: 'text/event-stream' } }))],
      [200, await on.send(initialize('2025-11-25', headers))],
      [202, await on.send(legacy('notifications/x', {}, { headers: { ...headers, ...session }, notification: true }))],
      [400, await on.send({ ...sent, body: '{' })],
      [400, await on.send(modern('tools/list', {}, { headers: { ...headers, 'mcp-method': 'other' } }))],
      [400, await on.send(legacy('tools/list', {}, { headers }))],
      [404, await on.send(modern('no/such/method', {}, { headers }))],
      [404, await on.send(legacy('tools/list', {}, { headers: { ...headers, 'mcp-session-id': 'gone' } }))],
      [405, await on.send({ method: 'PUT', headers })],
      [406, await on.send(modern('tools/list', {}, { headers: { ...headers, accept: 'text/html' } }))],
      [413, await on.send({ ...sent, body: ' '.repeat(2_001) })],
      [415, await on.send(modern('tools/list', {}, { headers: { ...headers, 'content-type': 'text/plain' } }))],
      [204, await on.send({ method: 'DELETE', headers: { ...headers, ...session } })],
    ]
    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status)
      readable(answer)
    }
  })

  test('M1: even an internal error can be read', async () => {
    const ids = (): string => {
      throw new Error('no entropy')
    }
    const on = await served({}, { ids })
    const answer = await on.send(initialize('2025-11-25', { origin: PAGE }))
    expect(answer.status).toBe(500)
    expect(on.errors).toHaveLength(1)
    readable(answer)
  })

  test('a foreign page gets no leave, in a preflight or otherwise', async () => {
    const on = await served()
    for (const answer of [
      await preflight(on, 'https://evil.example.com'),
      await on.send(modern('tools/list', {}, { headers: { origin: 'https://evil.example.com' } })),
    ]) {
      expect(answer.header('access-control-allow-origin')).toBeUndefined()
      expect(answer.header('access-control-allow-headers')).toBeUndefined()
    }
  })

  test('who is no page gets no CORS headers', async () => {
    const answer = await (await served()).send(modern('tools/list'))
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
    expect(answer.header('access-control-expose-headers')).toBeUndefined()
  })

  test("origins '*' is told as '*', without credentials", async () => {
    const on = await served({ origins: '*' })
    for (const answer of [
      await preflight(on, 'https://any.example.com'),
      await on.send(modern('tools/list', {}, { headers: { origin: 'https://any.example.com' } })),
    ]) {
      expect(answer.header('access-control-allow-origin')).toBe('*')
      expect(answer.header('access-control-allow-credentials')).toBeUndefined()
    }
  })

  test('credentials go with a named origin only', async () => {
    const on = await served({ cors: { credentials: true, allowHeaders: ['x-team'], exposeHeaders: ['x-rate'] } })
    const before = await preflight(on)
    expect(before.header('access-control-allow-origin')).toBe(PAGE)
    expect(before.header('access-control-allow-credentials')).toBe('true')
    expect(list(before.header('access-control-allow-headers'))).toContain('x-team')
    const answer = await on.send(modern('tools/list', {}, { headers: { origin: PAGE } }))
    expect(answer.header('access-control-allow-credentials')).toBe('true')
    expect(list(answer.header('access-control-expose-headers'))).toContain('x-rate')
    await expect(served({ origins: '*', cors: { credentials: true } })).rejects.toThrow(/credentials.*origins/)
  })

  test('an Origin that an origins function allows is told as it is', async () => {
    const on = await served({ origins: () => true, cors: { credentials: true } })
    expect((await preflight(on, 'https://x.example.com')).header('access-control-allow-origin')).toBe(
      'https://x.example.com',
    )
  })

  test('cors: false sends none of it, and guards all the same', async () => {
    const on = await served({ cors: false })
    const answer = await on.send(modern('tools/list', {}, { headers: { origin: PAGE } }))
    expect(answer.status).toBe(200)
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
    expect((await preflight(on)).header('access-control-allow-origin')).toBeUndefined()
    expect((await on.send(modern('tools/list', {}, { headers: { origin: 'https://evil.example.com' } }))).status).toBe(
      403,
    )
  })
})
