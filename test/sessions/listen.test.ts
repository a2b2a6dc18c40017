import { PassThrough } from 'node:stream'
import { createRouter, createServer, McpError } from 'phantom-mcp'
import { serveStdio } from 'phantom-mcp/stdio'
import { describe, expect, test } from 'vitest'
import { gate, META, PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { type Answer, codeOf, type Json, modern, TARGETS, type Target, target } from '../http/_http.js'
import {
  as,
  beginAs,
  furnish,
  getStream,
  listenersOf,
  listenStream,
  openApp,
  pipe,
  type Stream,
  SUBSCRIPTION_ID,
  sessionStream,
  settle,
  streamOf,
  usersApp,
} from './_sessions.js'

const ACK = 'notifications/subscriptions/acknowledged'
const UPDATED = 'notifications/resources/updated'
const TOOLS = 'notifications/tools/list_changed'
const PROMPTS = 'notifications/prompts/list_changed'
const RESOURCES = 'notifications/resources/list_changed'

const ackOf = (stream: Stream): unknown => (stream.messages[0]?.['params'] as Json | undefined)?.['notifications']
const idsOf = (messages: readonly Json[]): unknown[] =>
  messages.map((message) => {
    const holder = (message['params'] ?? message['result']) as Json
    return (holder['_meta'] as Json | undefined)?.[SUBSCRIPTION_ID]
  })

describe('subscriptions/listen over HTTP', () => {
  verifies('field.K3', 'is acknowledged first, with what is honoured, and tells of nothing else', async () => {
    const { router } = openApp()
    const on = await target('node', router)
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['notes://plain'], moonPhases: true }
    const stream = await listenStream(on, notifications, { id: 'sub-α' })
    const { headers } = stream.response
    expect(headers['content-type']).toBe('text/event-stream')
    expect(headers['x-accel-buffering']).toBe('no')
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers['mcp-session-id']).toBeUndefined()
    const empty = await listenStream(on, {}, { id: 'none' })
    const numbered = await listenStream(on, { promptsListChanged: true }, { id: 0 })
    router.tool('new', {}, () => 'ok')
    router.prompt('new', {}, () => 'ok')
    router.resource('new://one', { name: 'new' }, () => 'ok')
    await on.server.notifyResourcesUpdated(['notes://plain', 'notes://topic/a'])
    await expect.poll(() => stream.methods, PATIENT).toEqual([ACK, TOOLS, UPDATED])
    await expect.poll(() => numbered.methods, PATIENT).toEqual([ACK, PROMPTS])
    await settle(on)
    expect(empty.methods).toEqual([ACK])
    expect(stream.messages[0]).toEqual({
      jsonrpc: '2.0',
      method: ACK,
      params: {
        _meta: { [SUBSCRIPTION_ID]: 'sub-α' },
        notifications: { toolsListChanged: true, resourceSubscriptions: ['notes://plain'] },
      },
    })
    expect(ackOf(empty)).toEqual({})
    expect(ackOf(numbered)).toEqual({ promptsListChanged: true })
    expect(stream.told(UPDATED, 'uri')).toEqual(['notes://plain'])
    expect(idsOf(stream.messages)).toEqual(['sub-α', 'sub-α', 'sub-α'])
    expect(idsOf(empty.messages)).toEqual(['none'])
    expect(idsOf(numbered.messages)).toEqual([0, 0])
    // 2026-07-28 resumes nothing.
    for (const { text } of [stream, empty, numbered]) expect(text).not.toMatch(/^(id|retry):/m)
  })

  verifies('field.K1', 'headers and acknowledgement come at once, though nothing is due', async () => {
    const on = await target('node', openApp().router)
    const sent = modern('subscriptions/listen', { notifications: {} }, { headers: { 'accept-encoding': 'gzip, br' } })
    const stream = await streamOf(on, sent)
    expect(stream.status).toBe(200)
    await expect.poll(() => stream.methods, { timeout: 1_000, interval: 5 }).toEqual([ACK])
  })

  const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
  const HONOURED: [string, Json, Json][] = [
    ['all lists', ALL, ALL],
    [
      'false is as good as nothing',
      { toolsListChanged: false, promptsListChanged: true },
      { promptsListChanged: true },
    ],
    [
      'URIs that are there',
      { resourceSubscriptions: ['notes://plain', 'no://such', 'notes://topic/x'] },
      { resourceSubscriptions: ['notes://plain', 'notes://topic/x'] },
    ],
    [
      'URIs twice',
      { resourceSubscriptions: ['notes://plain', 'notes://plain'] },
      { resourceSubscriptions: ['notes://plain'] },
    ],
    ['no URIs', { resourceSubscriptions: [] }, { resourceSubscriptions: [] }],
    ['unknown kinds of any type', { moonPhases: 'full', taskIds: ['x'], constructor: true }, {}],
    ['a prototype', JSON.parse('{"__proto__":{"toolsListChanged":true}}') as Json, {}],
  ]
  test.each(HONOURED)('%s', async (_name, notifications, honoured) => {
    const on = await target('node', openApp().router)
    const stream = await listenStream(on, notifications)
    expect(ackOf(stream)).toEqual(honoured)
    expect(on.errors).toEqual([])
  })

  const LIST = { resourceSubscriptions: 'notes://plain' }
  const WRONG: [string, Json][] = [
    ['no notifications', {}],
    ['null', { notifications: null }],
    ['a list', { notifications: [] }],
    ['a string', { notifications: 'tools' }],
    ['true', { notifications: true }],
    ['a kind that is a string', { notifications: { toolsListChanged: 'true' } }],
    ['a kind that is a number', { notifications: { promptsListChanged: 1 } }],
    ['a kind that is null', { notifications: { resourcesListChanged: null } }],
    ['a URI alone', { notifications: LIST }],
    ['URIs that are no text', { notifications: { resourceSubscriptions: ['notes://plain', 7] } }],
    ['an object of URIs', { notifications: { resourceSubscriptions: { 0: 'notes://plain' } } }],
    ['null as URIs', { notifications: { resourceSubscriptions: null } }],
  ]
  test.each(WRONG)('%s is -32602, before any stream', async (_name, params) => {
    for (const kind of TARGETS) {
      const on = await target(kind, openApp().router)
      const answer = await on.send(modern('subscriptions/listen', params))
      expect([codeOf(answer), answer.streamed, answer.message?.['id']]).toEqual([-32602, false, 1])
      expect(listenersOf(on)).toBe(0)
      expect(on.errors).toEqual([])
    }
  })

  test.each(TARGETS)('a client that takes JSON only is refused by %s, and leaves nothing behind', async (kind) => {
    const on = await target(kind, usersApp().router, { server: { maxListens: 1 } })
    for (let round = 0; round < 3; round++) {
      const headers = { accept: 'application/json', ...as('ana') }
      const answer = await on.send(modern('subscriptions/listen', { notifications: {} }, { headers }))
      expect([answer.status, codeOf(answer), answer.streamed]).toEqual([406, -32600, false])
    }
    expect(listenersOf(on)).toBe(0)
  })

  verifies('field.K3', 'what changes while it is authorised is not told before the acknowledgement', async () => {
    const authorised = gate()
    const asked = gate()
    const { router } = openApp({
      authorizeResourceSubscriptions: async (resources) => {
        asked.open()
        await authorised.promise
        return resources
      },
    })
    const on = await target('node', router)
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['notes://plain'] }
    const opening = streamOf(on, modern('subscriptions/listen', { notifications }))
    await asked.promise
    router.tool('early', {}, () => 'ok')
    await on.server.notifyToolList()
    authorised.open()
    const stream = await opening
    await expect.poll(() => stream.methods[0], PATIENT).toBe(ACK)
    await on.server.notifyToolList()
    await expect.poll(() => stream.methods.at(-1), PATIENT).toBe(TOOLS)
    expect(stream.methods.filter((method) => method === ACK)).toHaveLength(1)
  })

  test('several of one client are apart, also with the same id', async () => {
    const on = await target('node', openApp().router)
    const tools = await listenStream(on, { toolsListChanged: true }, { id: 1 })
    const prompts = await listenStream(on, { promptsListChanged: true }, { id: 1 })
    expect(await on.server.notifyToolList()).toBe(1)
    expect(await on.server.notifyPromptList()).toBe(1)
    expect(await on.server.notifyResourceList()).toBe(0)
    await expect
      .poll(() => [tools.methods, prompts.methods], PATIENT)
      .toEqual([
        [ACK, TOOLS],
        [ACK, PROMPTS],
      ])
  })

  test('ends when the client hangs up: nothing is left of it, and nothing is told', async () => {
    const on = await target('node', openApp().router)
    const streams = await Promise.all([1, 2, 3].map((id) => listenStream(on, { toolsListChanged: true }, { id })))
    expect([listenersOf(on), await on.server.notifyToolList()]).toEqual([3, 3])
    streams[0]?.drop()
    await expect.poll(() => listenersOf(on), PATIENT).toBe(2)
    expect(await on.server.notifyToolList()).toBe(2)
    for (const stream of streams) stream.drop()
    await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
    expect(on.errors).toEqual([])
  })

  test('ends when the client hangs up while it is authorised', async () => {
    const authorised = gate()
    const asked = gate()
    const app = usersApp({
      authorizeResourceSubscriptions: async (resources) => {
        asked.open()
        await authorised.promise
        return resources
      },
    })
    const on = await target('node', app.router, { server: { maxListens: 1 } })
    const controller = new AbortController()
    const sent = modern(
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: ['notes://plain'] } },
      { headers: as('ana') },
    )
    const gone = fetch(on.serving?.url ?? '', {
      method: 'POST',
      headers: sent.headers as Record<string, string>,
      body: String(sent.body),
      signal: controller.signal,
    }).catch(() => 'gone')
    await asked.promise
    controller.abort()
    expect(await gone).toBe('gone')
    await settle(on)
    authorised.open()
    await settle(on)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
    // Its place is free.
    expect((await listenStream(on, {}, { headers: as('ana') })).status).toBe(200)
  })

  test('ends with its call, also when a middleware ends that', async () => {
    const given = gate()
    const app = usersApp({
      middleware: [
        async (_session, next) => {
          const result = next()
          await Promise.race([result, given.promise])
          throw new McpError('INTERNAL_ERROR', 'too slow')
        },
      ],
    })
    const on = await target('node', app.router, { server: { maxListens: 1 } })
    const stream = await listenStream(on, { toolsListChanged: true }, { headers: as('ana') })
    expect(listenersOf(on)).toBe(1)
    given.open()
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.methods).toEqual([ACK, 'answer'])
    expect(listenersOf(on)).toBe(0)
    // Its place is free.
    const next = await listenStream(on, {}, { headers: as('ana') })
    expect(next.methods[0]).toBe(ACK)
  })

  test('ends with its result, then the stream, when the server closes', async () => {
    const on = await target('node', openApp().router)
    const stream = await listenStream(on, { toolsListChanged: true }, { id: 7 })
    await on.server.close({ drainMs: 1_000 })
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.methods).toEqual([ACK, 'answer'])
    expect(stream.messages[1]).toMatchObject({
      jsonrpc: '2.0',
      id: 7,
      result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 7 } },
    })
    expect(listenersOf(on)).toBe(0)
  })

  test('neither progress nor logs travel on it', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const stream = await listenStream(on, { toolsListChanged: true })
    const meta = { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' }
    const calling = streamOf(on, modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { id: 2, meta }))
    const { session, release } = await app.held('a')
    await session.notifyProgress(1)
    await session.log.error('on the call')
    release()
    const call = await calling
    await expect.poll(() => call.ended, PATIENT).toBe(true)
    expect(call.methods).toEqual(['notifications/progress', 'notifications/message', 'answer'])
    await settle(on)
    expect(stream.methods).toEqual([ACK])
  })

  test('callTimeoutMs does not end it, and keep-alive comments keep it open', async () => {
    const on = await target('node', openApp().router, { server: { callTimeoutMs: 20 }, http: { keepAliveMs: 15 } })
    const stream = await listenStream(on, { toolsListChanged: true })
    await expect
      .poll(() => stream.text.split('\n').filter((line) => line.startsWith(':')).length, PATIENT)
      .toBeGreaterThan(3)
    expect(stream.over).toBe(false)
    await on.server.notifyToolList()
    await expect.poll(() => stream.methods, PATIENT).toEqual([ACK, TOOLS])
  })

  test('capabilities say what is honoured', async () => {
    const on = await target('node', openApp().router)
    const answer: Answer = await on.send(modern('server/discover'))
    expect(answer.message).toMatchObject({
      result: {
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
        },
      },
    })
  })
})

describe.each(['memory', 'stdio'] as const)('subscriptions/listen on %s', (kind) => {
  const listen = (id: unknown, notifications: Json): Json => ({
    jsonrpc: '2.0',
    id,
    method: 'subscriptions/listen',
    params: { notifications, _meta: META },
  })

  verifies(
    'field.K3',
    'is acknowledged first, tells what it was asked for, and ends with notifications/cancelled',
    async () => {
      const { router } = openApp()
      const { wire, client, server } = await pipe(kind, router, { protocol: '2026-07-28' })
      await wire.send(listen('a', { toolsListChanged: true }))
      await wire.send(listen(0, { resourceSubscriptions: ['notes://plain', 'no://such'] }))
      await wire.next((message) => JSON.stringify(message).includes(`"${SUBSCRIPTION_ID}":0`))
      router.tool('new', {}, () => 'ok')
      router.prompt('new', {}, () => 'ok')
      expect(await server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
      await client.callTool('ping')
      const told = wire.received.filter((message) => message['method'] !== undefined) as Json[]
      expect(told.map(({ method }) => method)).toEqual([ACK, ACK, TOOLS, UPDATED])
      expect(idsOf(told)).toEqual(['a', 0, 'a', 0])
      expect(told[1]).toMatchObject({ params: { notifications: { resourceSubscriptions: ['notes://plain'] } } })
      await wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } })
      await client.callTool('ping')
      expect([server.context.listeners.size, await server.notifyToolList()]).toEqual([1, 0])
      await wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } })
      await client.callTool('ping')
      expect(server.context.listeners.size).toBe(0)
      // Who cancels gets no answer.
      expect(wire.received.filter(({ id, method }) => method === undefined && (id === 'a' || id === 0))).toEqual([])
    },
  )

  test('an id that is in flight is refused, and the first one stays', async () => {
    const { wire, server } = await pipe(kind, openApp().router, { protocol: '2026-07-28' })
    await wire.send(listen(9, { toolsListChanged: true }))
    await wire.next(({ method }) => method === ACK)
    const refused = await wire.ask(listen(9, { promptsListChanged: true }))
    expect(refused).toMatchObject({ id: 9, error: { code: -32600 } })
    expect(server.context.listeners.size).toBe(1)
    await wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } })
    await expect.poll(() => server.context.listeners.size, PATIENT).toBe(0)
  })

  test('ended by the server: notifications/cancelled, then the result', async () => {
    const { wire, server } = await pipe(kind, openApp().router, { protocol: '2026-07-28' })
    await wire.send(listen('a', {}))
    await wire.next(({ method }) => method === ACK)
    await server.close({ drainMs: 500 })
    await wire.next(({ id }) => id === 'a')
    const [, cancelled, result, ...others] = wire.received as Json[]
    expect(others).toEqual([])
    expect(cancelled).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'a' } })
    expect(result).toMatchObject({ id: 'a', result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'a' } } })
  })

  test('the end of the pipe frees it', async () => {
    const { wire, server, errors } = await pipe(kind, openApp().router, { protocol: '2026-07-28' })
    await wire.send(listen('a', { toolsListChanged: true }))
    await wire.next(({ method }) => method === ACK)
    await wire.close()
    await expect.poll(() => server.context.listeners.size, PATIENT).toBe(0)
    expect([await server.notifyToolList(), errors]).toEqual([0, []])
  })

  test('a session of an older version on the same pipe is told as such', async () => {
    const { router } = openApp()
    const { wire, client } = await pipe(kind, router, { protocol: '2025-11-25' })
    await wire.send(listen('a', { toolsListChanged: true }))
    await wire.next(({ method }) => method === ACK)
    router.tool('new', {}, () => 'ok')
    await client.callTool('new')
    const told = wire.received.filter(({ method }) => method === TOOLS) as Json[]
    expect(told.map(({ params }) => ((params as Json)['_meta'] as Json | undefined)?.[SUBSCRIPTION_ID]).sort()).toEqual(
      ['a', undefined],
    )
  })
})

test('on stdio the end of the input ends it at once', async () => {
  const server = createServer(openApp().router)
  const [input, output] = [new PassThrough(), new PassThrough()]
  const served = serveStdio(server, { input, output, console: 'keep' }).then(() => 'served')
  input.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications: {}, _meta: META } })}\n`,
  )
  await expect.poll(() => String(output.read() ?? ''), PATIENT).toContain(ACK)
  input.end()
  const late = new Promise((resolve) => setTimeout(() => resolve('late'), 1_000).unref())
  expect(await Promise.race([served, late])).toBe('served')
  expect(server.context.listeners.size).toBe(0)
})

describe('list changes', () => {
  /** Callers whose allow-lists come from a header. */
  async function limited(): Promise<{ on: Target; router: ReturnType<typeof openApp>['router'] }> {
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session, { headers }) => {
        const tools = headers.get('x-tools')
        const prompts = headers.get('x-prompts')
        const resources = headers.get('x-resources')
        if (tools !== null) session.allowTools(tools.split(','))
        if (prompts !== null) session.allowPrompts(prompts.split(','))
        if (resources !== null) session.allowResourceTemplates(resources.split(','))
        return session
      },
      principal: () => null,
    })
    furnish(router)
    return { on: await target('node', router), router: router as ReturnType<typeof openApp>['router'] }
  }
  const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

  test('of a running server are told to both eras by themselves, each kind alone', async () => {
    const { router } = openApp()
    const on = await target('node', router)
    const { headers } = await beginAs(on)
    const legacy = await sessionStream(on, headers)
    const modernStream = await listenStream(on, all)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(2)
    const expected: string[] = []
    const step = async (change: () => unknown, ...methods: string[]): Promise<void> => {
      change()
      expected.push(...methods)
      await expect.poll(() => [legacy.methods, modernStream.methods.slice(1)], PATIENT).toEqual([expected, expected])
    }
    await step(() => router.tool('one', {}, () => 'ok'), TOOLS)
    await step(() => router.remove('tool', 'one'), TOOLS)
    await step(() => router.prompt('one', {}, () => 'ok'), PROMPTS)
    await step(() => router.remove('prompt', 'one'), PROMPTS)
    await step(() => router.resource('one://x', { name: 'one' }, () => 'ok'), RESOURCES)
    await step(() => router.remove('resource', 'one'), RESOURCES)
    await step(() => router.remove('tool', 'never'))
    await step(() => {
      expect(() => router.tool('ping', {}, () => 'taken')).toThrow(TypeError)
    })
    for (const message of legacy.messages) expect(message['params']).toEqual({})
  })

  test('who hears of one finds it in the list already', async () => {
    const { router } = openApp()
    const on = await target('node', router)
    const stream = await listenStream(on, { toolsListChanged: true })
    const seen = new Promise<Answer>((resolve) => {
      stream.response.on('data', () => {
        if (stream.text.includes(TOOLS)) resolve(on.send(modern('tools/list')))
      })
    })
    router.tool('brand-new', {}, () => 'ok')
    expect((await seen).text).toContain('brand-new')
  })

  test('reach only those who can see what has changed', async () => {
    const { on, router } = await limited()
    const everyone = await listenStream(on, all, { id: 1 })
    const named = await listenStream(on, all, { id: 2, headers: { 'x-tools': 'ping,late', 'x-prompts': 'late' } })
    const other = await listenStream(on, all, { id: 3, headers: { 'x-tools': 'ping', 'x-resources': 'late' } })
    const { headers } = await beginAs(on, { 'x-tools': 'ping', 'x-prompts': 'review', 'x-resources': 'plain' })
    const legacy = await sessionStream(on, headers)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(4)
    router.tool('late', {}, () => 'ok')
    router.prompt('late', {}, () => 'ok')
    router.resource('late://x', { name: 'late' }, () => 'ok')
    router.tool('secret', {}, () => 'ok')
    router.remove('tool', 'ping')
    await expect.poll(() => everyone.methods, PATIENT).toEqual([ACK, TOOLS, PROMPTS, RESOURCES, TOOLS, TOOLS])
    await expect.poll(() => named.methods, PATIENT).toEqual([ACK, TOOLS, PROMPTS, RESOURCES, TOOLS])
    await expect.poll(() => other.methods, PATIENT).toEqual([ACK, PROMPTS, RESOURCES, TOOLS])
    await expect.poll(() => legacy.methods, PATIENT).toEqual([TOOLS])
  })

  test('raised by hand reach those without an allow-list of that kind, and are counted', async () => {
    const { on } = await limited()
    const everyone = await listenStream(on, all, { id: 1 })
    const noTools = await listenStream(on, all, { id: 2, headers: { 'x-tools': 'ping' } })
    const noPrompts = await listenStream(on, all, { id: 3, headers: { 'x-prompts': 'review' } })
    const noResources = await listenStream(on, all, { id: 4, headers: { 'x-resources': 'plain' } })
    expect(await on.server.notifyToolList()).toBe(3)
    expect(await on.server.notifyPromptList()).toBe(3)
    expect(await on.server.notifyResourceList()).toBe(3)
    await expect.poll(() => everyone.methods, PATIENT).toEqual([ACK, TOOLS, PROMPTS, RESOURCES])
    await expect.poll(() => noTools.methods, PATIENT).toEqual([ACK, PROMPTS, RESOURCES])
    await expect.poll(() => noPrompts.methods, PATIENT).toEqual([ACK, TOOLS, RESOURCES])
    await expect.poll(() => noResources.methods, PATIENT).toEqual([ACK, TOOLS, PROMPTS])
  })

  test('of a mounted router are told under its names', async () => {
    const inner = createRouter({ name: 'inner', version: '1' })
    const { on, router } = await limited()
    router.mount('in', inner)
    const mine = await listenStream(on, all, { id: 1, headers: { 'x-tools': 'in_late' } })
    const bare = await listenStream(on, all, { id: 2, headers: { 'x-tools': 'late' } })
    inner.tool('late', {}, () => 'ok')
    await expect.poll(() => mine.methods, PATIENT).toEqual([ACK, TOOLS])
    await settle(on)
    expect(bare.methods).toEqual([ACK])
  })

  test('are kept for a session that is away', async () => {
    const { router } = openApp()
    const on = await target('node', router)
    const { id, headers } = await beginAs(on)
    const first = await sessionStream(on, headers)
    await expect.poll(() => first.events.length, PATIENT).toBe(1)
    first.drop()
    await expect.poll(() => on.server.channels?.ofSession(id)?.attached, PATIENT).toBe(false)
    router.tool('meanwhile', {}, () => 'ok')
    const second = await getStream(on, headers, first.lastId)
    await expect.poll(() => second.methods, PATIENT).toEqual([TOOLS])
  })
})
