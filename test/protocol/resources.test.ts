import { createRouter, McpError, Resource, type Router, withCache } from 'phantom-mcp'
import { expect } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'

const create = (): Router => createRouter({ name: 'resources', version: '1.0.0' })
const ICONS = [{ src: 'https://example.com/i.png' }]
const META = { 'example.com/k': 1 }
const ANNOTATIONS = { audience: ['user' as const], priority: 1, lastModified: '2026-01-01T00:00:00Z' }

describeMatrix('resources/list', {}, (setup, cell) => {
  const titled = cell.version >= '2025-06-18'
  const { lastModified: _left, ...undated } = ANNOTATIONS
  const gated = {
    ...(titled ? { title: 'Titled', _meta: META } : {}),
    ...(cell.version >= '2025-11-25' ? { icons: ICONS } : {}),
    annotations: titled ? ANNOTATIONS : undated,
  }
  const options = {
    title: 'Titled',
    description: 'Described.',
    mimeType: 'text/plain',
    icons: ICONS,
    _meta: META,
    annotations: ANNOTATIONS,
  }

  verifies(
    ['resources.list', 'gates.resource', 'resources.fixed-listed'],
    'has fixed resources here, and templates there',
    async () => {
      const router = create()
      router.resource('notes://plain', { name: 'plain', size: 10, ...options }, () => 'note')
      router.resource('notes://topic/:id', { name: 'topic', ...options }, () => 'topic')
      router.resource('shop://items{?q,page}', { name: 'items' }, () => 'items')
      const client = await setup(router)
      const { resources } = await client.list('resources')
      const described = { description: 'Described.', mimeType: 'text/plain', ...gated }
      expect(resources).toEqual([{ uri: 'notes://plain', name: 'plain', size: 10, ...described }])
      const { resourceTemplates } = await client.list('resources/templates')
      expect(resourceTemplates).toEqual([
        { uriTemplate: 'notes://topic/{id}', name: 'topic', ...described },
        { uriTemplate: 'shop://items{?q,page}', name: 'items' },
      ])
    },
  )

  verifies('resources.empty', 'is empty where there are none', async () => {
    const router = create()
    router.resource('notes://topic/:id', { name: 'topic' }, () => 'topic')
    const client = await setup(router)
    expect((await client.list('resources'))['resources']).toEqual([])
    const bare = await setup(create())
    expect((await bare.list('resources'))['resources']).toEqual([])
    expect((await bare.list('resources/templates'))['resourceTemplates']).toEqual([])
  })

  verifies(
    ['resources.callback', 'gates.resource'],
    'asks the application, whose cursor travels as it is',
    async () => {
      const cursors: unknown[] = []
      const target = { name: 'note', ...options }
      const router: Router = createRouter({
        name: 'resources',
        version: '1.0.0',
        listResources: async (cursor, session) => {
          cursors.push(cursor, session.call.method)
          if (cursor === 'wrong') throw new McpError('INVALID_PARAMS', 'No such page', { data: { cursor } })
          const page =
            cursor === undefined
              ? [Resource.link('notes://1', target)]
              : [Resource.link('notes://2', target, { name: 'second', size: 2 })]
          return Resource.list(page, cursor === undefined ? 'page 2' : undefined)
        },
      })
      router.resource('notes://fixed', { name: 'fixed' }, () => 'not listed by itself')
      const client = await setup(router)
      const described = { description: 'Described.', mimeType: 'text/plain', ...gated }
      const first = await client.list('resources')
      expect(first['resources']).toEqual([{ uri: 'notes://1', name: 'note', ...described }])
      expect(first.nextCursor).toBe('page 2')
      const second = await client.list('resources', first.nextCursor)
      expect(second['resources']).toEqual([{ uri: 'notes://2', name: 'second', size: 2, ...described }])
      expect(Object.hasOwn(second, 'nextCursor')).toBe(false)
      await client.list('resources', '')
      expect(cursors).toEqual([undefined, 'resources/list', 'page 2', 'resources/list', '', 'resources/list'])
      await expect(client.list('resources', 'wrong')).rejects.toMatchObject({
        code: -32602,
        message: 'No such page',
        data: { cursor: 'wrong' },
      })
      await expect(client.request('resources/list', { cursor: 17 })).rejects.toMatchObject({ code: -32602 })
    },
  )

  verifies(
    ['resources.callback', 'errors.masked'],
    'masks a callback that fails or returns something else',
    async () => {
      let next = (): unknown => undefined
      const router = createRouter({ name: 'resources', version: '1.0.0', listResources: () => next() as never })
      const client = await setup(router)
      const rejected = (): unknown => Promise.reject(new Error('secret'))
      for (next of [() => undefined, () => [], () => ({ resources: [] }), rejected]) {
        await expect(client.list('resources')).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
        setup.expectErrors(1)
      }
    },
  )
})

describeMatrix('resources/read', {}, (setup, cell) => {
  const read = async (handler: () => unknown, options: { mimeType?: string } = {}): Promise<unknown> => {
    const router = create()
    router.resource('notes://plain', { name: 'plain', ...options }, handler as () => string)
    const client = await setup(router)
    return (await client.readResource('notes://plain')).contents
  }

  verifies(['resources.read', 'gates.content'], 'gives text, bytes, JSON and several parts', async () => {
    const uri = 'notes://plain'
    expect(await read(() => 'note')).toEqual([{ uri, mimeType: 'text/plain', text: 'note' }])
    expect(await read(() => '', { mimeType: 'text/markdown' })).toEqual([{ uri, mimeType: 'text/markdown', text: '' }])
    expect(await read(() => new Uint8Array([0, 255, 16]))).toEqual([
      { uri, mimeType: 'application/octet-stream', blob: 'AP8Q' },
    ])
    expect(await read(() => Resource.blob('AP8Q', { mimeType: 'image/png' }))).toEqual([
      { uri, mimeType: 'image/png', blob: 'AP8Q' },
    ])
    expect(await read(async () => Resource.text({ a: [1] }))).toEqual([
      { uri, mimeType: 'application/json', text: '{"a":[1]}' },
    ])
    expect(await read(() => new Uint8Array())).toEqual([{ uri, mimeType: 'application/octet-stream', blob: '' }])
    const meta = cell.version >= '2025-06-18' ? { _meta: META } : {}
    expect(
      await read(() => [
        'one',
        Resource.text('two', { uri: 'notes://plain/2', mimeType: 'text/x', _meta: META }),
        new Uint8Array([1]),
      ]),
    ).toEqual([
      { uri, mimeType: 'text/plain', text: 'one' },
      { uri: 'notes://plain/2', mimeType: 'text/x', text: 'two', ...meta },
      { uri, mimeType: 'application/octet-stream', blob: 'AQ==' },
    ])
  })

  verifies(['resources.not-found', 'errors.modern-numbers'], 'names a URI that leads nowhere', async () => {
    const router = create()
    router.resource('notes://topic/:id', { name: 'topic' }, ({ id }) =>
      id === 'undefined' ? undefined : id === 'empty' ? [] : null,
    )
    const client = await setup(router)
    const code = cell.sessions ? -32002 : -32602
    for (const uri of [
      'notes://none',
      'notes://topic/1',
      'notes://topic/undefined',
      'notes://topic/empty',
      'not a uri',
      '',
    ]) {
      await expect(client.readResource(uri), uri).rejects.toMatchObject({ code, data: { uri } })
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(200)
    }
    for (const uri of [undefined, null, 5, ['notes://topic/1']]) {
      await expect(client.request('resources/read', { uri })).rejects.toMatchObject({ code: -32602 })
    }
  })

  verifies('resources.not-found', 'lets a handler say so itself', async () => {
    const router = create()
    router.resource('files:///:id', { name: 'file' }, ({ id }) => {
      throw new McpError('RESOURCE_NOT_FOUND', 'Gone for good', { data: { uri: id, since: 2020 } })
    })
    const client = await setup(router)
    const code = cell.sessions ? -32002 : -32602
    const data = { uri: 'x', since: 2020 }
    await expect(client.readResource('files:///x')).rejects.toMatchObject({ code, message: 'Gone for good', data })
  })

  verifies('errors.masked', 'masks what is no resource', async () => {
    for (const value of [5, {}, { text: 'x' }, [5], true]) {
      await expect(read(() => value)).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
      setup.expectErrors(1)
    }
  })

  verifies('resources.templates', 'hands over the variables decoded once, most specific pattern first', async () => {
    const router = create()
    router.resource('files:///*rest', { name: 'any' }, ({ rest }) => `rest ${rest}`)
    router.resource('files:///docs/:id', { name: 'doc' }, ({ id }) => `doc ${id}`)
    router.resource('files:///docs/index', { name: 'index' }, () => 'index')
    const client = await setup(router)
    const text = async (uri: string): Promise<unknown> => (await client.readResource(uri)).contents
    const part = (uri: string, value: string): object[] => [{ uri, mimeType: 'text/plain', text: value }]
    for (const [uri, value] of [
      ['files:///docs/index', 'index'],
      ['files:///docs/a%20b', 'doc a b'],
      ['files:///docs/a%252Fb', 'doc a%2Fb'],
      ['files:///docs/a%2Fb', 'doc a/b'],
      ['files:///docs/a/b', 'rest docs/a/b'],
      ['files:///docs/%E6%97%A5', 'doc 日'],
    ] as const) {
      expect(await text(uri), uri).toEqual(part(uri, value))
    }
    const code = cell.sessions ? -32002 : -32602
    for (const uri of ['files:///docs/%', 'files:///docs/%ff', 'file:///docs/a']) {
      const answer = await client.readResource(uri).then(
        ({ contents }) => (contents[0] as { text: string }).text,
        (error: { code: number }) => error.code,
      )
      expect([code, `rest ${uri.slice(8)}`], uri).toContain(answer)
    }
  })

  verifies('field.H1', 'takes query variables in any order, and leaves out those that are not there', async () => {
    const router = create()
    router.resource('shop://items{?q,page}', { name: 'items' }, (params) => JSON.stringify(params))
    const client = await setup(router)
    for (const [uri, values] of [
      ['shop://items', {}],
      ['shop://items?q=tea', { q: 'tea' }],
      ['shop://items?page=2', { page: '2' }],
      ['shop://items?q=green%20tea&page=2', { q: 'green tea', page: '2' }],
      ['shop://items?page=2&q=tea', { page: '2', q: 'tea' }],
      ['shop://items?q=', { q: '' }],
    ] as const) {
      const [part] = (await client.readResource(uri)).contents as { uri: string; text: string }[]
      expect(part?.uri).toBe(uri)
      expect(JSON.parse(part?.text ?? ''), uri).toEqual(values)
    }
    await expect(client.readResource('shop://item')).rejects.toMatchObject({ data: { uri: 'shop://item' } })
  })

  verifies('field.E1', 'finds URIs that are not ASCII', async () => {
    const router = create()
    router.resource('note://ärger/日本', { name: 'trouble' }, () => 'trouble')
    const client = await setup(router)
    const [part] = (await client.readResource('note://ärger/日本')).contents
    expect(part).toEqual({ uri: 'note://ärger/日本', mimeType: 'text/plain', text: 'trouble' })
    expect((await client.list('resources'))['resources']).toMatchObject([{ uri: 'note://ärger/日本' }])
  })
})

describeMatrix('caching', {}, (setup, cell) => {
  const hints = (result: Record<string, unknown>): unknown => ({
    ttlMs: result['ttlMs'],
    cacheScope: result['cacheScope'],
  })
  const none = { ttlMs: undefined, cacheScope: undefined }

  verifies(['cache.hints', 'cache.always'], 'is what the application says, and else nothing is kept', async () => {
    const router = createRouter({
      name: 'cache',
      version: '1.0.0',
      listResources: (cursor) =>
        cursor === undefined
          ? withCache(Resource.list([], 'more'), { ttlMs: 60_000, scope: 'public' })
          : Resource.list([]),
    })
    router.tool('noop', {}, () => 'ok')
    router.prompt('noop', {}, () => 'ok')
    router.resource('c://private', { name: 'private' }, () => withCache(Resource.text('x'), { ttlMs: 5 }))
    router.resource('c://public', { name: 'public' }, () =>
      withCache(Resource.blob('AQ=='), { ttlMs: 0, scope: 'public' }),
    )
    router.resource('c://parts', { name: 'parts' }, () =>
      withCache([Resource.text('a'), Resource.text('b')], { ttlMs: 7, scope: 'private' }),
    )
    router.resource('c://none', { name: 'none' }, () => 'x')
    const client = await setup(router)
    const modern = (ttlMs: number, cacheScope: string): object => (cell.sessions ? none : { ttlMs, cacheScope })
    expect(hints(await client.readResource('c://private'))).toEqual(modern(5, 'private'))
    expect(hints(await client.readResource('c://public'))).toEqual(modern(0, 'public'))
    expect(hints(await client.readResource('c://none'))).toEqual(modern(0, 'private'))
    const parts = await client.readResource('c://parts')
    expect(hints(parts)).toEqual(modern(7, 'private'))
    expect(parts.contents.map((part) => Object.keys(part).sort())).toEqual([
      ['mimeType', 'text', 'uri'],
      ['mimeType', 'text', 'uri'],
    ])
    expect(hints(await client.list('resources'))).toEqual(modern(60_000, 'public'))
    expect(hints(await client.list('resources', 'more'))).toEqual(modern(0, 'private'))
    for (const list of ['tools', 'prompts', 'resources/templates'] as const) {
      expect(hints(await client.list(list)), list).toEqual(modern(0, 'private'))
    }
    expect(hints(await client.callTool('noop'))).toEqual(none)
    expect(hints(await client.getPrompt('noop'))).toEqual(none)
  })

  verifies('cache.values', 'refuses a time or scope that is none', async () => {
    const router = create()
    const wrong = [
      { ttlMs: -1 },
      { ttlMs: 1.5 },
      { ttlMs: Number.NaN },
      { ttlMs: '5' },
      {},
      { ttlMs: 1, scope: 'all' },
      { ttlMs: Number.POSITIVE_INFINITY },
    ]
    router.resource('c:///:index', { name: 'wrong' }, ({ index }) =>
      withCache(Resource.text('x'), wrong[Number(index)] as { ttlMs: number }),
    )
    const client = await setup(router)
    for (const index of wrong.keys()) {
      await expect(client.readResource(`c:///${index}`)).rejects.toMatchObject({ code: -32603 })
      const [error] = setup.expectErrors(1)
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain('withCache')
    }
  })
})
