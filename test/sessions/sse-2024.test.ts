import { createRouter, type Router } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { type HeaderList, type Json, modern, type Sent, type Target, target } from '../http/_http.js'
import { as, listenersOf, openApp, type Stream, streamOf, usersApp } from './_sessions.js'

const ON = { http: { sse2024: true } } as const

/** A client of 2024-11-05: its stream, and where it was told to post. */
async function open(
  on: Target,
  headers: HeaderList = {},
  path = '/sse',
): Promise<{ stream: Stream; endpoint: string }> {
  const stream = await streamOf(on, { method: 'GET', path, headers: { accept: 'text/event-stream', ...headers } })
  await expect.poll(() => stream.text, PATIENT).toContain('\n\n')
  const endpoint = /^event: endpoint\ndata: (\S+)\n\n/.exec(stream.text)?.[1] ?? ''
  // From here on every event is a message.
  stream.text = stream.text.slice(stream.text.indexOf('\n\n') + 2)
  return { stream, endpoint }
}

const message = (path: string, body: Json, headers: HeaderList = {}): Sent => ({
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ jsonrpc: '2.0', ...body }),
})
const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '0' } },
}

describe('HTTP+SSE of 2024-11-05', () => {
  test('tells first where to post; answers come on the stream', async () => {
    const app = openApp()
    const on = await target('node', app.router, ON)
    const { stream, endpoint } = await open(on)
    expect(stream.response.headers['content-type']).toBe('text/event-stream')
    expect(endpoint).toMatch(/^\/[^?]+\?sessionId=[\x21-\x7e]{22,}$/)
    const begun = await on.send(message(endpoint, INITIALIZE))
    expect([begun.status, begun.header('mcp-session-id')]).toEqual([202, undefined])
    expect((await on.send(message(endpoint, { method: 'notifications/initialized' }))).status).toBe(202)
    expect((await on.send(message(endpoint, { id: 'a', method: 'tools/call', params: { name: 'ping' } }))).status).toBe(
      202,
    )
    await expect.poll(() => stream.messages.length, PATIENT).toBe(2)
    expect(stream.messages).toMatchObject([
      { id: 0, result: { protocolVersion: '2024-11-05', serverInfo: { name: 'open' } } },
      { id: 'a', result: { content: [{ text: 'pong' }] } },
    ])
    for (const event of stream.events)
      expect([event.event, event.id, event.retry]).toEqual(['message', undefined, undefined])
  })

  test('carries progress, updates, list changes and cancellation', async () => {
    const app = openApp()
    const on = await target('node', app.router, ON)
    const { stream, endpoint } = await open(on)
    await on.send(message(endpoint, INITIALIZE))
    const params = { name: 'hold', arguments: { tag: 'a' }, _meta: { progressToken: 7 } }
    await on.send(message(endpoint, { id: 1, method: 'tools/call', params }))
    const { session } = await app.held('a')
    await session.notifyProgress(1)
    await on.send(message(endpoint, { method: 'notifications/cancelled', params: { requestId: 1 } }))
    expect(app.aborted).toEqual(['a'])
    await on.send(message(endpoint, { id: 2, method: 'resources/subscribe', params: { uri: 'notes://plain' } }))
    await expect.poll(() => stream.messages.at(-1)?.['id'], PATIENT).toBe(2)
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
    app.router.tool('new', {}, () => 'ok')
    await expect
      .poll(() => stream.methods, PATIENT)
      .toEqual([
        'answer',
        'notifications/progress',
        'answer',
        'notifications/resources/updated',
        'notifications/tools/list_changed',
      ])
  })

  test('errors come on the stream too', async () => {
    const on = await target('node', openApp().router, ON)
    const { stream, endpoint } = await open(on)
    await on.send(message(endpoint, { id: 1, method: 'no/such' }))
    await expect.poll(() => stream.messages, PATIENT).toMatchObject([{ id: 1, error: { code: -32601 } }])
  })

  test('an id that is unknown, or whose stream is gone, is 404', async () => {
    const on = await target('node', openApp().router, ON)
    const { stream, endpoint } = await open(on)
    const [path] = endpoint.split('?')
    for (const wrong of [`${path}?sessionId=x`, `${path}?sessionId=`, String(path), `${path}?sessionId=constructor`]) {
      expect([wrong, (await on.send(message(wrong, INITIALIZE))).status]).toEqual([wrong, 404])
    }
    stream.drop()
    await expect.poll(async () => (await on.send(message(endpoint, INITIALIZE))).status, PATIENT).toBe(404)
    expect(listenersOf(on)).toBe(0)
  })

  test('a lost stream ends its calls', async () => {
    const app = openApp()
    const on = await target('node', app.router, ON)
    const { stream, endpoint } = await open(on)
    await on.send(message(endpoint, { id: 1, method: 'tools/call', params: { name: 'hold', arguments: { tag: 'a' } } }))
    await app.held('a')
    stream.drop()
    await expect.poll(() => app.aborted, PATIENT).toEqual(['a'])
    expect(on.errors).toEqual([])
  })

  test('connect is asked for the stream and for each message; another user’s stream does not exist', async () => {
    const on = await target('node', usersApp().router, ON)
    const refused = await streamOf(on, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } })
    expect(refused.status).toBe(401)
    const { stream, endpoint } = await open(on, as('ana-first'))
    expect((await on.send(message(endpoint, INITIALIZE))).status).toBe(401)
    expect((await on.send(message(endpoint, INITIALIZE, as('bo')))).status).toBe(404)
    expect((await on.send(message(endpoint, INITIALIZE, as('ana-second')))).status).toBe(202)
    await expect.poll(() => stream.messages.length, PATIENT).toBe(1)
  })

  test('a message may do what its own token allows, not what the stream’s did', async () => {
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session, { headers }) => {
        const role = headers.get('x-role') ?? 'none'
        if (role !== 'admin') session.allowTools(['who'])
        return session.assign({ role })
      },
      principal: () => 'ana',
    })
    router.tool('who', {}, (_params, session) => session.assigns.role)
    router.tool('danger', {}, () => 'done')
    const on = await target('node', router as unknown as Router, ON)
    const { stream, endpoint } = await open(on, { 'x-role': 'admin' })
    const call = (id: number, name: string, role: string): Sent =>
      message(endpoint, { id, method: 'tools/call', params: { name } }, { 'x-role': role })
    await on.send(call(1, 'danger', 'admin'))
    await on.send(call(2, 'who', 'reader'))
    await on.send(call(3, 'danger', 'reader'))
    await expect.poll(() => stream.messages.length, PATIENT).toBe(3)
    expect(stream.messages).toMatchObject([
      { id: 1, result: { content: [{ text: 'done' }] } },
      { id: 2, result: { content: [{ text: 'reader' }] } },
      { id: 3, error: { code: -32602 } },
    ])
  })

  test('host and origin are checked, and what is no message refused', async () => {
    const on = await target('node', openApp().router, ON)
    const { endpoint } = await open(on)
    const evil = { origin: 'https://evil.example' }
    expect(
      (await on.send({ method: 'GET', path: '/sse', headers: { accept: 'text/event-stream', ...evil } })).status,
    ).toBe(403)
    expect((await on.send(message(endpoint, INITIALIZE, evil))).status).toBe(403)
    expect((await on.send({ ...message(endpoint, INITIALIZE), body: '{' })).status).toBe(400)
    expect(
      (await on.send({ ...message(endpoint, INITIALIZE), headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(415)
  })

  test('ends when the server closes', async () => {
    const on = await target('node', openApp().router, ON)
    const { stream } = await open(on)
    await on.server.close({ drainMs: 100 })
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(listenersOf(on)).toBe(0)
  })

  test('is not served unless asked for; the endpoint beside it is the same as ever', async () => {
    const { port, close } = await serve(openApp().router, { port: 0, signals: false })
    const off = await fetch(`http://127.0.0.1:${port}/sse`, { headers: { accept: 'text/event-stream' } })
    expect(off.status).toBe(404)
    await close()
    const on = await target('node', openApp().router, ON)
    expect((await on.send(modern('tools/list'))).status).toBe(200)
  })
})
