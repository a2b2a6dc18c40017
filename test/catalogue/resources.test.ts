import { createRouter, field, McpError, Resource, type Router, Tool } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { createCatalogue, entriesOf, readText } from './_catalogue.js'

/** Registers a pattern whose handler says its name and its variables, in the order of the pattern. */
function add(router: Router, pattern: string, name: string): void {
  router.resource(pattern, { name }, (params) => {
    const order = Object.entries(params).sort(([a], [b]) => pattern.indexOf(a) - pattern.indexOf(b))
    return `${name} ${JSON.stringify(Object.fromEntries(order))}`
  })
}

describeMatrix('a URI leads to', {}, (setup, { sessions }) => {
  /** What each URI gives on a router with these patterns; undefined where it gives nothing. */
  const expectReads = async (
    patterns: Record<string, string>,
    reads: Record<string, string | undefined>,
  ): Promise<void> => {
    const router = createCatalogue()
    for (const [name, pattern] of Object.entries(patterns)) add(router, pattern, name)
    const client = await setup(router)
    for (const [uri, text] of Object.entries(reads)) {
      if (text === undefined) {
        await expect(client.readResource(uri), uri).rejects.toMatchObject({
          code: sessions ? -32002 : -32602,
          data: { uri },
        })
      } else {
        expect(await readText(client, uri), uri).toBe(text)
      }
    }
  }

  test('the most specific pattern, and the first declared among equals', async () => {
    await expectReads(
      {
        any: 'docs:///*path',
        item: 'docs:///:kind/:id',
        guide: 'docs:///guides/:id',
        index: 'docs:///guides/index',
        second: 'docs:///:type/{name}',
        page: 'docs:///:kind/page-{n}',
      },
      {
        'docs:///guides/index': 'index {}',
        'docs:///guides/a': 'guide {"id":"a"}',
        'docs:///other/a': 'item {"kind":"other","id":"a"}',
        'docs:///other/page-3': 'page {"kind":"other","n":"3"}',
        'docs:///guides/page-3': 'guide {"id":"page-3"}',
        'docs:///a': 'any {"path":"a"}',
        'docs:///a/b/c': 'any {"path":"a/b/c"}',
      },
    )
    // The same two, declared the other way round.
    await expectReads(
      { second: 'docs:///:type/{name}', item: 'docs:///:kind/:id' },
      { 'docs:///other/a': 'second {"type":"other","name":"a"}' },
    )
  })

  test('its variables, decoded once', async () => {
    await expectReads(
      { study: 'https://example.com/studies/:id/md', file: 'files:///*path', reserved: 'raw://h/{+path}' },
      {
        'https://example.com/studies/a%20b/md': 'study {"id":"a b"}',
        'https://example.com/studies/a%252Fb/md': 'study {"id":"a%2Fb"}',
        'https://example.com/studies/a%2Fb/md': 'study {"id":"a/b"}',
        'https://example.com/studies/%E6%97%A5/md': 'study {"id":"日"}',
        'https://example.com/studies/+/md': 'study {"id":"+"}',
        'https://example.com/studies//md': undefined,
        'https://example.com/studies/a/b/md': undefined,
        'https://example.com/studies/%zz/md': undefined,
        'https://other.com/studies/1/md': undefined,
        'http://example.com/studies/1/md': undefined,
        'files:///a%20b/c': 'file {"path":"a b/c"}',
        'raw://h/a/b%20c': 'reserved {"path":"a/b c"}',
      },
    )
  })

  test('a host alone', async () => {
    await expectReads(
      { settings: 'config://settings', other: 'config://other', host: 'db://{host}', root: 'notes://plain/' },
      {
        'config://settings': 'settings {}',
        'config://other': 'other {}',
        'config://none': undefined,
        'config://settings/more': undefined,
        'db://main': 'host {"host":"main"}',
        'db://main/more': undefined,
        'notes://plain/': 'root {}',
      },
    )
  })

  test('a path behind an empty host', async () => {
    await expectReads(
      { cover: 'myapp:///studies/:study_id/cover', plain: 'myapp:///about' },
      {
        'myapp:///studies/12/cover': 'cover {"study_id":"12"}',
        'myapp:///about': 'plain {}',
        'myapp://studies/12/cover': undefined,
        'myapp:/studies/12/cover': undefined,
      },
    )
  })

  test('a port that is no variable', async () => {
    await expectReads(
      { api: 'http://localhost:8080/items/:id', plain: 'http://localhost:9090/x' },
      {
        'http://localhost:8080/items/5': 'api {"id":"5"}',
        'http://localhost:9090/x': 'plain {}',
        'http://localhost:9091/items/5': undefined,
        'http://localhost/items/5': undefined,
      },
    )
  })

  test('a urn whose colons are no variables', async () => {
    await expectReads(
      { isbn: 'urn:isbn:0451450523', animal: 'urn:example:animal:ferret', any: 'urn:uuid:{id}' },
      {
        'urn:isbn:0451450523': 'isbn {}',
        'urn:example:animal:ferret': 'animal {}',
        'urn:isbn:0451450524': undefined,
        'urn:uuid:f81d4fae': 'any {"id":"f81d4fae"}',
      },
    )
  })

  test('a colon that begins no variable', async () => {
    await expectReads(
      { time: 'x:///at/12:30/:id', digit: 'x:///:8/y' },
      {
        'x:///at/12:30/a': 'time {"id":"a"}',
        'x:///:8/y': 'digit {}',
        'x:///z/y': undefined,
      },
    )
  })

  test('query variables, each of which may be missing, in any order (H1)', async () => {
    await expectReads(
      { items: 'shop://items{?q,page}', more: 'shop://more?kind=tea{&page}' },
      {
        'shop://items': 'items {}',
        'shop://items?q=tea': 'items {"q":"tea"}',
        'shop://items?page=2': 'items {"page":"2"}',
        'shop://items?q=green%20tea&page=2': 'items {"q":"green tea","page":"2"}',
        'shop://items?page=2&q=tea': 'items {"q":"tea","page":"2"}',
        'shop://items?q=': 'items {"q":""}',
        'shop://item': undefined,
        'shop://itemss': undefined,
        'shop://more?kind=tea': 'more {}',
        'shop://more?kind=tea&page=3': 'more {"page":"3"}',
      },
    )
  })

  test('RFC 6570 expressions of all levels', async () => {
    await expectReads(
      {
        path: 'a://h{/kind,id}',
        plus: 'b://h/{+path}/end',
        label: 'c://h/file{.ext}',
        matrix: 'd://h/map{;x,y}',
        list: 'e://h/tags{?tag*}',
        both: 'f://h/{a,b}',
        cut: 'g://h/{code:3}/x',
        fragment: 'h://h/page{#part}',
      },
      {
        'a://h/x/1': 'path {"kind":"x","id":"1"}',
        'a://h/x': 'path {"kind":"x"}',
        'a://h': 'path {}',
        'b://h/a/b/end': 'plus {"path":"a/b"}',
        'c://h/file.md': 'label {"ext":"md"}',
        'c://h/file': 'label {}',
        'd://h/map;x=1;y=2': 'matrix {"x":"1","y":"2"}',
        'd://h/map;y=2': 'matrix {"y":"2"}',
        'e://h/tags?tag=a&tag=b%26c': 'list {"tag":["a","b&c"]}',
        'f://h/1,2': 'both {"a":"1","b":"2"}',
        'g://h/abc/x': 'cut {"code":"abc"}',
        'g://h/abcd/x': undefined,
        'h://h/page#top': 'fragment {"part":"top"}',
        'h://h/page': 'fragment {}',
      },
    )
  })
})

const ICONS = [{ src: 'https://example.com/r.png', mimeType: 'image/png' }]
const ANNOTATIONS = { audience: ['user' as const], priority: 0.5 }

describeMatrix('the lists of resources', {}, (setup, { version }) => {
  test('have the fixed ones by themselves, with size, annotations and icons, and the templates on their own', async () => {
    const router = createCatalogue()
    const all = {
      title: 'About',
      description: 'What this is.',
      mimeType: 'text/plain',
      icons: ICONS,
      annotations: ANNOTATIONS,
      _meta: { 'example.com/k': 1 },
    }
    router.resource('config://about', { name: 'about', size: 5, ...all }, () => 'about')
    router.resource('myapp:///studies/:study_id/cover', { name: 'cover', size: 7, ...all }, () => 'x')
    router.resource('files:///*path', { name: 'file' }, () => 'x')
    router.resource('urn:isbn:0451450523', { name: 'isbn' }, () => 'x')
    router.resource('http://localhost:8080/a{?q}', { name: 'search' }, () => 'x')
    const client = await setup(router)
    const described = {
      description: 'What this is.',
      mimeType: 'text/plain',
      annotations: ANNOTATIONS,
      ...(version >= '2025-06-18' ? { title: 'About', _meta: { 'example.com/k': 1 } } : {}),
      ...(version >= '2025-11-25' ? { icons: ICONS } : {}),
    }
    expect(await entriesOf(client, 'resources')).toEqual([
      { uri: 'config://about', name: 'about', size: 5, ...described },
      { uri: 'urn:isbn:0451450523', name: 'isbn' },
    ])
    expect(await entriesOf(client, 'resources/templates')).toEqual([
      { uriTemplate: 'myapp:///studies/{study_id}/cover', name: 'cover', ...described },
      { uriTemplate: 'files:///{+path}', name: 'file' },
      { uriTemplate: 'http://localhost:8080/a{?q}', name: 'search' },
    ])
  })

  test('have what the application lists, when it does', async () => {
    const ids = Array.from({ length: 5 }, (_, index) => String(index + 1))
    const router: Router = createRouter({
      name: 'catalogue',
      version: '1.0.0',
      listResources: async (cursor, session) => {
        const after = Number(cursor ?? 0)
        if (!Number.isInteger(after)) throw new McpError('INVALID_PARAMS', 'Not a cursor')
        const page = ids.filter((id) => Number(id) > after).slice(0, 2)
        const links = page.map((id) => {
          const target = router.resourceFor(session, 'study', { id })
          if (target === undefined) throw new Error('not to be seen')
          return Resource.link(target.uri, target.template, { name: `Study ${id}` })
        })
        const last = page.at(-1)
        return Resource.list(links, last === undefined || last === '5' ? undefined : last)
      },
    })
    router.resource('https://example.com/studies/:id/md', { name: 'study', mimeType: 'text/markdown' }, ({ id }) => id)
    router.resource('config://about', { name: 'about' }, () => 'about')
    const client = await setup(router)
    const pages: unknown[] = []
    let cursor: string | undefined
    do {
      const page = await client.list('resources', cursor)
      pages.push((page['resources'] as { uri: string }[]).map(({ uri }) => uri))
      cursor = page.nextCursor
    } while (cursor !== undefined && pages.length < 9)
    expect(pages).toEqual([
      ['https://example.com/studies/1/md', 'https://example.com/studies/2/md'],
      ['https://example.com/studies/3/md', 'https://example.com/studies/4/md'],
      ['https://example.com/studies/5/md'],
    ])
    const [first] = await entriesOf(client, 'resources')
    expect(first).toEqual({ uri: 'https://example.com/studies/1/md', name: 'Study 1', mimeType: 'text/markdown' })
    await expect(client.list('resources', 'x')).rejects.toMatchObject({ code: -32602, message: 'Not a cursor' })
  })
})

describeMatrix('the contents of a resource', {}, (setup, { version, sessions }) => {
  const contentsOf = async (value: unknown, mimeType?: string): Promise<unknown> => {
    const router = createCatalogue()
    const options = mimeType === undefined ? {} : { mimeType }
    router.resource('x:///:id', { name: 'x', ...options }, (() => value) as () => string)
    return (await (await setup(router)).readResource('x:///1')).contents
  }

  test('are text, JSON and bytes, with the type that is told nearest', async () => {
    const uri = 'x:///1'
    expect(await contentsOf('a')).toEqual([{ uri, mimeType: 'text/plain', text: 'a' }])
    expect(await contentsOf('a', 'text/markdown')).toEqual([{ uri, mimeType: 'text/markdown', text: 'a' }])
    expect(await contentsOf(Resource.text('a', { mimeType: 'text/html' }), 'text/markdown')).toEqual([
      { uri, mimeType: 'text/html', text: 'a' },
    ])
    expect(await contentsOf(Resource.text({ a: [1, null] }))).toEqual([
      { uri, mimeType: 'application/json', text: '{"a":[1,null]}' },
    ])
    expect(await contentsOf(Resource.text([], { mimeType: 'application/ld+json' }))).toEqual([
      { uri, mimeType: 'application/ld+json', text: '[]' },
    ])
    expect(await contentsOf(new Uint8Array([0, 128, 255]))).toEqual([
      { uri, mimeType: 'application/octet-stream', blob: 'AID/' },
    ])
    expect(await contentsOf(Buffer.from([1, 2]), 'image/png')).toEqual([{ uri, mimeType: 'image/png', blob: 'AQI=' }])
    expect(await contentsOf(Resource.blob('AQI=', { mimeType: 'image/gif' }), 'image/png')).toEqual([
      { uri, mimeType: 'image/gif', blob: 'AQI=' },
    ])
  })

  test('may be several', async () => {
    const parts = [
      'one',
      Resource.text('two', { uri: 'x:///1/two', _meta: { 'example.com/k': 1 } }),
      Resource.blob(new Uint8Array([1]), { uri: 'x:///1/three' }),
    ]
    expect(await contentsOf(parts, 'text/x')).toEqual([
      { uri: 'x:///1', mimeType: 'text/x', text: 'one' },
      {
        uri: 'x:///1/two',
        mimeType: 'text/x',
        text: 'two',
        ...(version >= '2025-06-18' ? { _meta: { 'example.com/k': 1 } } : {}),
      },
      { uri: 'x:///1/three', mimeType: 'text/x', blob: 'AQ==' },
    ])
  })

  test('of a missing one are an error, never an empty list', async () => {
    for (const value of [null, undefined, [], Promise.resolve(null)]) {
      await expect(contentsOf(value)).rejects.toMatchObject({
        code: sessions ? -32002 : -32602,
        data: { uri: 'x:///1' },
      })
    }
    expect(await contentsOf('')).toEqual([{ uri: 'x:///1', mimeType: 'text/plain', text: '' }])
  })
})

describeMatrix('the ways from a name to a resource', {}, (setup, { version, sessions }) => {
  test('are links, embedded resources and readResource', async () => {
    const router = createCatalogue()
    const options = { name: 'study', title: 'A study', description: 'As Markdown.', mimeType: 'text/markdown' }
    router.resource('https://example.com/studies/:id/md', options, ({ id }, session) =>
      id === '0' ? null : `# ${id} by ${session.call.method}`,
    )
    router.resource('config://about', { name: 'about', size: 5 }, () => ['first', 'second'])
    router.tool('link', { input: { id: field.integer({ required: true }) } }, ({ id }, session) => {
      const target = router.resourceFor(session, 'study', { id })
      return target === undefined
        ? Tool.error('hidden')
        : Tool.resourceLink(target.uri, target.template, { description: 'The one.' })
    })
    router.tool(
      'embed',
      { input: { name: field.string({ required: true }), id: field.string() } },
      async ({ name, id }, session) =>
        Tool.embeddedResource(await session.readResource(name, id === undefined ? {} : { id })),
    )
    const client = await setup(router)
    const uri = 'https://example.com/studies/7/md'
    expect((await client.callTool('link', { id: 7 })).content).toEqual(
      version >= '2025-06-18'
        ? [
            {
              type: 'resource_link',
              uri,
              name: 'study',
              title: 'A study',
              description: 'The one.',
              mimeType: 'text/markdown',
            },
          ]
        : [{ type: 'text', text: uri }],
    )
    expect((await client.callTool('embed', { name: 'study', id: 'a b/c' })).content).toEqual([
      {
        type: 'resource',
        resource: {
          uri: 'https://example.com/studies/a%20b%2Fc/md',
          mimeType: 'text/markdown',
          text: '# a b/c by tools/call',
        },
      },
    ])
    expect((await client.callTool('embed', { name: 'about' })).content).toEqual([
      { type: 'resource', resource: { uri: 'config://about', mimeType: 'text/plain', text: 'first' } },
    ])
    await expect(client.callTool('embed', { name: 'none' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('none'),
    })
    await expect(client.callTool('embed', { name: 'study', id: '0' })).rejects.toMatchObject({
      code: sessions ? -32002 : -32602,
      data: { uri: 'https://example.com/studies/0/md' },
    })
    // A variable that is missing is a mistake in the handler.
    await expect(client.callTool('embed', { name: 'study' })).rejects.toMatchObject({ code: -32603 })
    expect(setup.expectErrors(1)[0]).toBeInstanceOf(TypeError)
    expect(await readText(client, 'https://example.com/studies/7/md')).toBe('# 7 by resources/read')
  })
})

describe('router.resourceUri', () => {
  const router = createCatalogue()
  router.resource('https://example.com/studies/:id/md', { name: 'study' }, () => 'x')
  router.resource('myapp:///docs/*path', { name: 'doc' }, () => 'x')
  router.resource('shop://items{?q,page}', { name: 'items' }, () => 'x')
  router.resource('config://about', { name: 'about' }, () => 'x')

  test('encodes what it is given', () => {
    expect(router.resourceUri('study', { id: 7 })).toBe('https://example.com/studies/7/md')
    expect(router.resourceUri('study', { id: 'a b/c?d#e%' })).toBe(
      'https://example.com/studies/a%20b%2Fc%3Fd%23e%25/md',
    )
    expect(router.resourceUri('study', { id: '日' })).toBe('https://example.com/studies/%E6%97%A5/md')
    expect(router.resourceUri('doc', { path: 'a/b c.md' })).toBe('myapp:///docs/a/b%20c.md')
    expect(router.resourceUri('items')).toBe('shop://items')
    expect(router.resourceUri('items', { page: 2, q: 'a&b' })).toBe('shop://items?q=a%26b&page=2')
    expect(router.resourceUri('about')).toBe('config://about')
  })

  test('throws on a name or a variable that is not there', () => {
    expect(() => router.resourceUri('none')).toThrow(McpError)
    expect(() => router.resourceUri('none')).toThrow('none')
    expect(() => router.resourceUri('study')).toThrow(TypeError)
    expect(() => router.resourceUri('study')).toThrow(/id/)
    expect(() => router.resourceUri('study', { id: 1, ids: 2 })).toThrow(/ids/)
    expect(() => router.resourceUri('study', { id: '' })).toThrow(TypeError)
    expect(() => router.resourceUri('study', { id: null })).toThrow(TypeError)
    expect(() => router.resourceUri('about', { id: 1 })).toThrow(TypeError)
  })
})
