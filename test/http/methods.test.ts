import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import { begin, codeOf, dataOf, MODERN, modern, RawSocket, TARGETS, target } from './_http.js'

describe.each(TARGETS)('methods over %s', (kind) => {
  test.each(['HEAD', 'PUT', 'PATCH'])('C3: %s is answered 405 with Allow', async (method) => {
    const on = await target(kind, fixture().router)
    const answer = await on.send({ method, headers: { accept: 'text/event-stream' } })
    expect(answer.status).toBe(405)
    const allow = answer.header('allow')?.split(', ')
    expect(allow).toEqual(expect.arrayContaining(['GET', 'POST', 'DELETE']))
    expect(allow).not.toContain(method)
    if (method !== 'HEAD') {
      expect(codeOf(answer)).toBe(-32600)
      expect(dataOf(answer)['reason']).toBe('method')
    }
    expect((await on.send(modern('tools/list'))).status).toBe(200)
  })

  test.each(['GET', 'DELETE', 'HEAD', 'PUT', 'PATCH'])(
    'C3: without sessions %s is answered 405, and Allow lists POST alone beside OPTIONS',
    async (method) => {
      const on = await target(kind, fixture().router, { server: { sessions: false } })
      const answer = await on.send({ method, headers: { accept: 'text/event-stream', 'mcp-session-id': 'abc' } })
      expect(answer.status).toBe(405)
      expect(answer.header('allow')).toBe('POST, OPTIONS')
    },
  )

  test.each(['GET', 'DELETE'])('%s of 2026-07-28 is answered 405 whatever the endpoint serves else', async (method) => {
    const on = await target(kind, fixture().router)
    const { id } = await begin(on)
    const headers = { accept: 'text/event-stream', 'mcp-protocol-version': MODERN, 'mcp-session-id': id }
    const answer = await on.send({ method, headers })
    expect(answer.status).toBe(405)
    expect(answer.header('allow')).toBe('POST, OPTIONS')
  })

  test('OPTIONS of who is no page tells the methods', async () => {
    const on = await target(kind, fixture().router)
    const answer = await on.send({ method: 'OPTIONS' })
    expect(answer.status).toBe(204)
    expect(answer.header('allow')).toBe('GET, POST, DELETE, OPTIONS')
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
  })
})

test('C3: HEAD has no body, and the connection serves the next request', async () => {
  const on = await target('node', fixture().router)
  const socket = await RawSocket.connect(on.serving?.port ?? 0)
  await socket.write('HEAD /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await socket.write('OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  await socket.ended
  expect(socket.received).toMatch(/^HTTP\/1\.1 405 /)
  expect(socket.body).toMatch(/^HTTP\/1\.1 204 /)
})

test('other paths are 404 without a JSON-RPC answer', async () => {
  const on = await target('node', fixture().router)
  const answer = await on.send({ ...modern('tools/list'), path: '/other' })
  expect(answer.status).toBe(404)
  expect(answer.message).toBeUndefined()
  expect((await on.send({ ...modern('tools/list'), path: '/mcp?key=1' })).status).toBe(200)
})
