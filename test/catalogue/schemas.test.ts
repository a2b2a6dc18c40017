import { field, Tool } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { describeMatrix } from '../_setup.js'
import { argumentErrors, createCatalogue, entriesOf, textOf } from './_catalogue.js'

const DRAFT_2020_12 = 'https://json-schema.org/draft/2020-12/schema'
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'

describeMatrix('a Standard Schema', {}, (setup, { version, sessions }) => {
  test('as input is advertised as what goes in, and gives the handler what comes out', async () => {
    const router = createCatalogue()
    const received: unknown[] = []
    const input = z.object({
      day: z.string().transform((text) => text.length),
      limit: z.number().int().max(50).default(10),
      kind: z.enum(['a', 'b']).optional(),
      nested: z.object({ tags: z.array(z.string().min(2)) }).optional(),
    })
    router.tool('plan', { input }, (params) => {
      received.push(params)
      return params.day.toFixed(1) + params.limit.toFixed(1)
    })
    const client = await setup(router)
    const [tool] = await entriesOf(client, 'tools')
    expect(tool?.['inputSchema']).toMatchObject({
      type: 'object',
      properties: {
        day: { type: 'string' },
        limit: { type: 'integer', maximum: 50, default: 10 },
        kind: { type: 'string', enum: ['a', 'b'] },
        nested: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string', minLength: 2 } } } },
      },
      required: ['day'],
    })
    expect(textOf(await client.callTool('plan', { day: 'Monday' }))).toBe('6.010.0')
    expect(textOf(await client.callTool('plan', { day: '', limit: 5, kind: 'b', unknown: 1 }))).toBe('0.05.0')
    expect(received).toEqual([
      { day: 6, limit: 10 },
      { day: 0, limit: 5, kind: 'b' },
    ])
    const errors = await argumentErrors(client.callTool('plan', { day: 5, kind: 'c', nested: { tags: ['ok', 'x'] } }))
    expect(errors.map((error) => error.slice(0, error.indexOf(':')))).toEqual(['day', 'kind', 'nested.tags[1]'])
    expect(received).toHaveLength(2)
  })

  test('as input may check later', async () => {
    const router = createCatalogue()
    const free = z.string().refine(async (value) => value === 'free', 'is taken')
    router.tool('reserve', { input: z.object({ seat: free }) }, ({ seat }) => seat)
    const client = await setup(router)
    expect(textOf(await client.callTool('reserve', { seat: 'free' }))).toBe('free')
    expect(await argumentErrors(client.callTool('reserve', { seat: '4a' }))).toEqual(['seat: is taken'])
  })

  test('as output takes what goes in, and sends what comes out', async () => {
    const router = createCatalogue()
    const output = z.object({ total: z.number().min(0), unit: z.string().default('EUR') })
    let next: unknown
    router.tool('price', { output }, () => next as { total: number })
    const client = await setup(router)
    const [tool] = await entriesOf(client, 'tools')
    if (version >= '2025-06-18') {
      expect(tool?.['outputSchema']).toMatchObject({
        type: 'object',
        properties: { total: { type: 'number', minimum: 0 }, unit: { type: 'string' } },
        required: ['total', 'unit'],
      })
    }
    next = { total: 4 }
    const result = await client.callTool('price')
    expect(textOf(result)).toBe('{"total":4,"unit":"EUR"}')
    if (version >= '2025-06-18') expect(result.structuredContent).toEqual({ total: 4, unit: 'EUR' })
    next = { total: -4 }
    const wrong = await client.callTool('price')
    expect(wrong.isError).toBe(true)
    expect(textOf(wrong)).toContain('total')
    setup.expectErrors(1)
  })

  test('as output may describe a text, which is structured content like every other value', async () => {
    const router = createCatalogue()
    router.tool('word', { output: z.string().min(1) }, () => 'tea')
    router.tool('empty', { outputSchema: { type: 'string' } }, () => '')
    router.tool('none', { output: z.string().min(1) }, () => '')
    const client = await setup(router)
    for (const [name, value] of [
      ['word', 'tea'],
      ['empty', ''],
    ] as const) {
      const result = await client.callTool(name)
      expect(result.isError, name).toBeUndefined()
      expect([value, JSON.stringify(value)]).toContain(textOf(result))
      if (!sessions) expect(result.structuredContent).toBe(value)
    }
    expect((await client.callTool('none')).isError).toBe(true)
    setup.expectErrors(1)
  })

  test('inside of a field is checked and parsed where it stands', async () => {
    const router = createCatalogue()
    const year = z
      .string()
      .regex(/^\d{4}$/)
      .transform(Number)
    const input = {
      range: field.map({ from: field.schema(year, { required: true }) }),
      all: field.array(field.schema(year)),
    }
    router.tool('years', { input }, (params) => JSON.stringify(params))
    const client = await setup(router)
    expect(textOf(await client.callTool('years', { range: { from: '1999' }, all: ['2000'] }))).toBe(
      '{"range":{"from":1999},"all":[2000]}',
    )
    const errors = await argumentErrors(client.callTool('years', { range: { from: 'x' }, all: ['2000', 'y'] }))
    expect(errors.map((error) => error.split(':')[0])).toEqual(['range.from', 'all[1]'])
  })
})

const ORDER = {
  type: 'object',
  properties: {
    ship: { oneOf: [{ const: 'none' }, { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }] },
    country: { enum: ['DE', 'NL'] },
    zip: { type: 'string' },
    when: { type: 'string', format: 'date' },
    mail: { type: 'string', format: 'email' },
    size: { prefixItems: [{ type: 'integer' }, { type: 'string' }], items: false },
    amount: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5, default: 1 },
    labels: { type: 'array', uniqueItems: true, contains: { const: 'sale' }, maxContains: 1 },
  },
  required: ['country'],
  if: { properties: { country: { const: 'DE' } } },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { properties: { zip: { pattern: '^[0-9]{5}$' } }, required: ['zip'] },
  else: { properties: { zip: { pattern: '^[0-9]{4} [A-Z]{2}$' } } },
  dependentRequired: { mail: ['when'] },
  unevaluatedProperties: false,
} as const

describeMatrix('a plain JSON Schema', {}, (setup, { version }) => {
  test('is sent as it was given', async () => {
    const router = createCatalogue()
    const inputSchema = { ...ORDER, title: 'Order', $comment: 'kept', 'x-own': { deep: [1, null] } }
    router.tool('order', { inputSchema }, () => 'ok')
    router.tool('named', { inputSchema: { $schema: DRAFT_2020_12, ...ORDER } }, () => 'ok')
    const [order, named] = await entriesOf(await setup(router), 'tools')
    expect(order?.['inputSchema']).toEqual(inputSchema)
    expect(named?.['inputSchema']).toEqual(version >= '2025-11-25' ? { $schema: DRAFT_2020_12, ...ORDER } : ORDER)
  })

  test('is enforced whole', async () => {
    const router = createCatalogue()
    const received: unknown[] = []
    router.tool('order', { inputSchema: ORDER }, (params) => {
      received.push(params)
      return 'ok'
    })
    const client = await setup(router)
    const right: object[] = [
      { country: 'DE', zip: '10115' },
      { country: 'NL' },
      { country: 'NL', zip: '1012 AB', ship: 'none' },
      { country: 'NL', ship: { to: 'x' }, size: [1, 'a'], amount: 1.5, labels: ['sale', 'b'] },
      { country: 'NL', mail: 'a@example.com', when: '2026-02-28' },
    ]
    for (const value of right) expect(textOf(await client.callTool('order', { ...value }))).toBe('ok')
    // Nothing is filled in: what a plain schema calls a default is only told.
    expect(received).toEqual(right)
    const wrong: object[] = [
      {},
      { country: 'FR' },
      { country: 'DE' },
      { country: 'DE', zip: '1012 AB' },
      { country: 'NL', zip: '10115' },
      { country: 'NL', ship: 'other' },
      { country: 'NL', ship: {} },
      { country: 'NL', size: [1, 'a', 2] },
      { country: 'NL', size: ['a'] },
      { country: 'NL', amount: 0 },
      { country: 'NL', amount: 0.7 },
      { country: 'NL', labels: ['sale', 'sale'] },
      { country: 'NL', labels: ['b'] },
      { country: 'NL', when: '2026-02-30' },
      { country: 'NL', mail: 'a@example.com' },
      { country: 'NL', mail: 'nobody', when: '2026-02-28' },
      { country: 'NL', more: 1 },
    ]
    for (const value of wrong) {
      const errors = await argumentErrors(client.callTool('order', { ...value }))
      expect(errors.length, JSON.stringify(value)).toBeGreaterThan(0)
      for (const error of errors) expect(error, JSON.stringify(value)).toMatch(/^\S.+\S$/)
    }
    expect(received).toHaveLength(right.length)
  })

  test('names the place of each error', async () => {
    const router = createCatalogue()
    const item = {
      type: 'object',
      properties: { price: { type: 'number', minimum: 0 }, 'odd key': { type: 'null' } },
      required: ['price'],
    }
    const inputSchema = { type: 'object', properties: { items: { type: 'array', items: item } }, required: ['user'] }
    router.tool('order', { inputSchema }, () => 'ok')
    const client = await setup(router)
    const errors = await argumentErrors(
      client.callTool('order', { items: [{ price: 1 }, { price: -1 }, {}, { price: 1, 'odd key': 5 }] }),
    )
    expect([...errors].sort()).toEqual([
      'items[1].price must be at least 0',
      'items[2].price is required',
      'items[3]["odd key"] must be null, not 5',
      'user is required',
    ])
  })

  test('of draft-07 is read by the rules of draft-07', async () => {
    const router = createCatalogue()
    const inputSchema = {
      $schema: DRAFT_07,
      type: 'object',
      definitions: { id: { $id: '#id', type: 'integer' } },
      properties: {
        pair: { type: 'array', items: [{ $ref: '#/definitions/id' }, { type: 'string' }], additionalItems: false },
        other: { $ref: '#id', minimum: 100 },
      },
      dependencies: { other: ['pair'] },
    }
    router.tool('old', { inputSchema }, () => 'ok')
    const client = await setup(router)
    const [tool] = await entriesOf(client, 'tools')
    const { $schema: _left, ...bare } = inputSchema
    expect(tool?.['inputSchema']).toEqual(version >= '2025-11-25' ? inputSchema : bare)
    expect(textOf(await client.callTool('old', { pair: [1, 'a'] }))).toBe('ok')
    // Beside $ref draft-07 reads nothing, so that `minimum` does not count.
    expect(textOf(await client.callTool('old', { pair: [1], other: 5 }))).toBe('ok')
    for (const args of [{ pair: ['a', 'b'] }, { pair: [1, 'a', 2] }, { other: 5 }, { pair: [1], other: 'x' }]) {
      expect((await argumentErrors(client.callTool('old', args))).length, JSON.stringify(args)).toBeGreaterThan(0)
    }
  })

  test('as output is enforced too', async () => {
    const router = createCatalogue()
    let next: unknown
    const outputSchema = {
      type: 'object',
      properties: { total: { type: 'integer' } },
      required: ['total'],
      additionalProperties: false,
    }
    router.tool('count', { outputSchema }, () => next as object)
    const client = await setup(router)
    next = { total: 3 }
    expect(textOf(await client.callTool('count'))).toBe('{"total":3}')
    for (next of [{ total: 'x' }, {}, { total: 1, more: 2 }, [], undefined, Tool.text('3')]) {
      const result = await client.callTool('count')
      expect(result.isError, JSON.stringify(next)).toBe(true)
      setup.expectErrors(1)
    }
  })
})

const TREE = {
  type: 'object',
  properties: { node: { $ref: '#/$defs/node', description: 'beside the reference' } },
  required: ['node'],
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
    },
  },
} as const
const SHARED = {
  type: 'object',
  properties: { start: { type: 'string', format: 'date' }, end: { $ref: '#/properties/start' } },
} as const

interface Node {
  readonly name: unknown
  readonly kids?: readonly Node[]
}
const depthOf = ({ kids = [] }: Node): number => 1 + Math.max(0, ...kids.map(depthOf))
const nodeOf = (name: unknown): Node => ({ name: 'a', kids: [{ name: 'b', kids: [{ name } as Node] }] })

/** Local references of a schema, and where each leads. */
function referencesOf(root: Record<string, unknown>): [string, unknown][] {
  const found: [string, unknown][] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { $ref } = value as { $ref?: unknown }
    if (typeof $ref === 'string') {
      const steps = $ref.split('/').slice(1)
      found.push([$ref, steps.reduce((at: unknown, step) => (at as Record<string, unknown> | undefined)?.[step], root)])
    }
    for (const inner of Object.values(value)) walk(inner)
  }
  walk(root)
  return found
}

describeMatrix('recursive and shared parts (G3)', {}, (setup, { version }) => {
  test('stay in the listed schemas, where every reference resolves', async () => {
    const router = createCatalogue()
    router.tool('tree', { inputSchema: TREE, outputSchema: TREE }, (params) => params)
    router.tool('shared', { inputSchema: SHARED }, () => 'ok')
    const client = await setup(router)
    const started = performance.now()
    const [tree, shared] = await entriesOf(client, 'tools')
    expect(performance.now() - started).toBeLessThan(1000)
    expect(tree?.['inputSchema']).toEqual(TREE)
    expect(tree?.['outputSchema']).toEqual(version >= '2025-06-18' ? TREE : undefined)
    expect(shared?.['inputSchema']).toEqual(SHARED)
    for (const schema of [tree?.['inputSchema'], shared?.['inputSchema']]) {
      const references = referencesOf(schema as Record<string, unknown>)
      expect(references.length).toBeGreaterThan(0)
      for (const [reference, target] of references) expect(target, reference).toBeTypeOf('object')
    }
  })

  test('are enforced at every depth, on the way in and on the way out', async () => {
    const router = createCatalogue()
    router.tool('tree', { inputSchema: TREE }, (params) => String(depthOf(params['node'] as Node)))
    router.tool('grow', { inputSchema: { type: 'object' }, outputSchema: TREE }, (params) => ({
      node: nodeOf(params['name']),
    }))
    router.tool('shared', { inputSchema: SHARED }, () => 'ok')
    const client = await setup(router)
    expect(textOf(await client.callTool('tree', { node: nodeOf('c') }))).toBe('3')
    expect(await argumentErrors(client.callTool('tree', { node: nodeOf(7) }))).toEqual([
      'node.kids[0].kids[0].name must be a string, not 7',
    ])
    expect(textOf(await client.callTool('grow', { name: 'c' }))).toBe(
      '{"node":{"name":"a","kids":[{"name":"b","kids":[{"name":"c"}]}]}}',
    )
    expect((await client.callTool('grow', { name: 7 })).isError).toBe(true)
    setup.expectErrors(1)
    expect(textOf(await client.callTool('shared', { end: '2026-01-01' }))).toBe('ok')
    expect(await argumentErrors(client.callTool('shared', { end: 'soon' }))).toEqual(['end must be a valid date'])
  })

  test('of a Standard Schema are recursive as well', async () => {
    const router = createCatalogue()
    const node = z.object({
      name: z.string(),
      get kids() {
        return z.array(node).optional()
      },
    })
    router.tool('tree', { input: z.object({ node }), output: z.object({ node }) }, ({ node }) => ({ node }))
    const client = await setup(router)
    const [tree] = await entriesOf(client, 'tools')
    for (const [reference, target] of referencesOf(tree?.['inputSchema'] as Record<string, unknown>)) {
      expect(target, reference).toBeTypeOf('object')
    }
    expect(textOf(await client.callTool('tree', { node: nodeOf('c') }))).toBe(
      '{"node":{"name":"a","kids":[{"name":"b","kids":[{"name":"c"}]}]}}',
    )
    const [error] = await argumentErrors(client.callTool('tree', { node: nodeOf(7) }))
    expect(error).toMatch(/^node\.kids\[0\]\.kids\[0\]\.name: /)
  })
})

describe('a schema that cannot be had', () => {
  const register = (options: object) => () =>
    (createCatalogue().tool as unknown as (...args: unknown[]) => unknown)('greet', options, () => 'ok')

  test('is one of another dialect, refused with the name of the tool', () => {
    for (const $schema of [
      'http://json-schema.org/draft-04/schema#',
      'http://json-schema.org/draft-06/schema#',
      'https://json-schema.org/draft/2019-09/schema',
      'https://example.com/my-dialect',
      5,
    ]) {
      for (const side of ['inputSchema', 'outputSchema']) {
        const run = register({ [side]: { $schema, type: 'object' } })
        expect(run, String($schema)).toThrow(TypeError)
        expect(run).toThrow("tool 'greet'")
        expect(run).toThrow(JSON.stringify($schema))
        expect(run).toThrow('2020-12')
      }
    }
    for (const $schema of [DRAFT_2020_12, `${DRAFT_2020_12}#`, DRAFT_07, 'http://json-schema.org/draft-07/schema']) {
      expect(register({ inputSchema: { $schema, type: 'object' } })).not.toThrow()
    }
  })

  test('is one that refers to somewhere else, or to nothing', () => {
    for (const $ref of ['https://example.com/s.json', 'other.json', '#/$defs/none', '#none', 'file:///etc/passwd']) {
      const run = register({ inputSchema: { type: 'object', properties: { a: { $ref } } } })
      expect(run, $ref).toThrow(TypeError)
      expect(run).toThrow("tool 'greet'")
      expect(run).toThrow($ref)
    }
  })

  test('is one that is too deep or too large', () => {
    let deep: object = { type: 'string' }
    for (let level = 0; level < 100; level++) deep = { type: 'array', items: deep }
    const large = { anyOf: Array.from({ length: 5000 }, (_, index) => ({ const: index, type: 'integer' })) }
    for (const schema of [deep, large]) {
      const run = register({ inputSchema: { type: 'object', properties: { a: schema } } })
      expect(run).toThrow(TypeError)
      expect(run).toThrow(/tool 'greet'.*(64|4096)/)
    }
  })

  test('is an output whose transform has no JSON Schema, and a schema without a converter', () => {
    const transformed = register({ output: z.object({ day: z.string().transform((text) => new Date(text)) }) })
    expect(transformed).toThrow(TypeError)
    expect(transformed).toThrow(/tool 'greet' output.*transform/)
    expect(
      register({
        output: z.object({
          day: z
            .string()
            .transform((text) => text.length)
            .pipe(z.number()),
        }),
      }),
    ).not.toThrow()
    const bare = { '~standard': { version: 1, vendor: 'valibot', validate: (value: unknown) => ({ value }) } }
    expect(register({ input: bare })).toThrow(TypeError)
    expect(register({ input: bare })).toThrow(/tool 'greet'.*toStandardJsonSchema/)
  })
})
