import { createRouter } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { codeOf, type HeaderList, legacy, modern, type Sent, TARGETS, target, textBlockOf } from '../http/_http.js'
import {
  as,
  beginAs,
  furnish,
  getStream,
  heldStream,
  listenersOf,
  listenStream,
  modernNotification,
  sessionStream,
  settle,
  usersApp,
} from './_sessions.js'

const MISSING = '5f0e0000-0000-4000-8000-000000000000'

/** Every way to use a session. */
const uses = (headers: HeaderList): [string, Sent][] => [
  ['POST of a request', legacy('ping', {}, { headers })],
  ['POST of a notification', legacy('notifications/initialized', {}, { headers, notification: true })],
  ['POST of a cancellation', legacy('notifications/cancelled', { requestId: 1 }, { headers, notification: true })],
  ['POST of a response', { ...legacy('x', {}, { headers }), body: '{"jsonrpc":"2.0","id":3,"result":{}}' }],
  ['GET', { method: 'GET', headers: { accept: 'text/event-stream', ...headers } }],
  [
    'GET after an event',
    { method: 'GET', headers: { accept: 'text/event-stream', 'last-event-id': 'session.1', ...headers } },
  ],
  ['DELETE', { method: 'DELETE', headers }],
]

describe.each(TARGETS)('the session of another user over %s', (kind) => {
  verifies('field.D4', 'is a session that is not there', async () => {
    const on = await target(kind, usersApp().router)
    const { headers } = await beginAs(on, as('ana'))
    for (const [what, sent] of uses({ ...headers, ...as('bo') })) {
      const answer = await on.send(sent)
      expect([what, answer.status, answer.streamed]).toEqual([what, 404, false])
      const missing = await on.send({ ...sent, headers: { ...sent.headers, 'mcp-session-id': MISSING } })
      expect(answer.text).toBe(missing.text)
      expect(answer.header('mcp-session-id')).toBeUndefined()
    }
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
    expect(on.errors).toEqual([])
  })

  verifies('field.D4', 'without a token it is 401', async () => {
    const on = await target(kind, usersApp().router)
    const { headers } = await beginAs(on, as('ana'))
    for (const [what, sent] of uses({ ...headers, authorization: undefined })) {
      expect([what, (await on.send(sent)).status]).toEqual([what, 401])
    }
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
  })

  verifies('field.D4', 'a fresh token of the same subject is the same user', async () => {
    const on = await target(kind, usersApp().router)
    const { headers } = await beginAs(on, as('ana-first'))
    for (const token of ['ana-second', 'ana', 'ana-third']) {
      expect((await on.send(legacy('ping', {}, { headers: { ...headers, ...as(token) } }))).status).toBe(200)
    }
    expect((await on.send({ method: 'DELETE', headers: { ...headers, ...as('ana-last') } })).status).toBe(204)
  })

  test('cannot be told of with initialize: bo gets a session of their own', async () => {
    const on = await target(kind, usersApp().router)
    const ana = await beginAs(on, as('ana'))
    const bo = await beginAs(on, { ...as('bo'), 'mcp-session-id': ana.id })
    expect(bo.id).not.toBe(ana.id)
  })

  test('its running call is not cancelled by another user’s session with the same request id', async () => {
    const app = usersApp()
    const on = await target(kind, app.router)
    const [ana, bo] = [await beginAs(on, as('ana')), await beginAs(on, as('bo'))]
    const params = { name: 'hold', arguments: { tag: 'a' } }
    const call = on.send(legacy('tools/call', params, { id: 7, headers: ana.headers }))
    const { release } = await app.held('a')
    for (const headers of [bo.headers, { ...ana.headers, ...as('bo') }]) {
      await on.send(legacy('notifications/cancelled', { requestId: 7 }, { headers, notification: true }))
    }
    release('kept')
    expect(textBlockOf(await call)).toBe('kept')
    expect(app.aborted).toEqual([])
  })

  test('where all callers are one, the id is all there is', async () => {
    const router = createRouter({ name: 'x', version: '1', connect: (session) => session, principal: () => null })
    furnish(router)
    const on = await target(kind, router)
    const { headers } = await beginAs(on, as('ana'))
    expect((await on.send(legacy('ping', {}, { headers: { ...headers, ...as('bo') } }))).status).toBe(200)
  })

  test('a caller who has become somebody else has lost the session', async () => {
    let name: string | null = 'ana'
    const router = createRouter({ name: 'x', version: '1', connect: (session) => session, principal: () => name })
    const on = await target(kind, router)
    const { headers } = await beginAs(on)
    const status = async (): Promise<number> => (await on.send(legacy('ping', {}, { headers }))).status
    for (const other of ['Ana', 'ana ', null, 'bo']) {
      name = other
      expect(await status()).toBe(404)
    }
    name = 'ana'
    expect(await status()).toBe(200)
  })
})

describe('the stream of a session', () => {
  verifies('field.D4', 'stays open, silent to others, and still ana’s', async () => {
    const app = usersApp()
    const on = await target('node', app.router)
    const { id, headers } = await beginAs(on, as('ana-first'))
    const stream = await sessionStream(on, headers)
    const bo: HeaderList = { ...headers, ...as('bo') }
    for (const [, sent] of uses(bo)) await on.send(sent)
    expect((await getStream(on, bo)).status).toBe(404)
    expect(stream.over).toBe(false)
    const before = stream.text
    await settle(on)
    expect(stream.text).toBe(before)
    await on.server.session(id)?.notify('notifications/x', { to: 'ana' })
    await expect.poll(() => stream.told('notifications/x', 'to'), PATIENT).toEqual(['ana'])
    expect((await on.send(legacy('ping', {}, { headers: { ...headers, ...as('ana-second') } }))).status).toBe(200)
  })

  test('cannot be taken over by another user, and can by the same one', async () => {
    const app = usersApp()
    const on = await target('node', app.router, { http: { secondStream: 'takeOver' } })
    const { headers } = await beginAs(on, as('ana'))
    const first = await sessionStream(on, headers)
    expect((await getStream(on, { ...headers, ...as('bo') })).status).toBe(404)
    expect((await getStream(on, { ...headers, ...as('bo') }, first.lastId)).status).toBe(404)
    await settle(on)
    expect(first.over).toBe(false)
    await sessionStream(on, { ...headers, ...as('ana-again') })
    await expect.poll(() => first.ended, PATIENT).toBe(true)
  })

  test('of a call cannot be gone on with by another user', async () => {
    const app = usersApp()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on, as('ana'))
    const { stream, held } = await heldStream(on, app, { tag: 'a', headers })
    stream.drop()
    const bo = await beginAs(on, as('bo'))
    expect((await getStream(on, { ...headers, ...as('bo') }, stream.lastId)).status).toBe(404)
    // With a session of their own they may ask, and get nothing.
    const foreign = await getStream(on, bo.headers, stream.lastId)
    held.release('secret')
    await expect.poll(() => foreign.over || foreign.status !== 200, PATIENT).toBe(true)
    expect(foreign.messages.filter((message) => message['jsonrpc'] === '2.0' && message['result'])).toEqual([])
    expect(foreign.text).not.toContain('secret')
    const again = await getStream(on, headers, stream.lastId)
    await expect.poll(() => again.text, PATIENT).toContain('secret')
  })
})

describe('listen streams', () => {
  test('with the same id belong to who opened them', async () => {
    const app = usersApp()
    const on = await target('node', app.router)
    const ana = await listenStream(on, { toolsListChanged: true }, { id: 1, headers: as('ana') })
    const bo = await listenStream(on, { toolsListChanged: true }, { id: 1, headers: as('bo') })
    bo.drop()
    await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
    const cancel = modernNotification('notifications/cancelled', { requestId: 1 }, as('bo'))
    expect((await on.send(cancel)).status).toBe(202)
    await on.server.notifyToolList()
    await expect
      .poll(() => ana.methods, PATIENT)
      .toEqual(['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed'])
    expect(ana.over).toBe(false)
  })

  test('maxListens counts each caller for themselves, and gives back what ends', async () => {
    const on = await target('node', usersApp().router, { server: { maxListens: 2 } })
    const listen = (token: string, id: number) => listenStream(on, {}, { id, headers: as(token) })
    const [first] = [await listen('ana', 1), await listen('ana-other', 2)]
    const refused = await on.send(modern('subscriptions/listen', { notifications: {} }, { headers: as('ana') }))
    expect([refused.status, codeOf(refused), refused.streamed]).toEqual([503, -32603, false])
    expect(refused.message).toMatchObject({ error: { data: { reason: 'too_many_listens', retryable: true } } })
    expect(Number(refused.header('retry-after'))).toBeGreaterThan(0)
    expect((await listen('bo', 1)).status).toBe(200)
    first?.drop()
    await expect.poll(() => listenersOf(on), PATIENT).toBe(2)
    expect((await listen('ana', 4)).status).toBe(200)
    // One that is refused for what it asks takes no place.
    for (let round = 0; round < 3; round++) {
      await on.send(modern('subscriptions/listen', {}, { headers: as('cy') }))
    }
    expect((await listen('cy', 1)).status).toBe(200)
  })

  test('maxListens does not count callers without a name', async () => {
    const router = createRouter({ name: 'x', version: '1', connect: (session) => session, principal: () => null })
    const on = await target('node', router, { server: { maxListens: 1 } })
    for (const id of [1, 2, 3]) expect((await listenStream(on, {}, { id })).status).toBe(200)
  })

  test('what one is told of is not told to the other', async () => {
    const done = gate()
    const app = usersApp({
      authorizeResourceSubscriptions: (resources, session) =>
        resources.filter(({ uri }) => uri.includes(session.assigns.user.id)),
    })
    const on = await target('node', app.router)
    const uris = ['notes://topic/ana', 'notes://topic/bo']
    const ana = await listenStream(on, { resourceSubscriptions: uris }, { headers: as('ana') })
    const bo = await listenStream(on, { resourceSubscriptions: uris }, { headers: as('bo') })
    done.open()
    expect(await on.server.notifyResourcesUpdated(uris)).toBe(2)
    await expect.poll(() => ana.told('notifications/resources/updated', 'uri'), PATIENT).toEqual(['notes://topic/ana'])
    await expect.poll(() => bo.told('notifications/resources/updated', 'uri'), PATIENT).toEqual(['notes://topic/bo'])
    expect(ana.told('notifications/subscriptions/acknowledged', 'notifications')).toEqual([
      { resourceSubscriptions: ['notes://topic/ana'] },
    ])
  })
})
