import { createRouter, createServer, type HttpOptions, httpEndpoint, type Router, unauthorized } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { nodeHandler, serve } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'
import { eventually } from '../http/_eventually.js'
import { codeOf, dataOf, type HeaderList, modern, type Sent, TARGETS, target } from '../http/_http.js'
import { as, beginAs, getStream, openApp, streamOf, usersApp } from '../sessions/_sessions.js'
import { overOf, watchEvents, watchSpans } from '../telemetry/_telemetry.js'
import { Sse, serving } from './_sse-2024.js'

const get = (path = '/sse', headers: HeaderList = {}): Sent => ({
  method: 'GET',
  path,
  headers: { accept: 'text/event-stream', ...headers },
})
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

describe('where it is served', () => {
  test('nowhere, unless it is asked for', async () => {
    for (const sse2024 of [undefined, false] as const) {
      const on = await target('node', openApp().router, sse2024 === undefined ? {} : { http: { sse2024 } })
      const posted = { path: '/messages?sessionId=x', headers: { 'content-type': 'application/json' }, body: PING }
      expect([(await on.send(get())).status, (await on.send(posted)).status]).toEqual([404, 404])
    }
    const on = await target('fetch', openApp().router)
    const answer = await on.send(get())
    expect([answer.status, answer.streamed]).toEqual([400, false])
  })

  test('at /sse and /messages, beside the endpoint of the other versions', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    expect(sse.endpoint).toMatch(/^\/messages\?/)
    expect((await on.send(modern('tools/list'))).status).toBe(200)
    const { headers } = await beginAs(on)
    expect((await getStream(on, headers)).status).toBe(200)
    expect((await on.send(get('/elsewhere'))).status).toBe(404)
  })

  test.each<[HttpOptions['sse2024'], string, string]>([
    [{}, '/sse', '/messages'],
    [{ streamPath: '/old/stream' }, '/old/stream', '/messages'],
    [{ messagePath: '/old/post' }, '/sse', '/old/post'],
    [{ streamPath: '/v1/sse', messagePath: '/v1/sse/messages' }, '/v1/sse', '/v1/sse/messages'],
    [{ streamPath: '/one', messagePath: '/one' }, '/one', '/one'],
  ])('at the paths of %o', async (sse2024, streamPath, messagePath) => {
    const on = await serving(openApp().router, {}, sse2024)
    const sse = await Sse.begin(on, { path: streamPath })
    expect(sse.endpoint.split('?')[0]).toBe(messagePath)
    expect(await sse.call('ping')).toMatchObject({ result: { content: [{ text: 'pong' }] } })
    for (const path of ['/sse', '/messages'])
      if (path !== streamPath && path !== messagePath) expect((await on.send(get(path))).status).toBe(404)
  })

  test('two of one process keep their connections apart', async () => {
    const app = openApp()
    const [one, other] = [await serving(app.router), await serving(app.router)]
    const sse = await Sse.begin(one)
    const answer = await other.send({ path: sse.endpoint, headers: { 'content-type': 'application/json' }, body: PING })
    expect(answer.status).toBe(404)
  })

  test('a POST of the stream path, and a GET of the message path, are not another way to the endpoint', async () => {
    const on = await serving(openApp().router)
    const { headers } = await beginAs(on)
    expect((await on.send({ ...modern('tools/list'), path: '/sse' })).status).toBe(405)
    expect((await on.send(get('/messages', headers))).status).toBe(405)
    for (const path of ['/sse', '/messages']) {
      expect((await on.send({ method: 'PUT', path })).status).toBe(405)
      expect((await on.send({ method: 'DELETE', path, headers })).status).toBe(405)
    }
  })
})

describe('options that cannot work', () => {
  const makers: [string, (options: HttpOptions) => unknown][] = [
    ['httpEndpoint', (options) => httpEndpoint(createServer(openApp().router), options)],
    ['nodeHandler', (options) => nodeHandler(openApp().router, options)],
    ['fetchHandler', (options) => fetchHandler(openApp().router, options)],
  ]
  const wrong: [unknown, RegExp][] = [
    [{ path: '/sse' }, /sse2024: unknown option 'path'; known are streamPath, messagePath/],
    [{ streamPath: 'sse' }, /sse2024: a path must begin with '\/', not 'sse'/],
    [{ messagePath: '' }, /sse2024: a path must begin with '\/'/],
    [{ messagePath: 7 }, /sse2024: a path must begin with '\/', not '7'/],
    [{ streamPath: null }, /sse2024: a path must begin with '\/'/],
    ['/sse', /sse2024/],
    [7, /sse2024/],
    [null, /sse2024/],
  ]

  test.each(makers)('%s says which', (owner, make) => {
    for (const [sse2024, message] of wrong) {
      const making = (): unknown => make({ sse2024 } as HttpOptions)
      expect(making, JSON.stringify(sse2024)).toThrow(TypeError)
      expect(making, JSON.stringify(sse2024)).toThrow(message)
      expect(making).toThrow(owner)
    }
    expect(make({ sse2024: { streamPath: undefined, messagePath: undefined } } as object)).toBeDefined()
  })

  test('serve says which, and takes no port', async () => {
    for (const [sse2024, message] of wrong) {
      const serves = serve(openApp().router, { port: 0, signals: false, sse2024 } as never)
      await expect(serves, JSON.stringify(sse2024)).rejects.toThrow(message)
    }
  })

  test("messages cannot go to the endpoint's own path: no other version would reach it", async () => {
    const options = { port: 0, signals: false, sse2024: { messagePath: '/mcp' } }
    const served = serve(openApp().router, options)
    await served.then(
      (one) => one.close(),
      () => undefined,
    )
    await expect(served).rejects.toThrow(TypeError)
  })
})

describe('what is refused before a message is read', () => {
  test('a session that is not named, or unknown, in the words of any other', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    for (const path of [
      '/messages',
      '/messages?sessionId=',
      '/messages?sessionid=x',
      `/messages?session=${sse.sessionId}`,
      `/messages?sessionId=${sse.sessionId.toUpperCase()}x`,
      '/messages?sessionId=__proto__',
    ]) {
      const answer = await on.send({ path, headers: { 'content-type': 'application/json' }, body: PING })
      expect([path, answer.status, dataOf(answer)['reason']]).toEqual([path, 404, 'session_unknown'])
    }
  })

  test('text that is no JSON, and what is no UTF-8', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    for (const body of ['{', '', '{"jsonrpc":"2.0",}', 'ping']) {
      const answer = await sse.postText(body)
      expect([body, answer.status, codeOf(answer)]).toEqual([body, 400, -32700])
    }
    const headers = { 'content-type': 'application/json' }
    const bytes = new Uint8Array([0x22, 0xff, 0x22])
    expect((await on.send({ path: sse.endpoint, headers, body: bytes })).status).toBe(400)
    expect(await sse.ask('ping')).toMatchObject({ result: {} })
    expect(sse.messages).toHaveLength(2)
  })

  test('a body beyond the limits', async () => {
    const on = await serving(openApp().router, { http: { maxBodyBytes: 500, maxDepth: 10 } })
    const sse = await Sse.begin(on)
    const pad = await sse.post({ id: 'x', method: 'ping', params: { pad: 'x'.repeat(500) } })
    expect([pad.status, dataOf(pad)]).toEqual([413, { reason: 'too_large', option: 'maxBodyBytes' }])
    const deep = await sse.postText(
      `{"jsonrpc":"2.0","id":"x","method":"ping","params":${'{"a":'.repeat(20)}1${'}'.repeat(21)}`,
    )
    expect(deep.status).toBe(400)
    await sse.ask('ping')
    expect(sse.messages.map(({ id }) => id)).not.toContain('x')
  })

  test('another content type, and a header that is there twice', async () => {
    const sse = await Sse.begin(await serving(openApp().router))
    expect((await sse.postText(PING, { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await sse.postText(PING, { 'content-type': undefined })).status).toBe(415)
  })

  test('hosts and origins that are not served, on both paths', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    expect((await on.send(get('/sse', { host: 'evil.example' }))).status).toBe(403)
    expect((await on.send(get('/sse', { origin: 'https://evil.example' }))).status).toBe(403)
    expect((await sse.postText(PING, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await sse.postText(PING, { host: 'evil.example' })).status).toBe(403)
    await sse.ask('ping')
    expect(sse.messages).toHaveLength(2)
  })

  test('a browser of an allowed origin is told what it needs, and can ask before', async () => {
    const on = await serving(openApp().router, { http: { origins: ['https://app.example.com'] } })
    const origin = 'https://app.example.com'
    const sse = await Sse.open(on, { headers: { origin } })
    expect(sse.stream.response.headers['access-control-allow-origin']).toBe(origin)
    expect((await sse.postText(PING)).header('access-control-allow-origin')).toBe(origin)
    const asking = { origin, 'access-control-request-method': 'POST' }
    const preflight = await on.send({ method: 'OPTIONS', path: sse.endpoint, headers: asking })
    expect([preflight.status, preflight.header('access-control-allow-origin')]).toEqual([204, origin])
    expect(preflight.header('access-control-allow-methods')).toContain('POST')
  })
})

describe('callers', () => {
  test.each(TARGETS)('over %s: who is not let in gets 401 and no stream, and where to find a token', async (kind) => {
    const router = createRouter({
      name: 'closed',
      version: '1.0.0',
      connect: () => unauthorized({ method: 'Bearer', realm: 'notes' }),
      principal: () => null,
    })
    const protectedResource = { resource: 'http://localhost/mcp', authorizationServers: ['https://auth.example.com'] }
    const on = await target(kind, router as unknown as Router, { http: { sse2024: true, protectedResource } })
    const answer = await on.send(get())
    expect([answer.status, answer.streamed]).toEqual([401, false])
    const challenge = answer.header('www-authenticate')
    expect(challenge).toContain('realm="notes"')
    expect(challenge).toContain('resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"')
  })

  test('a connect that fails is a 500, reported once', async () => {
    const router = createRouter({
      name: 'broken',
      version: '1.0.0',
      connect: () => {
        throw new Error('no database')
      },
      principal: () => null,
    })
    const on = await serving(router as unknown as Router)
    const stream = await streamOf(on, get())
    expect(stream.status).toBe(500)
    expect(on.errors).toEqual([new Error('no database')])
  })

  test('disconnect comes with the end of the stream, and with each post', async () => {
    const gone: unknown[] = []
    const { router } = usersApp({ disconnect: (session) => void gone.push(session.assigns.user.id) })
    const on = await serving(router)
    const sse = await Sse.open(on, { headers: as('ana') })
    await sse.ask('ping')
    await eventually(() => gone).toEqual(['ana'])
    sse.stream.drop()
    await eventually(() => gone).toEqual(['ana', 'ana'])
  })
})

describe('telemetry', () => {
  test('the stream, its requests and their dispatches are told of', async () => {
    const requests = watchSpans<{ method: string; path: string; status?: number }>('request')
    const streams = watchSpans<{ path: string }>('stream')
    const dispatches = watchSpans<{ method: string; params: object; result?: unknown }>('dispatch')
    const connected = watchEvents('connect')
    const on = await serving(usersApp().router)
    const sse = await Sse.open(on, { headers: as('ana') })
    await sse.call('ping')
    expect(overOf(dispatches)).toMatchObject([{ method: 'tools/call', result: { content: [{ text: 'pong' }] } }])
    await eventually(() => overOf(requests)).toMatchObject([{ method: 'POST', path: '/messages', status: 202 }])
    expect([streams[0]?.event.path, overOf(streams)]).toEqual(['/sse', []])
    expect(JSON.stringify(overOf(requests))).not.toContain(sse.sessionId)
    expect(connected).toHaveLength(2)
    sse.stream.drop()
    await eventually(() => overOf(streams)).toHaveLength(1)
    await eventually(() => overOf(requests)).toHaveLength(2)
    expect(overOf(requests)[1]).toMatchObject({ method: 'GET', path: '/sse', status: 200 })
  })
})
