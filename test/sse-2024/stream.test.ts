import { createRouter, field, McpError, type Router, rateLimit } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { describe, expect, test } from 'vitest'
import { eventually } from '../http/_eventually.js'
import { dataOf, type Json } from '../http/_http.js'
import { as, listenersOf, openApp, settle, streamOf, usersApp } from '../sessions/_sessions.js'
import { Sse, serving } from './_sse-2024.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('the stream', () => {
  test('begins with the event that says where to post, and has the headers of a stream', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.open(on)
    expect(sse.stream.text).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=[^\n]+\n\n$/)
    expect(sse.stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(sse.sessionId).toMatch(UUID)
  })

  test('each has an id of its own, which has nothing to do with those of others', async () => {
    const on = await serving(openApp().router)
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await Sse.open(on)).sessionId))
    expect(new Set(ids).size).toBe(10)
    expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(10)
    expect(ids.filter((id) => !UUID.test(id))).toEqual([])
  })

  test('nothing comes before that event, whatever happens meanwhile', async () => {
    const app = openApp()
    const on = await serving(app.router)
    const opening = Array.from({ length: 5 }, () => Sse.open(on))
    for (let n = 0; n < 20; n++) {
      await on.server.notifyToolList()
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const sse of await Promise.all(opening)) expect(sse.events[0]?.event).toBe('endpoint')
  })

  test('is kept alive with comments', async () => {
    const on = await serving(openApp().router, { http: { keepAliveMs: 10 } })
    const sse = await Sse.begin(on)
    await eventually(() => sse.stream.text.match(/^: .*$/gm)?.length).toBeGreaterThan(2)
    expect(await sse.call('ping')).toMatchObject({ result: { content: [{ text: 'pong' }] } })
  })

  test('has events without ids: there is nothing to come back to', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    await sse.call('ping')
    expect(sse.stream.text).not.toMatch(/^(?:id|retry):/m)
  })
})

describe('messages', () => {
  test('a request is accepted with 202 and answered on the stream', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.open(on)
    const posted = await sse.post({
      id: 'first',
      method: 'initialize',
      params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
    })
    expect([posted.status, posted.text, posted.header('content-type')]).toEqual([202, '', undefined])
    expect(posted.header('mcp-session-id')).toBeUndefined()
    expect(await sse.answer('first')).toMatchObject({
      jsonrpc: '2.0',
      id: 'first',
      result: { protocolVersion: '2024-11-05', serverInfo: { name: 'open' } },
    })
    await sse.notify('notifications/initialized')
    const tools = (await sse.ask('tools/list'))['result'] as { tools: Json[] }
    expect(tools.tools.map(({ name }) => name)).toEqual(['hold', 'ping'])
    expect(await sse.ask('ping')).toMatchObject({ result: {} })
  })

  test('answers are told apart by their ids, in the order in which they are ready', async () => {
    const app = openApp()
    const on = await serving(app.router)
    const sse = await Sse.begin(on)
    const held = await sse.send('tools/call', { name: 'hold', arguments: { tag: 'a' } })
    const quick = await sse.send('tools/call', { name: 'ping' })
    await sse.answer(quick)
    ;(await app.held('a')).release('late')
    await sse.answer(held)
    expect(sse.messages.slice(1).map(({ id }) => id)).toEqual([quick, held])
  })

  test('progress and logs come before the answer, on the same stream', async () => {
    const router = createRouter({ name: 'chatty', version: '1.0.0' })
    router.tool('steps', {}, async (_params, session) => {
      for (const step of [1, 2, 3]) await session.notifyProgress(step, 3, `step ${step}`)
      await session.log.warning('nearly done', 'steps')
      return 'done'
    })
    const sse = await Sse.begin(await serving(router))
    await sse.call('steps', {}, { progressToken: 'token' })
    expect(sse.messages.slice(1)).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'token', progress: 1, total: 3 } },
      { method: 'notifications/progress', params: { progress: 2 } },
      { method: 'notifications/progress', params: { progress: 3 } },
      { method: 'notifications/message', params: { level: 'warning', data: 'nearly done', logger: 'steps' } },
      { result: { content: [{ text: 'done' }] } },
    ])
    // `message` came with 2025-03-26.
    expect(JSON.stringify(sse.messages)).not.toContain('step 1')
  })

  test('errors are answered on the stream, too, and a fault is reported once', async () => {
    const router = createRouter({ name: 'failing', version: '1.0.0' })
    router.tool('checked', { input: { n: field.integer({ required: true }) } }, ({ n }) => `${n}`)
    router.tool('refused', {}, () => {
      throw new McpError('INVALID_REQUEST', 'Not today', { data: { reason: 'today' } })
    })
    router.tool('broken', {}, () => {
      throw new Error('secret')
    })
    const on = await serving(router)
    const sse = await Sse.begin(on)
    expect(await sse.ask('tools/unknown')).toMatchObject({ error: { code: -32601 } })
    expect(await sse.call('checked', { n: 'x' })).toMatchObject({ error: { code: -32602 } })
    expect(await sse.call('refused')).toMatchObject({ error: { code: -32600, data: { reason: 'today' } } })
    expect(await sse.call('broken')).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(on.errors).toEqual([new Error('secret')])
  })

  test('what is no request is answered on the stream, with an id where it has one', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    for (const body of [
      '{"jsonrpc":"2.0","id":77}',
      '[]',
      '"text"',
      'null',
      '{"jsonrpc":"1.0","id":78,"method":"ping"}',
    ])
      expect((await sse.postText(body)).status).toBe(202)
    await eventually(() => sse.messages.length).toBe(6)
    expect(sse.messages.slice(1).map(({ id, error }) => [id ?? null, (error as Json)['code']])).toEqual([
      [77, -32600],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [78, -32600],
    ])
  })

  test('a response of the client, and a notification that nobody knows, are accepted', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    expect((await sse.post({ id: 'none', result: {} })).status).toBe(202)
    await sse.notify('notifications/unknown')
    await sse.ask('ping')
    expect(sse.messages).toHaveLength(2)
    expect(on.errors).toEqual([])
  })

  test('a cancelled call has no answer, and the others go on', async () => {
    const app = openApp()
    const on = await serving(app.router)
    const sse = await Sse.begin(on)
    const ids = [
      await sse.send('tools/call', { name: 'hold', arguments: { tag: 'a' } }),
      await sse.send('tools/call', { name: 'hold', arguments: { tag: 'b' } }),
    ]
    const [, other] = [await app.held('a'), await app.held('b')]
    await sse.notify('notifications/cancelled', { requestId: ids[0], reason: 'enough' })
    await eventually(() => app.aborted).toEqual(['a'])
    other.release()
    await sse.answer(ids[1])
    await sse.ask('ping')
    expect(sse.messages.map(({ id }) => id)).not.toContain(ids[0])
  })

  test('an id that is in use is refused', async () => {
    const app = openApp()
    const sse = await Sse.begin(await serving(app.router))
    const params = { name: 'hold', arguments: { tag: 'a' } }
    await sse.post({ id: 'same', method: 'tools/call', params })
    await app.held('a')
    await sse.post({ id: 'same', method: 'ping' })
    expect(await sse.answer('same')).toMatchObject({ error: { code: -32600 } })
  })

  test('a session begins once', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    const clientInfo = { name: 'other', version: '2' }
    const again = await sse.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    expect(again).toMatchObject({ error: { code: -32600 } })
  })

  test('a rate that is used up is an error on the stream', async () => {
    const { router } = openApp()
    router.use(rateLimit({ perTool: { ping: { limit: 1, windowMs: 60_000 } } }))
    const sse = await Sse.begin(await serving(router))
    expect(await sse.call('ping')).toMatchObject({ result: {} })
    expect(await sse.call('ping')).toMatchObject({
      error: { code: -32603, data: { reason: 'rate_limited', retryable: true } },
    })
  })

  test('connections without a principal are limited each for itself', async () => {
    const { router } = openApp()
    router.use(rateLimit({ perTool: { ping: { limit: 1, windowMs: 60_000 } } }))
    const on = await serving(router)
    const [one, other] = [await Sse.begin(on), await Sse.begin(on)]
    expect(await one.call('ping')).toMatchObject({ result: {} })
    expect(await other.call('ping')).toMatchObject({ result: {} })
  })
})

describe('what happens outside of calls', () => {
  test('changes of the lists reach it', async () => {
    const { router } = openApp()
    const on = await serving(router)
    const sse = await Sse.begin(on)
    router.tool('more', {}, () => 'more')
    await eventually(() => sse.notified).toEqual(['notifications/tools/list_changed'])
    router.prompt('more', {}, () => 'More')
    await eventually(() => sse.notified.at(-1)).toBe('notifications/prompts/list_changed')
    expect(await on.server.notifyResourceList()).toBe(1)
    await eventually(() => sse.notified.at(-1)).toBe('notifications/resources/list_changed')
  })

  test('nothing of it comes before the session has begun', async () => {
    const { router } = openApp()
    const on = await serving(router)
    const sse = await Sse.open(on)
    router.tool('more', {}, () => 'more')
    await settle(on)
    expect(sse.notified).toEqual([])
  })

  test('updates of resources that it follows reach it, until it does not any more', async () => {
    const on = await serving(openApp().router)
    const [sse, other] = [await Sse.begin(on), await Sse.begin(on)]
    expect(await sse.ask('resources/subscribe', { uri: 'notes://plain' })).toMatchObject({ result: {} })
    expect(await on.server.notifyResourcesUpdated(['notes://plain', 'notes://topic/x'])).toBe(1)
    await eventually(() => sse.messages.at(-1)).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'notes://plain' },
    })
    await sse.ask('resources/unsubscribe', { uri: 'notes://plain' })
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(0)
    await settle(on)
    expect(other.notified).toEqual([])
  })

  test('a caller with an allow-list hears of what is theirs only', async () => {
    const router = createRouter({
      name: 'listed',
      version: '1.0.0',
      connect: (session, { headers }) =>
        headers.get('authorization') === 'Bearer ana' ? session : session.allowTools(['ping']),
      principal: () => null,
    })
    router.tool('ping', {}, () => 'pong')
    const on = await serving(router as unknown as Router)
    const [all, few] = [await Sse.begin(on, { headers: as('ana') }), await Sse.begin(on)]
    router.tool('secret', {}, () => 'secret')
    await eventually(() => all.notified).toEqual(['notifications/tools/list_changed'])
    await settle(on)
    expect(few.notified).toEqual([])
    expect(await few.call('secret')).toMatchObject({ error: { code: -32602 } })
  })
})

describe('a stream that its client closes', () => {
  test('ends what runs, and nothing of it is kept', async () => {
    const app = openApp()
    const on = await serving(app.router)
    const sse = await Sse.begin(on)
    await sse.send('tools/call', { name: 'hold', arguments: { tag: 'a' } })
    await app.held('a')
    await sse.ask('resources/subscribe', { uri: 'notes://plain' })
    expect(listenersOf(on)).toBe(1)
    sse.stream.drop()
    await eventually(() => app.aborted).toEqual(['a'])
    expect(listenersOf(on)).toBe(0)
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(0)
    const late = await sse.post({ id: 9, method: 'ping' })
    expect([late.status, dataOf(late)]).toEqual([404, { reason: 'session_unknown' }])
    expect(on.errors).toEqual([])
  })

  test('costs no other one anything', async () => {
    const app = openApp()
    const on = await serving(app.router)
    const [left, stays] = [await Sse.begin(on), await Sse.begin(on)]
    await left.send('tools/call', { name: 'hold', arguments: { tag: 'left' } })
    const id = await stays.send('tools/call', { name: 'hold', arguments: { tag: 'stays' } })
    await app.held('left')
    left.stream.drop()
    await eventually(() => app.aborted).toEqual(['left'])
    ;(await app.held('stays')).release()
    expect(await stays.answer(id)).toMatchObject({ result: { content: [{ text: 'stays' }] } })
  })

  test('over fetch: a reader that leaves', async () => {
    const app = openApp()
    const handle = fetchHandler(app.router, { sse2024: true })
    const response = await handle(new Request('http://localhost/sse', { headers: { accept: 'text/event-stream' } }))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const text = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
    const endpoint = /^event: endpoint\ndata: (.*)\n\n$/.exec(await text())?.[1] ?? ''
    const post = (message: Json): Promise<Response> =>
      handle(
        new Request(new URL(endpoint, 'http://localhost/sse'), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        }),
      )
    expect((await post({ id: 1, method: 'ping' })).status).toBe(202)
    expect(await text()).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
    await post({ id: 2, method: 'tools/call', params: { name: 'hold', arguments: { tag: 'a' } } })
    await app.held('a')
    await reader.cancel()
    await eventually(() => app.aborted).toEqual(['a'])
    expect((await post({ id: 3, method: 'ping' })).status).toBe(404)
  })
})

describe('a server that closes', () => {
  test('ends the streams', async () => {
    const on = await serving(openApp().router)
    const sse = await Sse.begin(on)
    await on.serving?.close()
    await eventually(() => sse.stream.ended).toBe(true)
    expect(listenersOf(on)).toBe(0)
  })

  test('lets running calls finish: they are answered before their stream ends', async () => {
    const app = openApp()
    const on = await serving(app.router, { server: { drainMs: 5_000 } })
    const sse = await Sse.begin(on)
    const id = await sse.send('tools/call', { name: 'hold', arguments: { tag: 'a' } })
    const held = await app.held('a')
    const closing = on.server.close()
    await settle(on)
    expect(app.aborted).toEqual([])
    held.release('done')
    await closing
    expect(await sse.answer(id)).toMatchObject({ result: { content: [{ text: 'done' }] } })
    await eventually(() => sse.stream.ended).toBe(true)
  })

  test('answers what it aborts', async () => {
    const app = openApp()
    const on = await serving(app.router)
    const sse = await Sse.begin(on)
    const id = await sse.send('tools/call', { name: 'hold', arguments: { tag: 'a' } })
    await app.held('a')
    await on.server.close({ drainMs: 20 })
    expect(await sse.answer(id)).toMatchObject({ error: { code: -32603, data: { reason: 'shutting_down' } } })
  })

  test('opens no new ones', async () => {
    const on = await serving(openApp().router)
    await on.server.close()
    const stream = await streamOf(on, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } })
    expect(stream.status).toBe(503)
  })
})

describe('callers', () => {
  test("another principal's session is one that does not exist", async () => {
    const app = usersApp()
    const on = await serving(app.router)
    const sse = await Sse.begin(on, { headers: as('ana') })
    const before = sse.messages.length
    const call = { id: 'theft', method: 'tools/call', params: { name: 'ping' } }
    const [theirs, unknown] = [
      await sse.post(call, as('bo')),
      await on.send({
        path: `/messages?sessionId=${crypto.randomUUID()}`,
        headers: { 'content-type': 'application/json', ...as('bo') },
        body: JSON.stringify({ jsonrpc: '2.0', ...call }),
      }),
    ]
    expect([theirs.status, dataOf(theirs)]).toEqual([404, { reason: 'session_unknown' }])
    expect(theirs.text).toBe(unknown.text)
    expect(await sse.ask('ping')).toMatchObject({ result: {} })
    expect(sse.messages).toHaveLength(before + 1)
  })

  test('the same principal may come with another token', async () => {
    const on = await serving(usersApp().router)
    const sse = await Sse.begin(on, { headers: as('ana-1') })
    expect((await sse.post({ id: 'x', method: 'ping' }, as('ana-2'))).status).toBe(202)
    expect(await sse.answer('x')).toMatchObject({ result: {} })
  })

  test('who is not let in has no stream, and may post nothing', async () => {
    const on = await serving(usersApp().router)
    const refused = await on.send({ method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } })
    expect([refused.status, refused.streamed]).toEqual([401, false])
    const sse = await Sse.begin(on, { headers: as('ana') })
    const posted = await sse.post({ id: 'x', method: 'ping' }, { authorization: undefined })
    expect(posted.status).toBe(401)
    expect(posted.header('www-authenticate')).toBeDefined()
    await sse.ask('ping')
    expect(sse.messages.map(({ id }) => id)).not.toContain('x')
  })

  test('what a caller may is asked with each post, as for any other request', async () => {
    const rights = new Map([['ana', ['ping', 'admin']]])
    const router = createRouter({
      name: 'rights',
      version: '1.0.0',
      connect: (session) => session.allowTools(rights.get('ana') ?? []).assign({ count: rights.get('ana')?.length }),
      principal: () => 'ana',
    })
    router.tool('ping', {}, (_params, { assigns }) => `${assigns.count}`)
    router.tool('admin', {}, () => 'all of it')
    const sse = await Sse.begin(await serving(router as unknown as Router))
    expect(await sse.call('admin')).toMatchObject({ result: { content: [{ text: 'all of it' }] } })
    rights.set('ana', ['ping'])
    expect(await sse.call('admin')).toMatchObject({ error: { code: -32602 } })
    expect(await sse.call('ping')).toMatchObject({ result: { content: [{ text: '1' }] } })
  })

  test('are told apart by connect of the post: the session has no id to give', async () => {
    const seen: unknown[] = []
    const router = createRouter({
      name: 'seen',
      version: '1.0.0',
      connect: (session, { url, query }) => {
        seen.push([url.split('?')[0], query.get('sessionId') === null, session.id])
        return session
      },
      principal: () => null,
    })
    const sse = await Sse.open(await serving(router as unknown as Router))
    await sse.ask('ping')
    expect(seen).toEqual([
      ['/sse', true, undefined],
      ['/messages', false, undefined],
    ])
  })
})
