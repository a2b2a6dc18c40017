import { field, McpError, Tool } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { argumentErrors, createCatalogue, entriesOf, textOf } from './_catalogue.js'

const ICONS = [
  { src: 'https://example.com/tool.svg', mimeType: 'image/svg+xml', sizes: ['any'], theme: 'dark' as const },
]

describeMatrix('the list of tools', {}, (setup, { version }) => {
  test('tells title, _meta, icons and hints, as far as the version knows them', async () => {
    const router = createCatalogue()
    router.tool('plain', {}, () => 'ok')
    router.tool(
      'titled',
      { title: 'A title', description: 'Says.', icons: ICONS, _meta: { 'example.com/k': [1] } },
      () => 'ok',
    )
    const all = { readOnly: false, destructive: true, idempotent: false, openWorld: true } as const
    router.tool('hinted', all, () => 'ok')
    router.tool('safe', { readOnly: true }, () => 'ok')
    router.tool('once', { idempotent: true, destructive: false, openWorld: false }, () => 'ok')
    const inputSchema = { type: 'object', properties: {} }
    const hints = (annotations: object): object => (version === '2024-11-05' ? {} : { annotations })
    expect(await entriesOf(await setup(router), 'tools')).toEqual([
      { name: 'plain', inputSchema },
      {
        name: 'titled',
        description: 'Says.',
        inputSchema,
        ...(version >= '2025-06-18' ? { title: 'A title', _meta: { 'example.com/k': [1] } } : {}),
        ...(version >= '2025-11-25' ? { icons: ICONS } : {}),
      },
      {
        name: 'hinted',
        inputSchema,
        ...hints({ readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }),
      },
      { name: 'safe', inputSchema, ...hints({ readOnlyHint: true }) },
      { name: 'once', inputSchema, ...hints({ idempotentHint: true, destructiveHint: false, openWorldHint: false }) },
    ])
  })

  test('advertises the fields of the README', async () => {
    const router = createCatalogue()
    const input = {
      query: field.string({ required: true, description: 'What to look for' }),
      limit: field.integer({ default: 10, maximum: 100 }),
      status: field.string({ in: ['draft', 'active', 'archived'] }),
      tags: field.array(field.string({ minLength: 1 }), { maxLength: 3, uniqueItems: true }),
      filters: field.map({ category: field.string({ title: 'Category' }), min_price: field.number({ minimum: 0 }) }),
      note: field.string({ nullable: true, exclusion: ['secret'] }),
      id: field.union(field.integer({ greaterThan: 0 }), field.string({ length: 2, pattern: '^[a-z]+$' })),
    }
    router.tool(
      'search_studies',
      { input, output: { total: field.integer({ required: true }), note: field.string() } },
      () => ({
        total: 1,
      }),
    )
    const [tool] = await entriesOf(await setup(router), 'tools')
    expect(tool?.['inputSchema']).toEqual({
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for' },
        limit: { type: 'integer', maximum: 100, default: 10 },
        status: { type: 'string', enum: ['draft', 'active', 'archived'] },
        tags: { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 3, uniqueItems: true },
        filters: {
          type: 'object',
          properties: { category: { type: 'string', title: 'Category' }, min_price: { type: 'number', minimum: 0 } },
        },
        note: { type: ['string', 'null'] },
        id: {
          anyOf: [
            { type: 'integer', exclusiveMinimum: 0 },
            { type: 'string', minLength: 2, maxLength: 2, pattern: '^[a-z]+$' },
          ],
        },
      },
      required: ['query'],
    })
    expect(tool?.['outputSchema']).toEqual(
      version >= '2025-06-18'
        ? { type: 'object', properties: { total: { type: 'integer' }, note: { type: 'string' } }, required: ['total'] }
        : undefined,
    )
  })
})

describeMatrix('arguments of a tool with fields', {}, (setup) => {
  test('get their defaults, also those inside, and keep what nobody declared', async () => {
    const router = createCatalogue()
    const received: unknown[] = []
    const input = {
      query: field.string({ required: true }),
      limit: field.integer({ default: 10 }),
      exact: field.boolean({ default: false }),
      filters: field.map({ page: field.integer({ default: 1 }), category: field.string() }),
      sort: field.map({ by: field.string({ default: 'name' }) }, { default: {} }),
      tags: field.array(field.map({ weight: field.number({ default: 0.5 }) })),
    }
    router.tool('search', { input }, (params) => {
      received.push(structuredClone(params))
      params.sort.by = 'changed by the handler'
      return 'ok'
    })
    const client = await setup(router)
    await client.callTool('search', { query: 'x' })
    await client.callTool('search', {
      query: 'x',
      limit: 0,
      exact: true,
      filters: {},
      tags: [{}, { weight: 1 }],
      more: [null],
    })
    expect(received).toEqual([
      { query: 'x', limit: 10, exact: false, sort: { by: 'name' } },
      {
        query: 'x',
        limit: 0,
        exact: true,
        filters: { page: 1 },
        sort: { by: 'name' },
        tags: [{ weight: 0.5 }, { weight: 1 }],
        more: [null],
      },
    ])
  })

  test('are refused with every error, in the order of declaration, each with its path', async () => {
    const router = createCatalogue()
    let calls = 0
    const input = {
      query: field.string({ required: true }),
      limit: field.integer({ maximum: 100 }),
      status: field.string({ in: ['draft', 'active'] }),
      tags: field.array(field.string({ maxLength: 2 })),
      filters: field.map({
        min_price: field.number({ minimum: 0 }),
        deep: field.map({ on: field.boolean({ required: true }) }),
      }),
      slug: field.string({ pattern: '^[a-z]+$', message: 'must be a slug' }),
    }
    router.tool('search', { input }, () => String(++calls))
    const client = await setup(router)
    const wrong = {
      slug: 'A!',
      filters: { deep: {}, min_price: -1 },
      tags: ['ok', 5, 'long', '🧭🧭'],
      status: 'gone',
      limit: 101,
    }
    expect(await argumentErrors(client.callTool('search', wrong))).toEqual([
      'query is required',
      'limit must be at most 100',
      'status must be one of "draft", "active"',
      'tags[1] must be a string, not 5',
      'tags[2] must have at most 2 characters',
      'filters.min_price must be at least 0',
      'filters.deep.on is required',
      'slug must be a slug',
    ])
    expect(await argumentErrors(client.callTool('search', { query: null, limit: 1.5, filters: [] }))).toEqual([
      'query must be a string, not null',
      'limit must be an integer, not 1.5',
      'filters must be an object, not a list',
    ])
    expect(calls).toBe(0)
    expect(textOf(await client.callTool('search', { query: '', limit: 1.0 }))).toBe('1')
  })

  test('are checked by functions of the application, at once or later, and still told in order', async () => {
    const router = createCatalogue()
    const taken = async (value: string): Promise<string | true> => {
      for (let turn = 0; turn < (value === 'slow' ? 20 : 1); turn++) await Promise.resolve()
      return value === 'free' ? true : `is taken: ${value}`
    }
    const input = {
      first: field.string({ required: true, validate: taken }),
      second: field.integer({ validate: (value) => value % 2 === 0 || 'must be even' }),
      third: field.string({ validate: taken }),
      list: field.array(field.string({ validate: taken })),
      inside: field.map({ name: field.string({ validate: async (value) => value !== 'no' }) }),
    }
    router.tool('reserve', { input }, ({ first }) => `reserved ${first}`)
    const client = await setup(router)
    const wrong = { first: 'slow', second: 3, third: 'quick', list: ['free', 'slow', 'quick'], inside: { name: 'no' } }
    expect(await argumentErrors(client.callTool('reserve', wrong))).toEqual([
      'first is taken: slow',
      'second must be even',
      'third is taken: quick',
      'list[1] is taken: slow',
      'list[2] is taken: quick',
      'inside.name is not valid',
    ])
    const right = { first: 'free', second: 2, third: 'free', list: ['free'], inside: { name: 'yes' } }
    expect(textOf(await client.callTool('reserve', right))).toBe('reserved free')
  })

  test('cost their own call only when the check itself fails', async () => {
    const router = createCatalogue()
    const fail = (value: string): boolean => {
      if (value === 'throw') throw new Error('database gone')
      return true
    }
    router.tool('sync', { input: { id: field.string({ validate: fail }) } }, () => 'ok')
    router.tool('async', { input: { id: field.string({ validate: async (value) => fail(value) }) } }, () => 'ok')
    const client = await setup(router)
    for (const name of ['sync', 'async']) {
      await expect(client.callTool(name, { id: 'throw' })).rejects.toMatchObject({
        code: -32603,
        message: 'Internal error',
      })
      expect(setup.expectErrors(1)).toMatchObject([{ message: 'database gone' }])
      expect(textOf(await client.callTool(name, { id: 'fine' }))).toBe('ok')
    }
  })
})

describeMatrix('what a tool returns', {}, (setup, { version, sessions }) => {
  const structured = (value: unknown): object => {
    if (version < '2025-06-18') return {}
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject || !sessions ? { structuredContent: value } : {}
  }
  const own = (result: object): object => {
    const { _meta: _left, resultType: _type, ...rest } = result as Record<string, unknown>
    return rest
  }

  test('is text for a string, nothing for undefined, and JSON for the rest', async () => {
    const router = createCatalogue()
    let next: unknown
    router.tool('give', {}, () => next as string)
    const client = await setup(router)
    const answer = async (value: unknown): Promise<object> => {
      next = value
      return own(await client.callTool('give'))
    }
    expect(await answer('plain')).toEqual({ content: [{ type: 'text', text: 'plain' }] })
    expect(await answer(undefined)).toEqual({ content: [] })
    for (const [value, text] of [
      [{ total: 1 }, '{"total":1}'],
      [[1, 'a', null], '[1,"a",null]'],
      [4.5, '4.5'],
      [false, 'false'],
      [null, 'null'],
    ] as const) {
      expect(await answer(value), text).toEqual({ content: [{ type: 'text', text }], ...structured(value) })
    }
  })

  test('is not taken for a result because it looks like one', async () => {
    const router = createCatalogue()
    const value = { content: [{ type: 'text', text: 'mine' }], isError: true, resultType: 'input_required' }
    router.tool('lookalike', {}, () => value)
    const result = await (await setup(router)).callTool('lookalike')
    expect(result.isError).toBeUndefined()
    expect(own(result)).toEqual({ content: [{ type: 'text', text: JSON.stringify(value) }], ...structured(value) })
  })

  test('is checked against its output, and not sent when it does not fit', async () => {
    const router = createCatalogue()
    let next: unknown
    const output = { total: field.integer({ required: true, minimum: 0 }), notes: field.array(field.string()) }
    router.tool('count', { output }, () => next as { total: number })
    const client = await setup(router)
    const wrong: [unknown, string][] = [
      [{}, 'total is required'],
      [{ total: -1 }, 'total must be at least 0'],
      [{ total: '3' }, 'total must be an integer, not a string'],
      [{ total: 1, notes: ['a', 2] }, 'notes[1] must be a string, not 2'],
      [{ total: Number.NaN }, 'total must be an integer'],
      ['plain text', 'result must be an object'],
      [undefined, 'result must be an object'],
      [null, 'result must be an object, not null'],
    ]
    for (const [value, why] of wrong) {
      next = value
      const result = await client.callTool('count')
      expect(result.isError, why).toBe(true)
      expect(textOf(result)).toContain(why)
      expect(Object.hasOwn(result, 'structuredContent')).toBe(false)
      expect(setup.expectErrors(1)[0]).toBeInstanceOf(TypeError)
    }
    next = { total: 2, notes: [], more: true }
    expect(own(await client.callTool('count'))).toEqual({
      content: [{ type: 'text', text: '{"total":2,"notes":[],"more":true}' }],
      ...structured(next),
    })
  })

  test('may be a failure, or a result with structured content, where an output is declared', async () => {
    const router = createCatalogue()
    const output = { total: field.integer({ required: true }), by: field.string({ default: 'size' }) }
    router.tool('fails', { output }, () => Tool.error('no studies'))
    router.tool('built', { output }, () => Tool.structured({ total: 1, by: 'name' }))
    router.tool('blocks', { output }, () => Tool.content([Tool.text('Two.')], { structured: { total: 2, by: 'name' } }))
    router.tool('filled', { output }, () => ({ total: 3 }) as { total: number; by: string })
    router.tool('bare', { output }, () => Tool.text('nothing structured'))
    const client = await setup(router)
    expect(own(await client.callTool('fails'))).toEqual({
      content: [{ type: 'text', text: 'no studies' }],
      isError: true,
    })
    expect(own(await client.callTool('built'))).toEqual({
      content: [{ type: 'text', text: '{"total":1,"by":"name"}' }],
      ...structured({ total: 1, by: 'name' }),
    })
    expect(own(await client.callTool('blocks'))).toEqual({
      content: [{ type: 'text', text: 'Two.' }],
      ...structured({ total: 2, by: 'name' }),
    })
    expect(own(await client.callTool('filled'))).toEqual({
      content: [{ type: 'text', text: '{"total":3,"by":"size"}' }],
      ...structured({ total: 3, by: 'size' }),
    })
    expect(await client.callTool('bare')).toMatchObject({ isError: true })
    setup.expectErrors(1)
  })

  test('is an error of the protocol when the handler throws one', async () => {
    const router = createCatalogue()
    router.tool('stop', { output: { total: field.integer({ required: true }) } }, () => {
      throw new McpError('INVALID_PARAMS', 'The study is archived', { data: { study: 7 } })
    })
    await expect((await setup(router)).callTool('stop')).rejects.toMatchObject({
      code: -32602,
      message: 'The study is archived',
      data: { study: 7 },
    })
  })
})

const cycle: Record<string, unknown> = { name: 'cycle' }
cycle['self'] = cycle
const HOSTILE: readonly (readonly [string, () => unknown])[] = [
  ['an object that holds itself', () => cycle],
  ['a bigint', () => 10n],
  ['a bigint inside', () => ({ n: 10n })],
  ['a function', () => () => 1],
  ['a symbol', () => Symbol('x')],
  [
    'a toJSON that throws',
    () => ({
      toJSON: () => {
        throw new Error('no JSON at /srv/app.js')
      },
    }),
  ],
]

describeMatrix('results that JSON cannot hold (P4)', {}, (setup, { sessions }) => {
  test('cost their own call, without a path or a stack', async () => {
    const router = createCatalogue()
    for (const [index, [, make]] of HOSTILE.entries()) router.tool(`val${index}`, {}, make as () => string)
    router.tool('plain', {}, () => 'still here')
    const client = await setup(router)
    for (const [index, [title]] of HOSTILE.entries()) {
      const failure = await client.callTool(`val${index}`).then(
        (result) => ({ isError: result.isError, text: textOf(result) }),
        (error: { code: number; message: string; data: unknown }) => error,
      )
      if ('code' in failure)
        expect(failure, title).toMatchObject({ code: -32603, message: 'Internal error', data: undefined })
      else expect(failure, title).toMatchObject({ isError: true, text: expect.not.stringMatching(/\/srv|\bat /) })
      setup.expectErrors(1)
      expect(textOf(await client.callTool('plain'))).toBe('still here')
    }
  })

  test('are never a null that says it is a number', async () => {
    const router = createCatalogue()
    const number = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    for (const [name, n] of [
      ['nan', Number.NaN],
      ['infinity', Number.POSITIVE_INFINITY],
    ] as const) {
      router.tool(`free-${name}`, {}, () => ({ n }))
      router.tool(`fields-${name}`, { output: { n: field.number({ required: true }) } }, () => ({ n }))
      router.tool(`json-${name}`, { outputSchema: number }, () => ({ n }))
    }
    const client = await setup(router)
    for (const name of ['nan', 'infinity']) {
      const free = await client.callTool(`free-${name}`)
      expect(textOf(free)).toBe('{"n":null}')
      if (!sessions) expect(free.structuredContent).toEqual({ n: null })
      for (const kind of ['fields', 'json']) {
        const result = await client.callTool(`${kind}-${name}`)
        expect(result.isError, kind).toBe(true)
        expect(Object.hasOwn(result, 'structuredContent')).toBe(false)
        setup.expectErrors(1)
      }
    }
  })

  test('and what is thrown instead tells nothing', async () => {
    const router = createCatalogue()
    const thrown: unknown[] = [
      undefined,
      'no entry in /etc/app.conf',
      Object.assign(new Error('at /srv/app.js'), { stack: 'x'.repeat(9000) }),
      null,
      5,
    ]
    for (const [index, value] of thrown.entries()) {
      router.tool(`throw${index}`, {}, () => {
        throw value
      })
      router.tool(`reject${index}`, {}, () => Promise.reject(value))
    }
    const client = await setup(router)
    for (const [index, value] of thrown.entries()) {
      for (const name of ['throw', 'reject']) {
        const asked = client.callTool(`${name}${index}`)
        await expect(asked, `${name} ${String(value)}`).rejects.toMatchObject({
          code: -32603,
          message: 'Internal error',
          data: undefined,
        })
        expect(setup.expectErrors(1)).toEqual([value])
      }
    }
  })
})

describe('mistakes in a tool', () => {
  test('name the tool and the option', () => {
    const router = createCatalogue()
    const tool = router.tool as unknown as (...args: unknown[]) => unknown
    const ok = (): string => 'ok'
    for (const [options, ...words] of [
      [{ timeoutMs: 0 }, 'timeoutMs'],
      [{ timeoutMs: 1.5 }, 'timeoutMs'],
      [{ maxConcurrency: -1 }, 'maxConcurrency'],
      [{ maxConcurrency: '2' }, 'maxConcurrency'],
      [{ middleware: [5] }, 'middleware'],
      [{ readonly: true }, 'readonly'],
      [{ input: { a: 'string' } }, 'a', 'field'],
      [{ output: { type: 'object' } }, 'outputSchema'],
    ] as const) {
      const run = (): unknown => tool('greet', options, ok)
      expect(run, JSON.stringify(options)).toThrow(TypeError)
      for (const word of ["tool 'greet'", ...words]) expect(run, JSON.stringify(options)).toThrow(word)
    }
    // Nothing of the mistakes stayed.
    expect(tool('greet', {}, ok)).toMatchObject({ name: 'greet' })
  })

  test('are found where a hint is no boolean', () => {
    const tool = createCatalogue().tool as unknown as (...args: unknown[]) => unknown
    expect(() => tool('greet', { readOnly: 'yes' }, () => 'ok')).toThrow(/tool 'greet'.*readOnly/)
  })
})
