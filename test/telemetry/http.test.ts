import { createRouter, type DispatchEvent, type RequestEvent, type StreamOpened } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { gate } from '../_messages.js'
import { eventually } from '../http/_eventually.js'
import {
  begin,
  head,
  initialize,
  legacy,
  META,
  modern,
  open,
  RawSocket,
  type Sent,
  TARGETS,
  target,
  textOf,
} from '../http/_http.js'
import { beginAs, getStream, heldStream, listenStream, openApp, streamOf } from '../sessions/_sessions.js'
import { overOf, phasesOf, watchSpans } from './_telemetry.js'

const GET: Sent = { method: 'GET', headers: { accept: 'text/event-stream' } }

describe.each(TARGETS)('phantom:request over %s', (kind) => {
  const remote = kind === 'node' ? '127.0.0.1' : undefined

  test('surrounds an exchange, with its status once there is one', async () => {
    const told = watchSpans<RequestEvent>('request')
    const on = await target(kind, openApp().router)
    expect((await on.send(modern('tools/call', { name: 'ping' }))).status).toBe(200)
    await eventually(() => overOf(told)).toHaveLength(1)
    const [event] = overOf(told)
    expect(phasesOf(told, event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    expect(told[0]?.members).toEqual({ method: 'POST', path: '/mcp', remote })
    expect(event).toMatchObject({ method: 'POST', path: '/mcp', remote, status: 200 })
    expect(event?.error).toBeUndefined()
  })

  test.each<[string, Sent, number]>([
    ['a preflight', { method: 'OPTIONS', headers: { origin: 'http://localhost' } }, 204],
    ['a host that is not served', { ...modern('tools/list'), headers: { host: 'evil.example' } }, 403],
    ['another content type', { ...modern('tools/list'), headers: { 'content-type': 'text/plain' } }, 415],
    ['no JSON', { headers: { 'content-type': 'application/json' }, body: '{' }, 400],
    ['a body that is too large', { ...modern('tools/list', { pad: 'x'.repeat(5000) }) }, 413],
    ['a session that is unknown', legacy('tools/list', {}, { headers: { 'mcp-session-id': 'none' } }), 404],
    ['a method that is not served', { method: 'PUT' }, 405],
    ['a method that does not exist', modern('tools/unknown'), 404],
    ['a notification', legacy('notifications/initialized', {}, { notification: true }), 400],
  ])('%s has its status, too', async (_title, sent, status) => {
    const told = watchSpans<RequestEvent>('request')
    const on = await target(kind, openApp().router, { http: { maxBodyBytes: 4096 } })
    expect((await on.send(sent)).status).toBe(status)
    await eventually(() => overOf(told)).toHaveLength(1)
    expect(overOf(told)[0]?.status).toBe(status)
  })

  test('a query is no part of the path', async () => {
    const told = watchSpans<RequestEvent>('request')
    const on = await target(kind, openApp().router)
    await on.send({ ...modern('tools/list'), path: '/mcp?token=secret' })
    await eventually(() => overOf(told)).toHaveLength(1)
    expect(overOf(told)[0]?.path).toBe('/mcp')
    expect(JSON.stringify(overOf(told))).not.toContain('secret')
  })

  test('a fault of ours is a 500 there', async () => {
    const told = watchSpans<RequestEvent>('request')
    const origins = (): boolean => {
      throw new Error('origins is broken')
    }
    const on = await target(kind, openApp().router, { http: { origins } })
    const sent = modern('tools/list', {}, { headers: { origin: 'https://app.example.com' } })
    expect((await on.send(sent)).status).toBe(500)
    await eventually(() => overOf(told)).toHaveLength(1)
    expect(overOf(told)[0]?.status).toBe(500)
    expect(on.errors).toHaveLength(1)
  })

  test('the dispatch of a call is inside of it', async () => {
    const requests = watchSpans<RequestEvent>('request')
    const dispatches = watchSpans<DispatchEvent>('dispatch')
    const on = await target(kind, openApp().router)
    await on.send(modern('tools/call', { name: 'ping' }))
    await eventually(() => overOf(requests)).toHaveLength(1)
    expect(overOf(dispatches)).toHaveLength(1)
    expect(requests[0]?.phase).toBe('start')
    expect(dispatches.at(-1)?.phase).toBe('asyncEnd')
  })

  test('lasts as long as the answer: a call that streams ends with its stream', async () => {
    const told = watchSpans<RequestEvent>('request')
    const on = await target('node', openApp().router)
    const begun = gate()
    const rest = gate()
    const router = createRouter({ name: 'slow', version: '1.0.0' })
    router.tool('slow', {}, async (_params, session) => {
      await session.notifyProgress(1)
      begun.open()
      await rest.promise
      return 'done'
    })
    const slow = await target('node', router)
    const opening = open(
      slow.serving?.port ?? 0,
      modern('tools/call', { name: 'slow' }, { meta: { progressToken: 1 } }),
    )
    await begun.promise
    const response = await opening
    // Another exchange comes and goes in between.
    await on.send(modern('tools/list'))
    await eventually(() => overOf(told)).toHaveLength(1)
    rest.open()
    await textOf(response)
    await eventually(() => overOf(told)).toHaveLength(2)
    expect(overOf(told).map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('phantom:request of a client that is gone', () => {
  test('before its body was there it is over, without a failure of the call', async () => {
    const told = watchSpans<RequestEvent>('request')
    const on = await target('node', openApp().router)
    const raw = await RawSocket.connect(on.serving?.port ?? 0)
    await raw.write(`${head(modern('tools/list'), { 'content-length': '100' })}{`)
    await eventually(() => told.map(({ phase }) => phase)).toContain('start')
    raw.socket.destroy()
    await eventually(() => overOf(told)).toHaveLength(1)
    expect(overOf(told)[0]?.status).toBeUndefined()
    expect(on.errors).toEqual([])
  })

  test('while its call runs it is over when the call is', async () => {
    const told = watchSpans<RequestEvent>('request')
    const app = openApp()
    const on = await target('node', app.router)
    const raw = await RawSocket.connect(on.serving?.port ?? 0)
    const sent = modern('tools/call', { name: 'hold', arguments: { tag: 'a' } })
    await raw.write(head(sent, { 'content-length': String(sent.body?.length) }) + String(sent.body))
    await app.held('a')
    raw.socket.destroy()
    await eventually(() => overOf(told)).toHaveLength(1)
    expect(overOf(told)[0]?.status).toBeUndefined()
    expect(app.aborted).toEqual(['a'])
  })

  test('in the middle of a stream it is over at once', async () => {
    const told = watchSpans<RequestEvent>('request')
    const on = await target('node', openApp().router)
    const { headers } = await beginAs(on)
    const stream = await getStream(on, headers)
    const before = overOf(told).length
    stream.drop()
    await eventually(() => overOf(told)).toHaveLength(before + 1)
    expect(overOf(told).at(-1)).toMatchObject({ method: 'GET', status: 200 })
  })
})

describe('phantom:stream', () => {
  test('a call that streams: from its first message to its answer', async () => {
    const told = watchSpans<StreamOpened>('stream')
    const app = openApp()
    const on = await target('node', app.router)
    const { headers } = await begin(on)
    expect(told).toEqual([])
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
    const [start] = told
    expect(start?.members).toEqual({ path: '/mcp', remote: '127.0.0.1' })
    expect(phasesOf(told, start?.event)).toEqual(['start', 'end'])
    held.release()
    await eventually(() => stream.ended).toBe(true)
    await eventually(() => phasesOf(told, start?.event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    expect(start?.event.error).toBeUndefined()
  })

  test('a call that is answered as JSON has none', async () => {
    const told = watchSpans<StreamOpened>('stream')
    const on = await target('node', openApp().router)
    await on.send(modern('tools/call', { name: 'ping' }))
    await on.send(modern('tools/list'))
    expect(told).toEqual([])
  })

  test('a session stream: until its client goes', async () => {
    const told = watchSpans<StreamOpened>('stream')
    const on = await target('node', openApp().router)
    const { headers } = await beginAs(on)
    const stream = await getStream(on, headers)
    await eventually(() => told).toHaveLength(2)
    expect(overOf(told)).toEqual([])
    stream.drop()
    await eventually(() => overOf(told)).toHaveLength(1)
  })

  test('a session stream: until its session is ended', async () => {
    const told = watchSpans<StreamOpened>('stream')
    const on = await target('node', openApp().router)
    const { headers } = await beginAs(on)
    await getStream(on, headers)
    expect((await on.send({ method: 'DELETE', headers })).status).toBe(204)
    await eventually(() => overOf(told)).toHaveLength(1)
  })

  test('a listen stream: until its client goes, or the server does', async () => {
    const told = watchSpans<StreamOpened>('stream')
    const on = await target('node', openApp().router)
    const left = await listenStream(on, { toolsListChanged: true }, { id: 'left' })
    await listenStream(on, { toolsListChanged: true }, { id: 'stays' })
    expect(overOf(told)).toEqual([])
    left.drop()
    await eventually(() => overOf(told)).toHaveLength(1)
    await on.server.close()
    await eventually(() => overOf(told)).toHaveLength(2)
    expect(new Set(overOf(told)).size).toBe(2)
  })

  test('a stream that its call lets go ends there, and the one that goes on is another', async () => {
    const told = watchSpans<StreamOpened>('stream')
    const app = openApp()
    const on = await target('node', app.router, { http: { retryMs: 10 } })
    const { headers } = await begin(on)
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
    await held.session.finish()
    await eventually(() => overOf(told)).toHaveLength(1)
    const again = await getStream(on, headers, stream.lastId)
    held.release()
    await eventually(() => again.ended).toBe(true)
    await eventually(() => overOf(told)).toHaveLength(2)
  })

  test('over fetch: a stream that is read to its end, and one whose reader leaves', async () => {
    const { fetchHandler } = await import('phantom-mcp/fetch')
    const told = watchSpans<StreamOpened>('stream')
    const handle = fetchHandler(openApp().router)
    const listen = (): Request =>
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: modern('subscriptions/listen').headers as Record<string, string>,
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'subscriptions/listen',
          params: { notifications: { toolsListChanged: true }, _meta: META },
        }),
      })
    const response = await handle(listen())
    expect(told[0]?.members).toEqual({ path: '/mcp', remote: undefined })
    await response.body?.cancel()
    await eventually(() => overOf(told)).toHaveLength(1)
  })

  test('a stream that is refused is none', async () => {
    const told = watchSpans<StreamOpened>('stream')
    const on = await target('node', openApp().router)
    expect((await streamOf(on, GET)).status).toBe(400)
    const { headers } = await beginAs(on)
    await getStream(on, headers)
    expect((await getStream(on, headers)).status).toBe(409)
    expect(told.filter(({ phase }) => phase === 'start')).toHaveLength(1)
    expect((await on.send(initialize())).streamed).toBe(false)
  })
})
