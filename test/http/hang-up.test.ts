import { fetchHandler } from 'phantom-mcp/fetch'
import { describe, expect, test } from 'vitest'
import { eventually } from './_eventually.js'
import { fixture } from './_fixture.js'
import { BOTH, begin, head, legacy, MODERN, modern, RawSocket, type Sent, type Target, target } from './_http.js'

const JSON_ONLY = 'application/json'

/** A call on a socket of its own. */
async function call(on: Target, sent: Sent): Promise<RawSocket> {
  const socket = await RawSocket.connect(on.serving?.port ?? 0)
  await socket.write(
    head(sent, { 'content-length': String(Buffer.byteLength(sent.body as string)) }) + (sent.body as string),
  )
  return socket
}

const hold = (tag: string, accept = BOTH): Sent =>
  modern('tools/call', { name: 'hold', arguments: { tag } }, { headers: { accept }, meta: { progressToken: 1 } })
const holdOf = (tag: string, headers: Readonly<Record<string, unknown>>): Sent =>
  legacy(
    'tools/call',
    { name: 'hold', arguments: { tag }, _meta: { progressToken: 1 } },
    { headers: headers as Record<string, string> },
  )

describe('J5: hanging up', () => {
  test('modern, on a stream: the signal is aborted, and nothing more is sent', async () => {
    const { router, held, aborted, finished } = fixture()
    const on = await target('node', router)
    const socket = await call(on, hold('a'))
    const { session } = await held('a')
    await session.notifyProgress(1)
    await eventually(() => socket.body).toContain('notifications/progress')
    expect(session.signal.aborted).toBe(false)
    socket.socket.destroy()
    await eventually(() => aborted).toEqual(['a'])
    expect(session.signal.reason).toMatchObject({ name: 'AbortError' })
    await session.notifyProgress(2)
    expect(finished).toEqual([])
    expect(on.errors).toEqual([])
  })

  test.each([JSON_ONLY, BOTH])('modern, before a JSON answer (Accept %s): the signal is aborted', async (accept) => {
    const { router, held, aborted } = fixture()
    const on = await target('node', router)
    const socket = await call(on, hold('a', accept))
    await held('a')
    expect(socket.received).toBe('')
    socket.socket.destroy()
    await eventually(() => aborted).toEqual(['a'])
    expect(on.errors).toEqual([])
    expect((await on.send(modern('tools/list'))).status).toBe(200)
  })

  test('modern, half-closed: a client that has sent its end still gets its answer', async () => {
    const { router, held, aborted } = fixture()
    const on = await target('node', router)
    const sent = hold('a', JSON_ONLY)
    const socket = await call(on, { ...sent, headers: { ...sent.headers, connection: 'close' } })
    const { release } = await held('a')
    release()
    await socket.ended
    expect(socket.status).toBe(200)
    expect(aborted).toEqual([])
  })

  test.each(['a stream', 'JSON'])('legacy, on %s: the handler runs to its end', async (how) => {
    const { router, held, aborted, finished } = fixture()
    const on = await target('node', router)
    const { headers } = await begin(on)
    const accept = how === 'JSON' ? JSON_ONLY : BOTH
    const socket = await call(on, holdOf('a', { ...headers, accept }))
    const { session, release } = await held('a')
    if (how !== 'JSON') {
      await session.notifyProgress(1)
      await eventually(() => socket.body).toContain('notifications/progress')
    }
    socket.socket.destroy()
    await socket.ended
    // Another request has gone through: the server has seen the end of the first by now.
    expect((await on.send(legacy('ping', {}, { id: 2, headers }))).status).toBe(200)
    await session.notifyProgress(2)
    expect(session.signal.aborted).toBe(false)
    release()
    await eventually(() => finished).toEqual(['a'])
    expect(aborted).toEqual([])
    expect(on.errors).toEqual([])
    expect((await on.send(legacy('ping', {}, { id: 1, headers }))).status).toBe(200)
  })

  test('legacy: a cancellation from elsewhere ends the stream without an answer', async () => {
    const { router, held, aborted } = fixture()
    const on = await target('node', router)
    const { headers } = await begin(on)
    const socket = await call(on, holdOf('a', { ...headers, connection: 'close' }))
    const { session } = await held('a')
    await session.notifyProgress(1)
    await on.send(
      legacy('notifications/cancelled', { requestId: 1, reason: 'enough' }, { headers, notification: true }),
    )
    await socket.ended
    expect(aborted).toEqual(['a'])
    expect(String(session.signal.reason)).toContain('enough')
    expect(socket.body).not.toContain('"result"')
    expect(socket.body).not.toContain('"error"')
  })

  test('modern: notifications/cancelled means nothing over HTTP', async () => {
    const { router, held, aborted } = fixture()
    const on = await target('node', router)
    const pending = on.send(hold('a', JSON_ONLY))
    const { release } = await held('a')
    const cancel = await on.send({
      headers: { ...modern('notifications/cancelled').headers, 'mcp-protocol-version': MODERN },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
    })
    expect(cancel.status).toBe(202)
    release()
    expect((await pending).status).toBe(200)
    expect(aborted).toEqual([])
  })

  test('many calls that are given up leave nothing running', async () => {
    const { router, held, aborted } = fixture()
    const on = await target('node', router)
    const tags = Array.from({ length: 20 }, (_, at) => `t${at}`)
    const sockets = await Promise.all(tags.map((tag) => call(on, hold(tag))))
    await Promise.all(tags.map(held))
    for (const { socket } of sockets) socket.destroy()
    await eventually(() => aborted.length).toBe(20)
    expect(on.errors).toEqual([])
  })

  describe('over fetch', () => {
    const request = (sent: Sent, signal?: AbortSignal): Request =>
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: sent.headers as Record<string, string>,
        body: sent.body as string,
        ...(signal === undefined ? {} : { signal }),
      })

    test.each([JSON_ONLY, BOTH])('modern, the request is aborted (Accept %s)', async (accept) => {
      const { router, held, aborted } = fixture()
      const handle = fetchHandler(router)
      const gone = new AbortController()
      const pending = handle(request(hold('a', accept), gone.signal))
      await held('a')
      gone.abort()
      await eventually(() => aborted).toEqual(['a'])
      // The promise of the host settles: nobody is left waiting.
      await pending.catch(() => undefined)
    })

    test('modern, the stream is cancelled by its reader', async () => {
      const { router, held, aborted } = fixture()
      const handle = fetchHandler(router)
      const pending = handle(request(hold('a')))
      const { session } = await held('a')
      await session.notifyProgress(1)
      const response = await pending
      await response.body?.cancel()
      await eventually(() => aborted).toEqual(['a'])
      await session.notifyProgress(2)
    })

    test('legacy, the stream is cancelled by its reader: the handler runs to its end', async () => {
      const { router, held, aborted, finished } = fixture()
      const on = await target('fetch', router)
      const handle = fetchHandler(on.server)
      const { headers } = await begin(on)
      const pending = handle(request(holdOf('a', headers)))
      const { session, release } = await held('a')
      await session.notifyProgress(1)
      await (await pending).body?.cancel()
      await session.notifyProgress(2)
      release()
      await eventually(() => finished).toEqual(['a'])
      expect(aborted).toEqual([])
      expect(on.errors).toEqual([])
    })
  })
})
