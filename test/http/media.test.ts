import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import { BOTH, begin, codeOf, dataOf, legacy, modern, open, TARGETS, target, textBlockOf } from './_http.js'

describe.each(TARGETS)('media types over %s', (kind) => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset="UTF-8"',
    'application/json ; foo=bar',
  ])('C1: Content-Type %s is JSON', async (type) => {
    const on = await target(kind, fixture().router)
    const answer = await on.send(modern('tools/list', {}, { headers: { 'content-type': type } }))
    expect(answer.status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json, text/plain',
    'text/plain; application/json',
    undefined,
  ])('C1: Content-Type %s is refused before a tool runs', async (type) => {
    const { router, entered } = fixture()
    const on = await target(kind, router)
    const answer = await on.send(modern('tools/call', { name: 'noargs' }, { headers: { 'content-type': type } }))
    expect(answer.status).toBe(415)
    expect(codeOf(answer)).toBe(-32600)
    expect(dataOf(answer)['reason']).toBe('content_type')
    expect(entered).toEqual([])
    expect((await on.send(modern('tools/list'))).status).toBe(200)
  })

  test.each([
    undefined,
    '*/*',
    'application/*',
    'application/json',
    'Application/JSON',
    'application/json;q=0.5',
    BOTH,
    'text/html, application/json;charset=utf-8',
    'text/event-stream;q=0, application/json',
  ])('Accept %s gets JSON', async (accept) => {
    const on = await target(kind, fixture().router)
    const answer = await on.send(modern('tools/call', { name: 'noargs' }, { headers: { accept } }))
    expect(answer.status).toBe(200)
    expect(answer.header('content-type')).toMatch(/^application\/json/)
    expect(textBlockOf(answer)).toBe('ok')
  })

  test.each([
    'text/event-stream',
    'TEXT/Event-Stream; q=0.1',
    'text/*',
    'application/json;q=0, text/event-stream',
    'application/json;q=0, */*',
    'application/*;q=0.0, */*;q=0.1',
  ])('Accept %s gets a stream, even where nothing comes before the answer', async (accept) => {
    const on = await target(kind, fixture().router)
    const answer = await on.send(modern('tools/call', { name: 'noargs' }, { headers: { accept } }))
    expect(answer.status).toBe(200)
    expect(answer.header('content-type')).toMatch(/^text\/event-stream/)
    expect(answer.events).toHaveLength(1)
    expect(textBlockOf(answer)).toBe('ok')
  })

  test.each(['application/json', 'text/event-stream;q=0, */*'])(
    'Accept %s never gets a stream: progress is dropped, and a handler that awaits it goes on',
    async (accept) => {
      const { router, held } = fixture()
      const on = await target(kind, router)
      const params = { name: 'hold', arguments: { tag: 'a' } }
      const pending = on.send(modern('tools/call', params, { headers: { accept }, meta: { progressToken: 1 } }))
      const { session, release } = await held('a')
      await session.notifyProgress(1)
      await session.notifyProgress(2)
      release()
      const answer = await pending
      expect(answer.header('content-type')).toMatch(/^application\/json/)
      expect(textBlockOf(answer)).toBe('a')
    },
  )

  test.each(['text/html', 'application/xml, image/png', '*/*;q=0', 'application/json;q=0, text/event-stream;q=0.000'])(
    'Accept %s is refused before a tool runs',
    async (accept) => {
      const { router, entered } = fixture()
      const on = await target(kind, router)
      const answer = await on.send(modern('tools/call', { name: 'noargs' }, { headers: { accept } }))
      expect(answer.status).toBe(406)
      expect(codeOf(answer)).toBe(-32600)
      expect(dataOf(answer)['reason']).toBe('accept')
      expect(entered).toEqual([])
    },
  )

  test('a session chooses between JSON and stream as 2026-07-28 does', async () => {
    const on = await target(kind, fixture().router)
    const { headers } = await begin(on)
    const call = (accept: string): ReturnType<typeof on.send> =>
      on.send(legacy('tools/call', { name: 'noargs' }, { headers: { ...headers, accept } }))
    expect((await call('application/json')).streamed).toBe(false)
    expect((await call('text/event-stream')).streamed).toBe(true)
    expect((await call(BOTH)).streamed).toBe(false)
    expect((await call('text/html')).status).toBe(406)
  })

  test('an error of a client that takes streams only comes on a stream where its status is 200', async () => {
    const on = await target(kind, fixture().router)
    const accept = 'text/event-stream'
    const unknown = await on.send(modern('tools/call', { name: 'nothing' }, { headers: { accept } }))
    expect([unknown.status, unknown.streamed, codeOf(unknown)]).toEqual([200, true, -32602])
  })
})

test('two Accept headers count as one list', async () => {
  const on = await target('node', fixture().router)
  const port = on.serving?.port ?? 0
  const answer = await open(port, modern('tools/list', {}, { headers: { accept: ['text/html', 'application/json'] } }))
  answer.resume()
  expect(answer.statusCode).toBe(200)
})

test('two different Content-Type headers are refused', async () => {
  const on = await target('node', fixture().router)
  const headers = { 'content-type': ['application/json', 'text/plain'] }
  const answer = await on.send(modern('tools/list', {}, { headers }))
  expect(answer.status).toBe(415)
})
