import { createRouter, field, Resource, type Router, Tool } from 'phantom-mcp'
import { expect } from 'vitest'
import { z } from 'zod'
import { describeMatrix, STATELESS_VERSIONS, VERSIONS, type Version, verifies } from '../_setup.js'

const create = (): Router => createRouter({ name: 'tools', version: '1.0.0' })

/** The same for each version from one on until the next. */
function since<Value>(values: Partial<Record<Version, Value>>): Record<Version, Value> {
  let latest: Value | undefined
  const all = VERSIONS.map((version) => {
    latest = values[version] ?? latest
    return [version, latest]
  })
  return Object.fromEntries(all) as Record<Version, Value>
}

const ICONS = [{ src: 'https://example.com/i.png', sizes: ['48x48'] }]
const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
const PROPERTIES = { size: { type: 'integer', minimum: 1 } }
const SCHEMA = { type: 'object', properties: PROPERTIES }
const WITH_DIALECT = { $schema: DIALECT, ...SCHEMA }

const DRAW_2024 = { name: 'draw', description: 'Draws.', inputSchema: SCHEMA }
const DRAW_2025_03 = { ...DRAW_2024, annotations: { readOnlyHint: true, destructiveHint: false } }
const DRAW_2025_06 = { ...DRAW_2025_03, title: 'Draw', outputSchema: SCHEMA, _meta: { 'example.com/key': 1 } }
const DRAW_2025_11 = { ...DRAW_2025_06, icons: ICONS, inputSchema: WITH_DIALECT, outputSchema: WITH_DIALECT }
const DRAW = since<object>({
  '2024-11-05': DRAW_2024,
  '2025-03-26': DRAW_2025_03,
  '2025-06-18': DRAW_2025_06,
  '2025-11-25': DRAW_2025_11,
})
const LIST_OUTPUT = { type: 'array', items: { type: 'string' } }

describeMatrix('tools/list', {}, (setup, cell) => {
  verifies(['tools.list', 'gates.tool'], 'has the members that the version knows', async () => {
    const router = create()
    const options = {
      title: 'Draw',
      description: 'Draws.',
      icons: ICONS,
      _meta: { 'example.com/key': 1 },
      inputSchema: WITH_DIALECT,
      outputSchema: WITH_DIALECT,
      readOnly: true,
      destructive: false,
    }
    router.tool('draw', options, () => ({ size: 1 }))
    router.tool('lines', { outputSchema: LIST_OUTPUT }, () => ['a'])
    const { tools } = await (await setup(router)).list('tools')
    const lines = { name: 'lines', inputSchema: { type: 'object', properties: {} } }
    const modern = { ...lines, outputSchema: LIST_OUTPUT }
    expect(tools).toEqual([DRAW[cell.version], cell.sessions ? lines : modern])
  })

  verifies(
    ['tools.order', 'lists.current'],
    'keeps the order of declaration, and shows what was added since',
    async () => {
      const router = create()
      for (const name of ['zebra', 'ant', 'Cat', '10', '9']) router.tool(name, {}, () => 'ok')
      const client = await setup(router)
      const names = async (): Promise<string[]> =>
        ((await client.list('tools'))['tools'] as { name: string }[]).map(({ name }) => name)
      expect(await names()).toEqual(['zebra', 'ant', 'Cat', '10', '9'])
      router.tool('late', {}, () => 'late')
      expect(await names()).toEqual(['zebra', 'ant', 'Cat', '10', '9', 'late'])
      expect(await client.callTool('late')).toMatchObject({ content: [{ text: 'late' }] })
    },
  )

  verifies('result.type', 'has the members of the result that the version knows', async () => {
    const router = create()
    router.tool('noop', {}, () => 'ok')
    const result = await (await setup(router)).list('tools')
    const own = cell.sessions ? ['tools'] : ['_meta', 'cacheScope', 'resultType', 'tools', 'ttlMs']
    expect(Object.keys(result).sort()).toEqual(own)
  })
})

describeMatrix('tools/call', {}, (setup, cell) => {
  verifies(['tools.call', 'result.type', 'result.server-info'], 'runs the handler with its arguments', async () => {
    const router = create()
    router.tool(
      'greet',
      { input: { name: field.string({ required: true }), times: field.integer({ default: 2 }) } },
      (params) => `Hello ${params.name}`.repeat(params.times),
    )
    const result = await (await setup(router)).callTool('greet', { name: 'Ada' })
    const content = [{ type: 'text', text: 'Hello AdaHello Ada' }]
    const modern = {
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'tools', version: '1.0.0' } },
    }
    expect(result).toEqual(cell.sessions ? { content } : { content, ...modern })
  })

  verifies(
    ['tools.argument-failure', 'field.G1'],
    'tells what is wrong with the arguments, as the version wants it',
    async () => {
      const router = create()
      let calls = 0
      router.tool(
        'search',
        { input: { text: field.string({ required: true }), limit: field.integer({ maximum: 10 }) } },
        () => String(++calls),
      )
      const client = await setup(router)
      const wrong = client.callTool('search', { limit: 11 })
      const errors = ['text is required', 'limit must be at most 10']
      if (cell.version >= '2025-11-25') {
        const { isError, content } = await wrong
        expect(isError).toBe(true)
        expect(content).toHaveLength(1)
        const [block] = content as { type: string; text: string }[]
        expect(block?.type).toBe('text')
        for (const error of errors) expect(block?.text).toContain(error)
      } else {
        await expect(wrong).rejects.toMatchObject({ code: -32602, data: { validation_errors: errors } })
        if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(200)
      }
      expect(calls).toBe(0)
      expect(await client.callTool('search', { text: 'x' })).toMatchObject({ content: [{ text: '1' }] })
    },
  )

  verifies('field.G1', 'takes missing arguments as none, and refuses what is no object', async () => {
    const router = create()
    router.tool('noargs', {}, () => 'ok')
    router.tool('opts', { input: { limit: field.integer() } }, (params) => JSON.stringify(params))
    const client = await setup(router)
    for (const [name, text] of [
      ['noargs', 'ok'],
      ['opts', '{}'],
    ] as const) {
      for (const args of [undefined, {}])
        expect(await client.callTool(name, args)).toMatchObject({ content: [{ text }] })
      for (const args of [[], null, 'x', 5]) {
        await expect(client.request('tools/call', { name, arguments: args })).rejects.toMatchObject({ code: -32602 })
      }
    }
  })

  verifies('tools.unknown', 'refuses unknown tools and names that are no text', async () => {
    const router = create()
    router.tool('real', {}, () => 'ok')
    const client = await setup(router)
    for (const name of ['Real', 'real ', '', 'none']) {
      await expect(client.callTool(name)).rejects.toMatchObject({ code: -32602 })
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(200)
    }
    for (const name of [undefined, null, 5, {}, ['real']]) {
      await expect(client.request('tools/call', { name })).rejects.toMatchObject({ code: -32602 })
    }
  })

  verifies('discover.undeclared', 'does not exist where there are no tools', async () => {
    const client = await setup(create())
    await expect(client.list('tools')).rejects.toMatchObject({ code: -32601 })
    await expect(client.callTool('any')).rejects.toMatchObject({ code: -32601 })
    await expect(client.list('prompts')).rejects.toMatchObject({ code: -32601 })
    await expect(client.getPrompt('any')).rejects.toMatchObject({ code: -32601 })
  })

  verifies('tools.names', 'finds tools under names that are not ASCII', async () => {
    const router = create()
    router.tool('größe', {}, () => 'groß')
    router.tool('日本', {}, () => '語')
    const client = await setup(router)
    expect(await client.callTool('größe')).toMatchObject({ content: [{ text: 'groß' }] })
    expect(await client.callTool('日本')).toMatchObject({ content: [{ text: '語' }] })
  })

  verifies(['field.A1', 'rpc.utf-8'], 'keeps every character', async () => {
    const router = create()
    router.tool('echo', { input: { text: field.string({ required: true }) } }, ({ text }) => text)
    const client = await setup(router)
    for (const text of ['naïve — 漢字 🧭 Ω', '\u0000\u2028\n\r\t"\\', '\ud83d', 'a'.repeat(100_000)]) {
      expect((await client.callTool('echo', { text })).content).toEqual([{ type: 'text', text }])
    }
  })
})

const PNG = new Uint8Array([137, 80, 78, 71, 0, 255])
const AUDIENCE = { audience: ['user' as const], priority: 0.5 }
const DATED = { ...AUDIENCE, lastModified: '2026-01-01T00:00:00Z' }
const META = { 'example.com/k': 1 }
const HAS_META = since({ '2024-11-05': {}, '2025-06-18': { _meta: META } })
const ANNOTATIONS = since<object>({ '2024-11-05': AUDIENCE, '2025-06-18': DATED })

describeMatrix('tool results', {}, (setup, cell) => {
  const answer = async (handler: () => unknown): Promise<Record<string, unknown>> => {
    const router = create()
    router.tool('give', {}, handler as () => string)
    const { resultType: _type, _meta: meta, ...result } = await (await setup(router)).callTool('give')
    const { 'io.modelcontextprotocol/serverInfo': _info, ...rest } = (meta ?? {}) as Record<string, unknown>
    return Object.keys(rest).length === 0 ? result : { ...result, _meta: rest }
  }
  const structured = cell.version >= '2025-06-18'
  const { version } = cell

  verifies('tools.results', 'that are text, nothing or an object', async () => {
    expect(await answer(() => 'text')).toEqual({ content: [{ type: 'text', text: 'text' }] })
    expect(await answer(() => undefined)).toEqual({ content: [] })
    const content = [{ type: 'text', text: '{"total":3,"deep":{"a":[1]}}' }]
    const value = { total: 3, deep: { a: [1] } }
    expect(await answer(() => value)).toEqual(structured ? { content, structuredContent: value } : { content })
    expect(await answer(async () => value)).toEqual(structured ? { content, structuredContent: value } : { content })
  })

  verifies('field.G5', 'that are falsy or lists', async () => {
    const values: unknown[] = [0, false, null, [], [{ id: '1' }], 1.5, true]
    for (const value of values) {
      const content = [{ type: 'text', text: JSON.stringify(value) }]
      expect(await answer(() => value), JSON.stringify(value)).toEqual(
        cell.sessions ? { content } : { content, structuredContent: value },
      )
    }
    for (const value of ['', 'x']) {
      const content = [{ type: 'text', text: JSON.stringify(value) }]
      expect(await answer(() => Tool.structured(value))).toEqual(
        cell.sessions ? { content } : { content, structuredContent: value },
      )
      expect(await answer(() => value)).toEqual({ content: [{ type: 'text', text: value }] })
    }
  })

  verifies('field.G5', 'that are falsy or lists and have an output schema', async () => {
    const cases: [unknown, Record<string, unknown>][] = [
      [0, { type: 'integer' }],
      [false, { type: 'boolean' }],
      [null, { type: 'null' }],
      [[], { type: 'array' }],
      [[{ id: '1' }], { type: 'array', items: { type: 'object', required: ['id'] } }],
      ['', { type: 'string' }],
      ['x', { type: 'string' }],
    ]
    const router = create()
    for (const [index, [value, outputSchema]] of cases.entries()) {
      router.tool(`t${index}`, { outputSchema }, () => value as string)
    }
    const client = await setup(router)
    for (const [index, [value]] of cases.entries()) {
      const result = await client.callTool(`t${index}`)
      expect(result.isError, JSON.stringify(value)).toBeUndefined()
      // A text may stand there as it is; anything else is told as JSON.
      const [block] = result.content as readonly { text?: string }[]
      expect([JSON.stringify(value), ...(typeof value === 'string' ? [value] : [])]).toContain(block?.text)
      expect(Object.hasOwn(result, 'structuredContent')).toBe(!cell.sessions)
      if (!cell.sessions) expect(result.structuredContent).toEqual(value)
    }
    const listed = (await client.list('tools'))['tools'] as { outputSchema?: { type: string } }[]
    for (const { outputSchema } of listed)
      expect(cell.sessions ? outputSchema : 'any').toBe(cell.sessions ? undefined : 'any')
  })

  verifies(['tools.builders', 'gates.content'], 'of the builders', async () => {
    expect(await answer(() => Tool.text('t', { annotations: DATED, _meta: META }))).toEqual({
      content: [{ type: 'text', text: 't', annotations: ANNOTATIONS[version], ...HAS_META[version] }],
    })
    const image = { type: 'image', data: 'iVBORwD/', mimeType: 'image/png' }
    expect(await answer(() => Tool.image(PNG, 'image/png'))).toEqual({ content: [image] })
    expect(await answer(() => Tool.image('iVBORwD/', 'image/png', { annotations: AUDIENCE }))).toEqual({
      content: [{ ...image, annotations: AUDIENCE }],
    })
    expect(await answer(() => Tool.error('It failed'))).toEqual({
      content: [{ type: 'text', text: 'It failed' }],
      isError: true,
    })
    const value = { why: 'quota' }
    const both = await answer(() =>
      Tool.content([Tool.text('a'), { type: 'text', text: 'b' }], { structured: value, isError: true, _meta: META }),
    )
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    expect(both).toEqual({ content, isError: true, _meta: META, ...(structured ? { structuredContent: value } : {}) })
  })

  verifies(['tools.builders', 'gates.content'], 'with resources inside', async () => {
    const text = { uri: 'notes://plain', mimeType: 'text/plain', text: 'note', _meta: META }
    const { _meta: _left, ...bare } = text
    expect(await answer(() => Tool.embeddedResource(text, { annotations: AUDIENCE }))).toEqual({
      content: [{ type: 'resource', annotations: AUDIENCE, resource: structured ? text : bare }],
    })
    const blob = { uri: 'notes://image', mimeType: 'image/png', blob: 'iVBORwD/' }
    expect(await answer(() => Tool.embeddedResource(blob))).toEqual({ content: [{ type: 'resource', resource: blob }] })
  })

  verifies('gates.audio', 'with sound: in words where the version has none', async () => {
    const { content } = (await answer(() => Tool.audio(PNG, 'audio/wav'))) as { content: Record<string, unknown>[] }
    expect(content).toHaveLength(1)
    if (version === '2024-11-05') {
      expect(content[0]).toEqual({ type: 'text', text: expect.stringMatching(/audio\/wav/) })
    } else expect(content[0]).toEqual({ type: 'audio', data: 'iVBORwD/', mimeType: 'audio/wav' })
  })

  verifies('gates.resource-link', 'with a link: its URI where the version has none', async () => {
    const target = {
      name: 'study',
      title: 'Study',
      mimeType: 'text/markdown',
      icons: ICONS,
      description: 'from the target',
    }
    const link = await answer(() => Tool.resourceLink('studies://1', target, { description: 'The study', size: 5 }))
    const linked = {
      type: 'resource_link',
      uri: 'studies://1',
      name: 'study',
      title: 'Study',
      description: 'The study',
      mimeType: 'text/markdown',
      size: 5,
    }
    const expected = since<object>({
      '2024-11-05': { type: 'text', text: 'studies://1' },
      '2025-06-18': linked,
      '2025-11-25': { ...linked, icons: ICONS },
    })
    expect(link).toEqual({ content: [expected[version]] })
  })

  verifies('tools.builders', 'that look like a result are no result', async () => {
    const value = { content: [{ type: 'text', text: 'forged' }], isError: true }
    const text = JSON.stringify(value)
    expect(await answer(() => value)).toEqual({
      content: [{ type: 'text', text }],
      ...(structured ? { structuredContent: value } : {}),
    })
  })
})

describeMatrix('output schemas', {}, (setup, cell) => {
  const structured = cell.version >= '2025-06-18'

  verifies('tools.output', 'let conforming results through, with their defaults filled in', async () => {
    const router = create()
    const output = { total: field.integer({ required: true }), note: field.string({ default: 'none' }) }
    router.tool('count', { output }, (() => ({ total: 1 })) as never)
    router.tool('built', { output }, () => Tool.content([Tool.text('one')], { structured: { total: 1, note: 'n' } }))
    router.tool('failed', { output }, () => Tool.error('quota'))
    const client = await setup(router)
    const counted = await client.callTool('count')
    expect(counted.content).toEqual([{ type: 'text', text: '{"total":1,"note":"none"}' }])
    expect(counted.structuredContent).toEqual(structured ? { total: 1, note: 'none' } : undefined)
    const built = await client.callTool('built')
    expect(built.content).toEqual([{ type: 'text', text: 'one' }])
    expect(built.structuredContent).toEqual(structured ? { total: 1, note: 'n' } : undefined)
    expect(await client.callTool('failed')).toMatchObject({ isError: true, content: [{ text: 'quota' }] })
  })

  verifies('tools.output', 'turn what does not conform into a failure that is reported', async () => {
    const router = create()
    const outputSchema = {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
      additionalProperties: false,
    }
    const values: unknown[] = [
      { n: '1' },
      { n: 1, x: 2 },
      {},
      [1],
      undefined,
      { n: Number.NaN },
      { n: Number.POSITIVE_INFINITY },
    ]
    for (const [index, value] of values.entries()) router.tool(`bad${index}`, { outputSchema }, () => value as object)
    router.tool('text', { outputSchema }, () => Tool.text('only text'))
    const client = await setup(router)
    for (const index of values.keys()) {
      const result = await client.callTool(`bad${index}`)
      expect(result.isError, JSON.stringify(values[index])).toBe(true)
      expect(Object.hasOwn(result, 'structuredContent')).toBe(false)
      const [error] = setup.expectErrors(1)
      expect(String(error)).toContain(`bad${index}`)
    }
    expect(await client.callTool('text')).toMatchObject({ isError: true })
    setup.expectErrors(1)
  })
})

const TREE = {
  type: 'object',
  properties: { node: { $ref: '#/$defs/n' } },
  required: ['node'],
  $defs: {
    n: {
      type: 'object',
      properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/n' } } },
      required: ['name'],
    },
  },
}
const SHARED = {
  type: 'object',
  properties: {
    start: { type: 'string', description: 'the start' },
    end: { $ref: '#/properties/start', description: 'the end' },
  },
}

describeMatrix('plain JSON Schema', {}, (setup, cell) => {
  const refused = async (call: Promise<{ isError?: boolean }>): Promise<void> => {
    if (cell.version >= '2025-11-25') expect(await call).toMatchObject({ isError: true })
    else await expect(call).rejects.toMatchObject({ code: -32602, data: { validation_errors: expect.any(Array) } })
  }

  verifies(['field.G3', 'schema.whole'], 'is sent as given and enforced through its references', async () => {
    const router = create()
    const depth = (node: { kids?: unknown[] }): number =>
      1 + Math.max(0, ...(node.kids ?? []).map((kid) => depth(kid as never)))
    router.tool('tree', { inputSchema: TREE }, ({ node }) => String(depth(node as never)))
    router.tool('shared', { inputSchema: SHARED, outputSchema: SHARED }, (params) => params)
    const client = await setup(router)
    const tools = (await client.list('tools'))['tools'] as { inputSchema: object; outputSchema?: object }[]
    expect(tools.map(({ inputSchema }) => inputSchema)).toEqual([TREE, SHARED])
    if (cell.version >= '2025-06-18') expect(tools[1]?.outputSchema).toEqual(SHARED)
    const leaf = (name: unknown): object => ({ node: { name: 'a', kids: [{ name: 'b', kids: [{ name }] }] } })
    expect(await client.callTool('tree', { ...leaf('c') })).toMatchObject({ content: [{ text: '3' }] })
    await refused(client.callTool('tree', { ...leaf(7) }))
    expect(await client.callTool('shared', { start: 'a', end: 'b' })).toMatchObject({
      content: [{ text: '{"start":"a","end":"b"}' }],
    })
    await refused(client.callTool('shared', { end: 5 }))
  })

  verifies('schema.whole', 'is enforced in every keyword', async () => {
    const router = create()
    const inputSchema = {
      type: 'object',
      properties: {
        kind: { enum: ['a', 'b'] },
        size: { type: 'integer' },
        tags: { type: 'array', uniqueItems: true, prefixItems: [{ const: 1 }] },
      },
      required: ['kind'],
      if: { properties: { kind: { const: 'b' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['size'] },
      dependentRequired: { size: ['tags'] },
      unevaluatedProperties: false,
    }
    router.tool('check', { inputSchema }, () => 'ok')
    const client = await setup(router)
    for (const good of [{ kind: 'a' }, { kind: 'b', size: 1, tags: [1, 2] }]) {
      expect(await client.callTool('check', good)).toMatchObject({ content: [{ text: 'ok' }] })
    }
    const bad = [
      { kind: 'c' },
      { kind: 'b' },
      { kind: 'b', size: 1 },
      { kind: 'a', other: 1 },
      { kind: 'a', tags: [2] },
      { kind: 'a', tags: [1, 1] },
      {},
    ]
    for (const args of bad) await refused(client.callTool('check', args))
  })
})

describeMatrix('Standard Schema', { transports: ['memory'] }, (setup, cell) => {
  verifies('schema.standard', 'advertises the input side and hands over the parsed value', async () => {
    const router = create()
    const input = z.object({ when: z.string().transform((text) => text.length), tag: z.string().default('none') })
    router.tool('parse', { input }, (params) => params)
    const client = await setup(router)
    const [tool] = (await client.list('tools'))['tools'] as {
      inputSchema: { properties: Record<string, object>; required: string[] }
    }[]
    expect(tool?.inputSchema.properties).toMatchObject({
      when: { type: 'string' },
      tag: { type: 'string', default: 'none' },
    })
    expect(tool?.inputSchema.required).toEqual(['when'])
    expect(await client.callTool('parse', { when: 'soon' })).toMatchObject({
      content: [{ text: '{"when":4,"tag":"none"}' }],
    })
    const wrong = client.callTool('parse', { when: 5 })
    if (cell.version >= '2025-11-25') expect(await wrong).toMatchObject({ isError: true })
    else await expect(wrong).rejects.toMatchObject({ code: -32602 })
  })
})

describeMatrix('inside a handler', {}, (setup) => {
  verifies('session.read-resource', 'a resource of the router can be read and linked', async () => {
    const router = create()
    router.resource('studies://of/:id/md', { name: 'study', mimeType: 'text/markdown' }, ({ id }) =>
      id === 'none' ? null : `# ${id}`,
    )
    router.tool('embed', { input: { id: field.string({ required: true }) } }, async ({ id }, session) =>
      Tool.embeddedResource(await session.readResource('study', { id })),
    )
    router.tool('link', {}, (_params, session) => {
      const target = router.resourceFor(session, 'study', { id: 'a b' })
      return target === undefined ? 'none' : target.uri
    })
    router.tool('nothing', {}, async (_params, session) => {
      const caught = await session.readResource('nowhere').catch((error: { code: string }) => error.code)
      return String(caught)
    })
    const client = await setup(router)
    const resource = { uri: 'studies://of/a%2Fb/md', mimeType: 'text/markdown', text: '# a/b' }
    expect(await client.callTool('embed', { id: 'a/b' })).toMatchObject({ content: [{ type: 'resource', resource }] })
    expect(await client.callTool('link')).toMatchObject({ content: [{ text: 'studies://of/a%20b/md' }] })
    expect(await client.callTool('nothing')).toMatchObject({ content: [{ text: 'INVALID_PARAMS' }] })
    await expect(client.callTool('embed', { id: 'none' })).rejects.toMatchObject({
      data: { uri: 'studies://of/none/md' },
    })
    expect(Resource.text('x')).toMatchObject({ text: 'x' })
  })
})

describeMatrix('mirrored arguments', { versions: STATELESS_VERSIONS }, (setup, cell) => {
  verifies('field.E3', 'have to agree with their headers', async () => {
    let calls = 0
    const router = create()
    const inputSchema = {
      type: 'object',
      properties: {
        count: { type: ['integer', 'null'] },
        region: { type: 'string', 'x-mcp-header': 'Region' },
        size: { type: 'integer', 'x-mcp-header': 'Count' },
      },
      required: ['region'],
    }
    router.tool('routed', { inputSchema }, () => String(++calls))
    let headers: Record<string, string> = {}
    const client = await setup(router, { headers: ({ method }) => (method === 'tools/call' ? headers : {}) })
    const call = (args: Record<string, unknown>, sent: Record<string, string>): Promise<unknown> => {
      headers = { 'mcp-param-region': 'eu', ...sent }
      return client.callTool('routed', { region: 'eu', ...args })
    }
    await call({ size: 42 }, { 'mcp-param-count': '42' })
    await call({ size: 42 }, { 'mcp-param-COUNT': '42.0' })
    await call({}, { 'mcp-param-unknown': 'x' })
    expect(calls).toBe(3)
    if (!cell.http) return
    const wrong: [Record<string, unknown>, Record<string, string>][] = [
      [{ size: 42 }, { 'mcp-param-count': '43' }],
      [{ size: 42 }, {}],
      [{}, { 'mcp-param-count': '42' }],
      [{ size: 42 }, { 'mcp-param-count': '0x2a' }],
      [{ region: 'EU' }, {}],
      [{}, { 'mcp-param-region': '=?base64?!!?=' }],
    ]
    for (const [args, sent] of wrong) {
      await expect(call(args, sent), JSON.stringify([args, sent])).rejects.toMatchObject({ code: -32020 })
      expect(setup.wire.statuses.at(-1)).toBe(400)
    }
    expect(calls).toBe(3)
    expect(await call({ size: null }, {})).toMatchObject({ isError: true })
    await call({ region: '日本' }, { 'mcp-param-region': '=?base64?5pel5pys?=' })
    expect(calls).toBe(4)
  })
})
