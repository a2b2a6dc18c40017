import { PassThrough } from 'node:stream'
import {
  type ConnectRequest,
  createRouter,
  createServer,
  field,
  forbidden,
  notFound,
  Prompt,
  type Refusal,
  Resource,
  type Router,
  reject,
  type SubscribedResource,
  unauthorized,
} from 'phantom-mcp'
import { serveStdio } from 'phantom-mcp/stdio'
import { connect as connectClient } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { describeMatrix, HTTP, PIPES } from '../_setup.js'
import { textOf } from '../catalogue/_catalogue.js'
import {
  afterTest,
  codeOf,
  dataOf,
  initialize,
  legacy,
  modern,
  resultOf,
  type Sent,
  TARGETS,
  target,
} from '../http/_http.js'
import {
  as,
  beginAs,
  getStream,
  heldStream,
  listenStream,
  modernNotification,
  openApp,
  streamOf,
  type User,
  userOf,
  usersApp,
} from './_sessions.js'

const NAME = { name: 'callers', version: '1.0.0' }

/** A router whose `connect` is any function at all, as JavaScript users write it. */
function connecting(connect: (...args: never[]) => unknown, principal: (...args: never[]) => unknown = () => null) {
  const router = createRouter({ ...NAME, connect: connect as never, principal: principal as never }) as Router
  router.tool('ping', {}, () => 'pong')
  return router
}

describeMatrix('what connect assigns', {}, (setup, { sessions }) => {
  test('is seen by tools, prompts, resources, completers, lists and middleware', async () => {
    const asked: string[] = []
    const router = createRouter({
      ...NAME,
      connect: (session) => session.assign({ user: { id: 'ana' } }).assign({ plan: 'basic' as const }),
      principal: (session) => session.assigns.user.id,
      middleware: [
        (session, next) => {
          asked.push(`${session.call.method} by ${session.assigns.user.id}`)
          return next()
        },
      ],
      listResources: (_cursor, session) =>
        Resource.list([{ uri: `notes://of/${session.assigns.user.id}`, name: 'own' }] as never),
      instructions: (session) => `for ${session.assigns.user.id}`,
      serverInfo: (session) => ({ name: `callers of ${session.assigns.user.id}`, version: '1.0.0' }),
    })
    router.tool('who', {}, (_params, { assigns }) => `${assigns.user.id} on ${assigns.plan}`)
    router.prompt(
      'who',
      { arguments: { a: { complete: (_value, { assigns }) => [assigns.user.id] } } },
      (_p, session) => Prompt.response([Prompt.user(session.assigns.user.id)]),
    )
    router.resource('notes://{x}', { name: 'who', complete: { x: (_value, { assigns }) => [assigns.plan] } }, (_p, s) =>
      Resource.text(s.assigns.user.id),
    )
    const client = await setup(router)
    expect(textOf(await client.callTool('who'))).toBe('ana on basic')
    expect(await client.getPrompt('who')).toMatchObject({ messages: [{ content: { text: 'ana' } }] })
    expect(await client.readResource('notes://a')).toMatchObject({ contents: [{ text: 'ana' }] })
    expect(await client.complete({ prompt: 'who' }, { name: 'a', value: '' })).toMatchObject({
      completion: { values: ['ana'] },
    })
    expect(await client.complete({ resource: 'notes://{x}' }, { name: 'x', value: '' })).toMatchObject({
      completion: { values: ['basic'] },
    })
    expect(await client.list('resources')).toMatchObject({ resources: [{ uri: 'notes://of/ana' }] })
    const told = client.initialized ?? (await client.request('server/discover'))
    expect(told['instructions']).toBe('for ana')
    if (sessions) expect(told['serverInfo']).toMatchObject({ name: 'callers of ana' })
    expect(asked).toContain('tools/call by ana')
  })

  test('does not travel from one request to the next', async () => {
    let count = 0
    const router = createRouter({
      ...NAME,
      connect: (session) => session.assign({ seen: [...Object.keys(session.assigns), `${++count}`] }),
      principal: () => null,
    })
    router.tool('mark', {}, (_params, session) => {
      session.assign({ leaked: true })
      return JSON.stringify(session.assigns.seen)
    })
    const client = await setup(router)
    const first = JSON.parse(textOf(await client.callTool('mark'))) as string[]
    const second = JSON.parse(textOf(await client.callTool('mark'))) as string[]
    expect([first.length, second.length]).toEqual([1, 1])
  })
})

describeMatrix('connect on one pipe', { transports: PIPES }, (setup) => {
  test('is asked once, with nothing but an empty request', async () => {
    const requests: ConnectRequest[] = []
    const router = connecting((session: never, request: ConnectRequest) => {
      requests.push(request)
      return session
    })
    const client = await setup(router)
    for (let index = 0; index < 3; index++) await client.callTool('ping')
    expect(requests).toHaveLength(1)
    const [request] = requests
    expect([request?.headers.get('authorization'), request?.url, [...(request?.query ?? [])], request?.remote]).toEqual(
      [null, '', [], undefined],
    )
  })
})

describeMatrix('connect over HTTP', { transports: HTTP }, (setup, { transport, sessions }) => {
  test('is asked for every request, also for notifications', async () => {
    const requests: ConnectRequest[] = []
    const router = connecting((session: never, request: ConnectRequest) => {
      requests.push(request)
      return session
    })
    const client = await setup(router, { headers: () => ({ 'X-Team': 'blue' }) })
    const before = requests.length
    expect(before).toBe(sessions ? 2 : 0)
    await client.callTool('ping')
    await client.list('tools')
    await client.notify('notifications/cancelled', { requestId: 99 })
    expect(requests).toHaveLength(before + 3)
    const { headers, url, remote } = requests.at(-1) as ConnectRequest
    expect([headers.get('x-team'), headers.get('X-TEAM'), headers.get('x-other')]).toEqual(['blue', 'blue', null])
    expect(url).toMatch(/\/mcp$/)
    if (transport === 'node') expect(remote).toMatch(/^(::ffff:)?127\.0\.0\.1$/)
  })
})

describe.each(TARGETS)('connect over %s', (kind) => {
  const requests = (id: string): [string, Sent][] => [
    ['initialize', initialize()],
    ['a request', legacy('ping', {}, { headers: { 'mcp-session-id': id } })],
    [
      'a notification',
      legacy('notifications/initialized', {}, { headers: { 'mcp-session-id': id }, notification: true }),
    ],
    ['GET', { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': id } }],
    ['DELETE', { method: 'DELETE', headers: { 'mcp-session-id': id } }],
    ['a request of 2026-07-28', modern('tools/list')],
    ['a notification of 2026-07-28', modernNotification('notifications/x')],
  ]

  test('gets the query, and every value of a header', async () => {
    const seen: unknown[] = []
    const router = connecting((session: never, { query, headers, url }: ConnectRequest) => {
      seen.push(query.get('team'), query.getAll('tag'), headers.get('x-a'), url.includes('?team=blue'))
      return session
    })
    const on = await target(kind, router)
    const sent = modern('tools/list', {}, { headers: { 'x-a': ['1', '2'] } })
    expect((await on.send({ ...sent, path: '/mcp?team=blue&tag=a&tag=b%20c' })).status).toBe(200)
    expect(seen).toEqual(['blue', ['a', 'b c'], '1, 2', true])
  })

  const REFUSALS: [string, [() => Refusal, number, string, RegExp]][] = [
    ['unauthorized', [() => unauthorized(), 401, 'unauthorized', /./]],
    ['forbidden', [() => forbidden('not for you'), 403, 'forbidden', /^not for you$/]],
    ['notFound', [() => notFound('no such tenant'), 404, 'not_found', /^no such tenant$/]],
    ['reject', [() => reject('go away'), 403, 'forbidden', /^go away$/]],
  ]
  test.each(REFUSALS)(
    '%s: status, code and reason, for each request',
    async (_name, [refuse, status, reason, message]) => {
      const on = await target(
        kind,
        connecting(() => refuse()),
      )
      for (const [what, sent] of requests('any')) {
        const answer = await on.send(sent)
        expect([what, answer.status, codeOf(answer), dataOf(answer)['reason']]).toEqual([what, status, -32600, reason])
        expect(answer.message).toMatchObject({ error: { message: expect.stringMatching(message) } })
        expect(answer.header('content-type')).toBe('application/json')
        expect(answer.header('mcp-session-id')).toBeUndefined()
        expect(answer.header('www-authenticate')).toBe(status === 401 ? 'Bearer' : undefined)
      }
      expect(on.errors).toEqual([])
    },
  )

  const FAILURES: [string, (session: { assign: (more: object) => object }) => unknown][] = [
    [
      'a throw',
      () => {
        throw new Error('secret: db.example.test')
      },
    ],
    ['a rejection', () => Promise.reject(new Error('secret: db.example.test'))],
    ['a throw of no error', () => Promise.reject(undefined)],
    ['nothing', () => undefined],
    ['null', () => null],
    ['true', () => true],
    ['a fresh object', () => ({ id: 'x', assigns: { user: 'root' } })],
    ['a copy of the session', (session) => ({ ...session })],
    ['a refusal that is not one', () => ({ status: 401, reason: 'unauthorized', message: 'no' })],
  ]
  test.each(FAILURES)('%s is 500, masked, and reported once for each request', async (_name, connect) => {
    const on = await target(kind, connecting(connect as never))
    for (const [what, sent] of requests('any')) {
      const answer = await on.send(sent)
      expect([what, answer.status, codeOf(answer)]).toEqual([what, 500, -32603])
      expect(answer.text).not.toContain('secret')
      expect(on.errors.splice(0)).toHaveLength(1)
    }
  })

  const PRINCIPALS: [string, () => unknown][] = [
    [
      'that throws',
      () => {
        throw new Error('secret')
      },
    ],
    ['that is empty', () => ''],
    ['that is undefined', () => undefined],
    ['that is a number', () => 7],
    ['that is a promise', async () => 'ana'],
  ]
  test.each(PRINCIPALS)('a principal %s lets nobody in', async (_name, principal) => {
    const on = await target(
      kind,
      connecting((session: never) => session, principal as never),
    )
    for (const [what, sent] of requests('any')) {
      const answer = await on.send(sent)
      expect([what, answer.status, codeOf(answer)]).toEqual([what, 500, -32603])
      expect(on.errors.splice(0)).toHaveLength(1)
    }
  })

  test('one failure costs one request', async () => {
    let fails = false
    const router = connecting((session: never) => {
      if (fails) throw new Error('away')
      return session
    })
    const on = await target(kind, router)
    const { headers } = await beginAs(on)
    fails = true
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(500)
    fails = false
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
    expect(on.errors).toHaveLength(1)
  })

  test('comes behind parsing, and before sessions and envelopes', async () => {
    let asked = 0
    const router = connecting(() => {
      asked++
      return unauthorized()
    })
    const on = await target(kind, router)
    const rows: [string, Sent, number, number][] = [
      ['OPTIONS', { method: 'OPTIONS' }, 204, 0],
      ['a foreign origin', { ...modern('tools/list'), headers: { origin: 'https://evil.example' } }, 403, 0],
      ['another method', { method: 'PUT' }, 405, 0],
      ['another type', { ...modern('tools/list'), headers: { 'content-type': 'text/plain' } }, 415, 0],
      ['no JSON', { ...modern('tools/list'), body: '{' }, 400, 0],
      ['an unknown session', legacy('ping', {}, { headers: { 'mcp-session-id': 'unknown' } }), 401, 1],
      ['no session', legacy('ping'), 401, 1],
      ['a wrong envelope', modern('tools/list', {}, { headers: { 'mcp-method': 'tools/call' } }), 401, 1],
      ['an unknown method', modern('no/such'), 401, 1],
      ['wrong parameters', modern('tools/call', { name: 7 }), 401, 1],
    ]
    for (const [what, sent, status, times] of rows) {
      asked = 0
      expect([what, (await on.send(sent)).status, asked]).toEqual([what, status, times])
    }
  })

  test('sees the id that the client sends, and none where it sends none', async () => {
    const ids: unknown[] = []
    const router = connecting((session: { id: string | undefined }) => {
      ids.push(session.id)
      return session
    })
    const on = await target(kind, router)
    const { id, headers } = await beginAs(on)
    await on.send({ method: 'DELETE', headers })
    await on.send(modern('tools/list'))
    expect(ids).toEqual([undefined, id, id, undefined])
  })

  test('disconnect: once for each exchange that was let in, with what connect assigned', async () => {
    const gone: string[] = []
    const app = usersApp({ disconnect: (session) => void gone.push(session.assigns.user.id) })
    const on = await target(kind, app.router)
    const { headers } = await beginAs(on, as('ana'))
    expect(gone.splice(0)).toEqual(['ana', 'ana'])
    await on.send(legacy('ping', {}, { headers }))
    await on.send(modern('tools/list', {}, { headers: as('bo') }))
    await on.send(legacy('ping', {}, { headers: { ...as('bo'), 'mcp-session-id': 'unknown' } }))
    await on.send(legacy('no/such', {}, { headers }))
    await on.send(modern('tools/list'))
    await on.send({ method: 'DELETE', headers })
    expect(gone).toEqual(['ana', 'bo', 'bo', 'ana', 'ana'])
  })

  test('disconnect that throws or rejects is reported, and costs nothing', async () => {
    let how: () => unknown = () => {
      throw new Error('first')
    }
    const on = await target(kind, usersApp({ disconnect: () => how() }).router)
    expect((await on.send(modern('tools/list', {}, { headers: as('bo') }))).status).toBe(200)
    how = () => Promise.reject(new Error('second'))
    expect((await on.send(modern('tools/list', {}, { headers: as('bo') }))).status).toBe(200)
    await expect.poll(() => on.errors.map((error) => (error as Error).message), PATIENT).toEqual(['first', 'second'])
  })

  test('disconnect and terminate need no connect', async () => {
    const told: string[] = []
    const options = {
      disconnect: () => void told.push('disconnect'),
      terminate: () => {
        told.push('terminate')
        return { ok: true }
      },
    }
    const on = await target(kind, openApp(options).router)
    const { headers } = await beginAs(on)
    expect((await on.send({ method: 'DELETE', headers })).status).toBe(200)
    expect(told).toEqual(['disconnect', 'disconnect', 'terminate', 'disconnect'])
  })

  const TERMINATIONS: [string, [() => unknown, number, number]][] = [
    ['ok', [() => ({ ok: true }), 200, 0]],
    ['a promise of ok', [async () => ({ ok: true }), 200, 0]],
    ['not ok', [() => ({ ok: false }), 204, 0]],
    ['nothing', [() => undefined, 204, 0]],
    ['something else', [() => 'ok', 204, 0]],
    [
      'a throw',
      [
        () => {
          throw new Error('secret')
        },
        204,
        1,
      ],
    ],
    ['a rejection', [() => Promise.reject(new Error('secret')), 204, 1]],
  ]
  test.each(TERMINATIONS)('terminate that gives %s', async (_name, [terminate, status, reports]) => {
    const on = await target(kind, usersApp({ terminate: terminate as () => undefined }).router)
    const { headers } = await beginAs(on, as('ana'))
    const answer = await on.send({ method: 'DELETE', headers })
    expect([answer.status, answer.text]).toEqual([status, ''])
    expect(on.errors).toHaveLength(reports)
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(404)
  })

  test('terminate is not asked about a session that is not there', async () => {
    let asked = 0
    const on = await target(kind, usersApp({ terminate: () => void asked++ }).router)
    const { headers } = await beginAs(on, as('ana'))
    expect((await on.send({ method: 'DELETE', headers: { ...headers, ...as('bo') } })).status).toBe(404)
    expect((await on.send({ method: 'DELETE', headers: { ...headers, 'mcp-session-id': 'x' } })).status).toBe(404)
    expect(asked).toBe(0)
    await on.send({ method: 'DELETE', headers })
    await on.send({ method: 'DELETE', headers })
    expect(asked).toBe(1)
  })
})

describe('disconnect', () => {
  test('comes when a stream ends, and not before', async () => {
    const gone: string[] = []
    const app = usersApp({ disconnect: (session) => void gone.push(session.assigns.user.id) })
    const on = await target('node', app.router)
    const { headers } = await beginAs(on, as('ana'))
    gone.length = 0
    const own = await getStream(on, headers)
    const listening = await listenStream(on, {}, { headers: as('bo') })
    const { stream: call, held } = await heldStream(on, app, { tag: 'a', headers })
    expect(gone).toEqual([])
    held.release()
    await expect.poll(() => [call.ended, gone.splice(0)], PATIENT).toEqual([true, ['ana']])
    listening.drop()
    await expect.poll(() => gone.splice(0), PATIENT).toEqual(['bo'])
    own.drop()
    await expect.poll(() => gone.splice(0), PATIENT).toEqual(['ana'])
  })

  test('comes once for a call whose client hangs up before its answer', async () => {
    const gone: string[] = []
    const app = usersApp({ disconnect: (session) => void gone.push(session.assigns.user.id) })
    const on = await target('node', app.router)
    const params = { name: 'hold', arguments: { tag: 'a' }, _meta: { progressToken: 1 } }
    const { headers, body } = modern('tools/call', params, { headers: as('ana'), meta: { progressToken: 1 } })
    const opening = streamOf(on, { headers: headers ?? {}, body })
    const { session } = await app.held('a')
    await session.notifyProgress(1)
    const stream = await opening
    stream.drop()
    await expect.poll(() => [app.aborted, gone], PATIENT).toEqual([['a'], ['ana']])
  })
})

describe('connect on stdio', () => {
  const pipes = () => ({ input: new PassThrough(), output: new PassThrough(), console: 'keep' as const })

  const REFUSED: [string, () => unknown, RegExp][] = [
    ['unauthorized', () => unauthorized(), /connect refused/],
    ['forbidden', () => forbidden('not you'), /connect refused.*not you/],
    [
      'a throw',
      () => {
        throw new Error('away')
      },
      /connect failed/,
    ],
    ['nothing', () => undefined, /connect failed/],
  ]
  test.each(REFUSED)('%s: serveStdio rejects, and nothing was written', async (_name, connect, message) => {
    const errors: unknown[] = []
    const server = createServer(connecting(connect as never), { onError: (error) => errors.push(error) })
    const streams = pipes()
    await expect(serveStdio(server, streams)).rejects.toThrow(message)
    expect(streams.output.read()).toBeNull()
    expect(errors).toHaveLength(message.source.includes('failed') ? 1 : 0)
  })

  test('the console is put back when the caller is refused', async () => {
    const { log } = console
    const { input, output } = pipes()
    const server = createServer(connecting(() => unauthorized()))
    await expect(serveStdio(server, { input, output })).rejects.toThrow(/connect refused/)
    expect(console.log).toBe(log)
  })

  test('the memory wire rejects too', async () => {
    await expect(connectClient(connecting(() => forbidden()))).rejects.toThrow(/connect refused/)
  })

  test('disconnect and terminate come once, when the input ends', async () => {
    const told: string[] = []
    const router = createRouter<{ user: User }>({
      ...NAME,
      connect: (session) => session.assign({ user: { id: 'ana' } }),
      principal: (session) => session.assigns.user.id,
      disconnect: (session) => void told.push(`disconnect ${session.assigns.user.id}`),
      terminate: (session) => void told.push(`terminate ${session.assigns.user.id}`),
    })
    router.tool('ping', {}, () => 'pong')
    const { input, output } = pipes()
    const served = serveStdio(router, { input, output, console: 'keep' })
    afterTest(() => void input.end())
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
    await expect.poll(() => String(output.read() ?? ''), PATIENT).toContain('"id":1')
    expect(told).toEqual([])
    input.end()
    await served
    expect(told.sort()).toEqual(['disconnect ana', 'terminate ana'])
  })

  test('disconnect and terminate need no connect', async () => {
    const told: string[] = []
    const router = createRouter({
      ...NAME,
      disconnect: () => void told.push('disconnect'),
      terminate: () => void told.push('terminate'),
    })
    const { input, output } = pipes()
    input.end()
    await serveStdio(router, { input, output, console: 'keep' })
    expect(told.sort()).toEqual(['disconnect', 'terminate'])
  })
})

describe('mistakes', () => {
  test('connect without principal is a TypeError that says what to write', () => {
    const create = createRouter as unknown as (options: object) => unknown
    expect(() => create({ ...NAME, connect: (session: unknown) => session })).toThrow(TypeError)
    expect(() => create({ ...NAME, connect: (session: unknown) => session })).toThrow(/principal/)
  })

  test('an allow-list that is none is a failed connect', async () => {
    for (const names of ['who', undefined, null, [1], { 0: 'who' }]) {
      const router = connecting((session: { allowTools(list: unknown): object }) => session.allowTools(names))
      const on = await target('fetch', router)
      expect((await on.send(modern('tools/list'))).status).toBe(500)
      expect(on.errors[0]).toBeInstanceOf(TypeError)
    }
  })

  test('a token is taken from where connect looks, and from nowhere else', async () => {
    const router = connecting((session: { assign(more: object): object }, { headers }: ConnectRequest) => {
      const user = userOf(headers.get('authorization'))
      return user === undefined ? unauthorized() : session.assign({ user })
    })
    router.tool('echo', { input: { text: field.string() } }, ({ text }) => text ?? '')
    const on = await target('fetch', router)
    const query = await on.send({ ...modern('tools/list'), path: '/mcp?authorization=Bearer%20ana' })
    expect(query.status).toBe(401)
    const meta = await on.send(modern('tools/list', {}, { meta: { authorization: 'Bearer ana' } }))
    expect(meta.status).toBe(401)
    expect(resultOf(await on.send(modern('tools/list', {}, { headers: as('ana') })))).toBeDefined()
  })

  test('authorizeResourceSubscriptions sees what connect assigned', async () => {
    const asked: [string, readonly SubscribedResource[]][] = []
    const app = usersApp({
      authorizeResourceSubscriptions: (resources, session) => {
        asked.push([session.assigns.user.id, resources])
        return resources
      },
    })
    const on = await target('node', app.router)
    await listenStream(on, { resourceSubscriptions: ['notes://topic/a%20b'] }, { headers: as('bo') })
    expect(asked).toMatchObject([
      ['bo', [{ uri: 'notes://topic/a%20b', params: { t: 'a b' }, template: { name: 'topic' } }]],
    ])
  })
})
