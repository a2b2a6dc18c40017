import { createRouter, type RouterOptions, type SubscribedResource } from 'phantom-mcp'
import type { TestClient } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { SESSION_VERSIONS } from '../_setup.js'
import { begin, codeOf, dataOf, legacy, modern, resultOf, TARGETS, type Target, target } from '../http/_http.js'
import {
  type Assigns,
  as,
  beginAs,
  furnish,
  getStream,
  listenersOf,
  listenStream,
  openApp,
  pipe,
  type Stream,
  sessionStream,
  settle,
  usersApp,
} from './_sessions.js'

const UPDATED = 'notifications/resources/updated'
const urisOf = (stream: Stream): unknown[] => stream.told(UPDATED, 'uri')

const PIPES_BY_VERSION = (['memory', 'stdio'] as const).flatMap((kind) =>
  SESSION_VERSIONS.map((version) => [kind, version as '2025-11-25'] as const),
)

type Authorize = NonNullable<RouterOptions<Assigns>['authorizeResourceSubscriptions']>

/** A session that follows some URIs, with its stream open. */
async function following(on: Target, uris: readonly string[], more = {}) {
  const { id, headers } = await beginAs(on, more)
  for (const uri of uris) {
    const answer = await on.send(legacy('resources/subscribe', { uri }, { headers }))
    expect(answer.message).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  }
  const before = listenersOf(on)
  const stream = await sessionStream(on, headers)
  await expect.poll(() => listenersOf(on), PATIENT).toBe(before + 1)
  return { id, headers, stream }
}

describe.each(PIPES_BY_VERSION)('resources/subscribe on %s, %s', (kind, protocol) => {
  const uris = (client: TestClient): unknown[] => client.notified(UPDATED).map(({ uri }) => uri)

  test('tells of updates from then on, until resources/unsubscribe', async () => {
    const app = openApp()
    app.router.tool('follow', {}, (_params, session) => {
      session.subscribe('notes://topic/code')
      return 'ok'
    })
    app.router.tool('leave', {}, (_params, session) => {
      session.unsubscribe('notes://topic/code')
      return 'ok'
    })
    const { client, server } = await pipe(kind, app.router, { protocol })
    expect(await server.notifyResourcesUpdated(['notes://plain'])).toBe(0)
    expect(await client.request('resources/subscribe', { uri: 'notes://plain' })).toEqual({})
    expect(await client.request('resources/subscribe', { uri: 'notes://plain' })).toEqual({})
    expect(await server.notifyResourcesUpdated(['notes://plain', 'notes://topic/x'])).toBe(1)
    await client.callTool('follow')
    expect(await server.notifyResourcesUpdated(['notes://topic/code'])).toBe(1)
    await client.callTool('leave')
    expect(await server.notifyResourcesUpdated(['notes://topic/code'])).toBe(0)
    expect(await client.request('resources/unsubscribe', { uri: 'notes://plain' })).toEqual({})
    expect(await client.request('resources/unsubscribe', { uri: 'notes://never' })).toEqual({})
    expect(await server.notifyResourcesUpdated(['notes://plain'])).toBe(0)
    await client.callTool('ping')
    expect(client.notified(UPDATED)).toEqual([{ uri: 'notes://plain' }, { uri: 'notes://topic/code' }])
    expect(uris(client)).toHaveLength(2)
  })
})

describe.each(TARGETS)('resources/subscribe over %s', (kind) => {
  test('of what is not there, or not for this caller, is refused the same way', async () => {
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session) => session.allowResourceTemplates(['topic']),
      principal: () => null,
      authorizeResourceSubscriptions: (resources) => resources.filter(({ uri }) => !uri.endsWith('/denied')),
    })
    furnish(router)
    const on = await target(kind, router)
    const { headers } = await begin(on)
    const subscribe = async (uri: unknown) => await on.send(legacy('resources/subscribe', { uri }, { headers }))
    expect(resultOf(await subscribe('notes://topic/a'))).toEqual({})
    const missing = await subscribe('no://such')
    expect([missing.status, codeOf(missing), dataOf(missing)]).toEqual([200, -32002, { uri: 'no://such' }])
    // Hidden by the allow-list, and denied by the callback.
    for (const uri of ['notes://plain', 'notes://topic/denied']) {
      const refused = await subscribe(uri)
      expect([codeOf(refused), dataOf(refused)]).toEqual([-32002, { uri }])
      expect(refused.text.replaceAll(uri, 'no://such')).toBe(missing.text)
    }
    for (const uri of [undefined, 7, null, {}]) expect(codeOf(await subscribe(uri))).toBe(-32602)
    expect(on.errors).toEqual([])
  })
})

describe('updates on the streams of sessions', () => {
  test('reach who follows them, once each, and are counted', async () => {
    const on = await target('node', openApp().router)
    const a = await following(on, ['notes://plain', 'notes://topic/a'])
    const b = await following(on, ['notes://plain'])
    const c = await following(on, [])
    expect(await on.server.notifyResourcesUpdated(['notes://plain', 'notes://topic/a', 'notes://plain'])).toBe(2)
    expect(await on.server.notifyResourcesUpdated(['notes://topic/none'])).toBe(0)
    expect(await on.server.notifyResourcesUpdated([])).toBe(0)
    await expect.poll(() => urisOf(a.stream).sort(), PATIENT).toEqual(['notes://plain', 'notes://topic/a'])
    await expect.poll(() => urisOf(b.stream), PATIENT).toEqual(['notes://plain'])
    await settle(on)
    expect([urisOf(a.stream).length, urisOf(b.stream).length, urisOf(c.stream).length]).toEqual([2, 1, 0])
    // Legacy has no id of a subscription.
    expect(a.stream.text).not.toContain('subscriptionId')
  })

  test('of a subscription that is made while the stream is open', async () => {
    const on = await target('node', openApp().router)
    const { headers, stream } = await following(on, [])
    await on.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
    await on.send(legacy('resources/unsubscribe', { uri: 'notes://plain' }, { headers }))
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(0)
    await expect.poll(() => urisOf(stream), PATIENT).toEqual(['notes://plain'])
  })

  test('of the same resource in another spelling', async () => {
    const on = await target('node', openApp().router)
    const { stream } = await following(on, ['NOTES://topic/a%2db', 'notes://topic/%C3%A4'])
    const spelled = ['notes://topic/a-b', 'notes://topic/a%2Db', 'notes://topic/%c3%a4', 'notes://topic/ä']
    expect(await on.server.notifyResourcesUpdated(spelled)).toBe(1)
    await expect.poll(() => urisOf(stream).length, PATIENT).toBe(2)
    await settle(on)
    expect(urisOf(stream)).toHaveLength(2)
    const listening = await listenStream(on, { resourceSubscriptions: ['notes://topic/a%2Db'] })
    expect(await on.server.notifyResourcesUpdated(['notes://topic/a-b'])).toBe(2)
    await expect.poll(() => urisOf(listening).length, PATIENT).toBe(1)
  })

  test('a session that has never had a stream is not counted', async () => {
    const on = await target('node', openApp().router)
    const { headers } = await beginAs(on)
    await on.send(legacy('resources/subscribe', { uri: 'notes://plain' }, { headers }))
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(0)
  })

  test('end with the session', async () => {
    const on = await target('node', openApp().router)
    const { headers, stream } = await following(on, ['notes://plain'])
    await on.send({ method: 'DELETE', headers })
    expect([await on.server.notifyResourcesUpdated(['notes://plain']), listenersOf(on)]).toEqual([0, 0])
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(urisOf(stream)).toEqual([])
  })

  test('what is no list of URIs is a TypeError', async () => {
    const on = await target('node', openApp().router)
    for (const uris of ['notes://plain', undefined, null, 7]) {
      await expect(on.server.notifyResourcesUpdated(uris as never)).rejects.toThrow(TypeError)
    }
  })
})

describe('authorizeResourceSubscriptions', () => {
  const URIS = ['notes://plain', 'notes://topic/a', 'notes://topic/b']

  /** A server whose callback can be changed; it keeps what it was asked. */
  async function authorizing(): Promise<{
    on: Target
    asked: [string, string[]][]
    answer(authorize: Authorize): void
  }> {
    const asked: [string, string[]][] = []
    let authorize: Authorize = (resources) => resources
    const app = usersApp({
      authorizeResourceSubscriptions: (resources, session) => {
        asked.push([session.assigns.user.id, resources.map(({ uri }) => uri)])
        return authorize(resources, session)
      },
    })
    const on = await target('node', app.router)
    const answer = (next: Authorize): void => {
      authorize = next
    }
    return { on, asked, answer }
  }

  test('is asked about one resource for subscribe, all for listen, and once per session for a batch', async () => {
    const { on, asked } = await authorizing()
    const legacySession = await following(on, URIS, as('ana'))
    expect(asked.splice(0)).toEqual(URIS.map((uri) => ['ana', [uri]]))
    const listening = await listenStream(on, { resourceSubscriptions: URIS.slice(0, 2) }, { headers: as('bo') })
    expect(asked.splice(0)).toEqual([['bo', URIS.slice(0, 2)]])
    expect(await on.server.notifyResourcesUpdated([...URIS, ...URIS, 'notes://topic/none'])).toBe(2)
    expect(asked.splice(0).sort()).toEqual([
      ['ana', URIS],
      ['bo', URIS.slice(0, 2)],
    ])
    await expect.poll(() => urisOf(legacySession.stream), PATIENT).toEqual(URIS)
    await expect.poll(() => urisOf(listening), PATIENT).toEqual(URIS.slice(0, 2))
    // Nobody follows these.
    await on.server.notifyResourcesUpdated(['notes://topic/none'])
    expect(asked).toEqual([])
  })

  test('gets the parameters and the template of each resource', async () => {
    const seen: SubscribedResource[] = []
    const { on, answer } = await authorizing()
    answer((resources) => {
      seen.push(...resources)
      return resources
    })
    const { headers } = await beginAs(on, as('ana'))
    await on.send(legacy('resources/subscribe', { uri: 'notes://topic/a%20b' }, { headers }))
    expect(seen).toMatchObject([
      {
        uri: 'notes://topic/a%20b',
        params: { t: 'a b' },
        template: { name: 'topic', uriTemplate: 'notes://topic/{t}' },
      },
    ])
  })

  const NARROWED: [string, Authorize, readonly string[]][] = [
    ['entries', (resources) => resources.slice(1), URIS.slice(1)],
    ['URIs', (resources) => resources.slice(0, 1).map(({ uri }) => uri), URIS.slice(0, 1)],
    ['both', ([first, second]) => (first && second ? [first, second.uri] : []), URIS.slice(0, 2)],
    ['a promise', async (resources) => resources.slice(2), URIS.slice(2)],
    ['copies', (resources) => resources.slice(0, 2).map((resource) => ({ ...resource })), URIS.slice(0, 2)],
    ['the same twice', ([first]) => (first ? [first, first.uri, first] : []), URIS.slice(0, 1)],
    ['another order', (resources) => [...resources].reverse(), [...URIS].reverse()],
  ]
  test.each(NARROWED)(
    'is asked again before each update, and may answer with less: %s',
    async (_name, authorize, told) => {
      const { on, answer } = await authorizing()
      const { stream } = await following(on, URIS, as('ana'))
      answer(authorize)
      expect(await on.server.notifyResourcesUpdated(URIS)).toBe(1)
      await expect.poll(() => urisOf(stream), PATIENT).toEqual(told)
      answer((resources) => resources)
      expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
      await expect.poll(() => urisOf(stream), PATIENT).toEqual([...told, 'notes://plain'])
      expect(on.errors).toEqual([])
    },
  )

  const NONE: [string, Authorize, number][] = [
    ['null', () => null, 0],
    ['undefined', () => undefined, 0],
    ['an empty list', () => [], 0],
    [
      'a throw',
      () => {
        throw new Error('secret')
      },
      1,
    ],
    ['a rejection', () => Promise.reject(new Error('secret')), 1],
    ['true', (() => true) as never, 1],
    ['a string', (() => 'notes://plain') as never, 1],
    ['an object', ((resources: unknown[]) => ({ ...resources })) as never, 1],
    ['a set', ((resources: unknown[]) => new Set(resources)) as never, 1],
    ['what was not asked for', (resources) => [...resources, 'notes://topic/other'], 1],
    ['an entry that was not asked for', (resources) => [...resources, { ...resources[0], uri: 'x://y' }] as never, 1],
    ['an entry without URI', (resources) => [...resources, {}] as never, 1],
    ['null within the list', (resources) => [...resources, null] as never, 1],
    ['undefined within the list', (resources) => [...resources, undefined] as never, 1],
    ['a number within the list', (resources) => [...resources, 7] as never, 1],
  ]
  test.each(NONE)('%s allows none, also of what would have been right', async (_name, authorize, reports) => {
    const { on, answer } = await authorizing()
    const { headers, stream } = await following(on, URIS, as('ana'))
    const listening = await listenStream(on, { resourceSubscriptions: URIS }, { headers: as('bo') })
    answer(authorize)
    expect(await on.server.notifyResourcesUpdated(URIS)).toBe(0)
    // Once for each of the two that were asked about.
    expect(on.errors.splice(0)).toHaveLength(2 * reports)
    const refused = await on.send(legacy('resources/subscribe', { uri: 'notes://topic/c' }, { headers }))
    expect(codeOf(refused)).toBe(-32002)
    expect(refused.text).not.toContain('secret')
    expect(on.errors.splice(0)).toHaveLength(reports)
    const empty = await listenStream(on, { resourceSubscriptions: URIS }, { headers: as('bo'), id: 2 })
    expect(empty.told('notifications/subscriptions/acknowledged', 'notifications')).toEqual([
      { resourceSubscriptions: [] },
    ])
    expect(on.errors.splice(0)).toHaveLength(reports)
    await settle(on)
    expect([urisOf(stream), urisOf(listening), urisOf(empty)]).toEqual([[], [], []])
    // And the next one is told again.
    answer((resources) => resources)
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(2)
  })

  test('one that fails for one session costs the others nothing', async () => {
    const { on, answer } = await authorizing()
    const ana = await following(on, URIS, as('ana'))
    const bo = await following(on, URIS, as('bo'))
    answer((resources, session) => {
      if (session.assigns.user.id === 'ana') throw new Error('only for ana')
      return resources
    })
    expect(await on.server.notifyResourcesUpdated(['notes://plain'])).toBe(1)
    await expect.poll(() => urisOf(bo.stream), PATIENT).toEqual(['notes://plain'])
    expect([urisOf(ana.stream), on.errors.splice(0).length]).toEqual([[], 1])
  })

  test('is not asked about what is no resource any more, or hidden by an allow-list', async () => {
    const asked: string[] = []
    let hidden = false
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session) => (hidden ? session.allowResourceTemplates(['plain']) : session),
      principal: () => null,
      authorizeResourceSubscriptions: (resources) => {
        asked.push(...resources.map(({ uri }) => uri))
        return resources
      },
    })
    furnish(router)
    const on = await target('node', router)
    hidden = true
    const limited = await listenStream(on, { resourceSubscriptions: URIS })
    expect(asked.splice(0)).toEqual(['notes://plain'])
    expect(limited.told('notifications/subscriptions/acknowledged', 'notifications')).toEqual([
      { resourceSubscriptions: ['notes://plain'] },
    ])
    hidden = false
    const all = await listenStream(on, { resourceSubscriptions: URIS }, { id: 2 })
    asked.length = 0
    router.remove('resource', 'topic')
    expect(await on.server.notifyResourcesUpdated(URIS)).toBe(2)
    expect(asked).toEqual(['notes://plain', 'notes://plain'])
    await expect.poll(() => [urisOf(limited), urisOf(all)], PATIENT).toEqual([['notes://plain'], ['notes://plain']])
  })

  test('a session whose stream came with a later request is seen as that request left it', async () => {
    let narrow = false
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session) => (narrow ? session.allowResourceTemplates(['plain']) : session),
      principal: () => null,
    })
    furnish(router)
    const on = await target('node', router)
    const { headers } = await beginAs(on)
    for (const uri of ['notes://plain', 'notes://topic/a']) {
      await on.send(legacy('resources/subscribe', { uri }, { headers }))
    }
    narrow = true
    const stream = await getStream(on, headers)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
    expect(await on.server.notifyResourcesUpdated(['notes://plain', 'notes://topic/a'])).toBe(1)
    await expect.poll(() => urisOf(stream), PATIENT).toEqual(['notes://plain'])
  })
})

describe.each(['node', 'fetch'] as const)('%s: what one client may have kept for it', (kind) => {
  test('maxSubscriptions bounds the resources that a session follows; one that it follows already does not count', async () => {
    const on = await target(kind, openApp().router, { server: { maxSubscriptions: 2 } })
    const { headers } = await begin(on)
    const follow = (uri: string) => on.send(legacy('resources/subscribe', { uri }, { headers }))
    const unfollow = (uri: string) => on.send(legacy('resources/unsubscribe', { uri }, { headers }))
    for (const uri of ['notes://topic/1', 'notes://topic/2', 'notes://topic/1'])
      expect(resultOf(await follow(uri))).toEqual({})
    const third = await follow('notes://topic/3')
    expect(third.status).toBe(200)
    expect(third.message).toMatchObject({
      error: {
        code: -32602,
        message: 'No more than 2 resources can be followed at once',
        data: { reason: 'too_many_subscriptions' },
      },
    })
    await unfollow('notes://topic/2')
    expect(resultOf(await follow('notes://topic/3'))).toEqual({})
  })

  test('maxSubscriptions bounds the resources that a listen names', async () => {
    const on = await target(kind, openApp().router, { server: { maxSubscriptions: 2 } })
    const notifications = { resourceSubscriptions: ['notes://topic/1', 'notes://topic/2', 'notes://topic/3'] }
    const answer = await on.send(modern('subscriptions/listen', { notifications }))
    expect([answer.status, codeOf(answer)]).toEqual([200, -32602])
    expect(dataOf(answer)).toEqual({ reason: 'too_many_subscriptions' })
  })

  test('a client that says more of itself than a session keeps is refused, and has no session', async () => {
    const on = await target(kind, openApp().router)
    const clientInfo = { name: 'x'.repeat(70_000), version: '1' }
    const answer = await on.send(legacy('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }))
    expect(codeOf(answer)).toBe(-32602)
    expect(answer.header('mcp-session-id')).toBeUndefined()
  })
})
