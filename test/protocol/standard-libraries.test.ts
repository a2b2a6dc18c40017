import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { createRouter, field, type Router } from 'phantom-mcp'
import { connect, RpcError, type TestClient } from 'phantom-mcp/testing'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { describeMatrix, type Version, verifies } from '../_setup.js'
import { argumentErrors, entriesOf, textOf } from '../catalogue/_catalogue.js'

// What valibot and arktype give, in their own words: their JSON Schemas, their messages, their types. That zod, valibot and
// arktype behave alike on every transport is in test/catalogue/standard-schemas.test.ts.

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const create = (): Router => createRouter({ name: 'libraries', version: '1.0.0' })

/** `$schema` is for the versions whose schemas have it. */
const told = (version: Version, schema: object): object =>
  version >= '2025-11-25' ? { $schema: DIALECT, ...schema } : schema

/** The tools by name. */
async function toolsOf(client: TestClient): Promise<Record<string, Record<string, unknown>>> {
  return Object.fromEntries((await entriesOf(client, 'tools')).map((tool) => [tool['name'], tool]))
}

interface Library {
  /** Registers a tool `plan` with the input. */
  plan(router: Router): void
  /** Registers tools with outputs: `price`, `list` and `word`, each of which returns what `next` says. */
  outputs(router: Router, next: () => never): void
  /** Registers a tool `walk` with schemas inside of fields: a year in a map, and a tree. */
  walk(router: Router): void
  /** Registers a prompt `review`. */
  review(router: Router): void
  readonly told: Readonly<Record<'plan' | 'price' | 'list' | 'word' | 'year', object>>
  readonly errors: Readonly<Record<'plan' | 'missing' | 'price' | 'list' | 'walk' | 'review', readonly string[]>>
}

interface Tree {
  readonly name: string
  readonly kids?: Tree[] | undefined
}

const PLAN = {
  day: { type: 'string' },
  limit: { type: 'integer', maximum: 50 },
  nested: {
    type: 'object',
    properties: { tags: { type: 'array', items: { type: 'string', minLength: 2 } } },
    required: ['tags'],
  },
}
const PRICE = { total: { type: 'number', minimum: 0 }, unit: { type: 'string' } }

const treeOfValibot: v.GenericSchema<Tree> = v.object({
  name: v.string(),
  kids: v.optional(v.array(v.lazy(() => treeOfValibot))),
})

const valibot: Library = {
  plan: (router) => {
    const input = toStandardJsonSchema(
      v.strictObject({
        day: v.pipe(
          v.string(),
          v.transform((text) => text.length),
        ),
        limit: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(50)), 10),
        kind: v.optional(v.picklist(['a', 'b'])),
        nested: v.optional(v.object({ tags: v.array(v.pipe(v.string(), v.minLength(2))) })),
      }),
    )
    router.tool('plan', { input }, (params) => {
      expectTypeOf(params.day).toEqualTypeOf<number>()
      expectTypeOf(params.limit).toEqualTypeOf<number>()
      expectTypeOf(params.kind).toEqualTypeOf<'a' | 'b' | undefined>()
      expectTypeOf(params.nested).toEqualTypeOf<{ tags: string[] } | undefined>()
      // @ts-expect-error the schema has no such member
      expect(params.other).toBeUndefined()
      return JSON.stringify(params)
    })
  },
  outputs: (router, next) => {
    const price = v.object({ total: v.pipe(v.number(), v.minValue(0)), unit: v.optional(v.string(), 'EUR') })
    const output = toStandardJsonSchema(price)
    router.tool('price', { output }, next)
    router.tool('list', { output: toStandardJsonSchema(v.array(v.pipe(v.number(), v.integer()))) }, next)
    router.tool('word', { output: toStandardJsonSchema(v.pipe(v.string(), v.minLength(1))) }, next)
    router.tool('given', { output }, () => ({ total: 1 }))
    router.tool('given_all', { output }, async () => ({ total: 1, unit: 'USD' }))
    // @ts-expect-error a member of another type
    router.tool('wrong', { output }, () => ({ total: '1' }))
    // @ts-expect-error a member that is missing
    router.tool('missing', { output }, () => ({ unit: 'USD' }))
  },
  walk: (router) => {
    const year = toStandardJsonSchema(v.pipe(v.string(), v.regex(/^\d{4}$/), v.transform(Number)))
    const tree = field.schema(toStandardJsonSchema(treeOfValibot), { description: 'A tree' })
    const range = field.map({ from: field.schema(year, { required: true }) }, { required: true })
    router.tool('walk', { input: { range, tree } }, (params) => {
      expectTypeOf(params.range.from).toEqualTypeOf<number>()
      expectTypeOf(params.tree).toEqualTypeOf<Tree | undefined>()
      return JSON.stringify(params)
    })
  },
  review: (router) => {
    const pages = v.pipe(v.string(), v.transform(Number), v.number())
    const study = v.pipe(v.string(), v.minLength(2), v.description('Which study'))
    const args = toStandardJsonSchema(v.object({ study, pages: v.optional(pages) }))
    router.prompt('review', { arguments: args }, (params) => {
      expectTypeOf(params.study).toEqualTypeOf<string>()
      expectTypeOf(params.pages).toEqualTypeOf<number | undefined>()
      return JSON.stringify(params)
    })
  },
  told: {
    plan: {
      type: 'object',
      properties: {
        ...PLAN,
        limit: { ...PLAN.limit, default: 10 },
        kind: { type: 'string', enum: ['a', 'b'] },
      },
      required: ['day'],
      additionalProperties: false,
    },
    price: {
      type: 'object',
      properties: { ...PRICE, unit: { type: 'string', default: 'EUR' } },
      required: ['total'],
    },
    list: { type: 'array', items: { type: 'integer' } },
    word: { type: 'string', minLength: 1 },
    year: { type: 'string', pattern: '^\\d{4}$' },
  },
  errors: {
    plan: [
      'day: Invalid type: Expected string but received 5',
      'limit: Invalid value: Expected <=50 but received 60',
      'kind: Invalid type: Expected ("a" | "b") but received "c"',
      'nested.tags[1]: Invalid length: Expected >=2 but received 1',
      'more: Invalid key: Expected never but received "more"',
    ],
    missing: ['day: Invalid key: Expected "day" but received undefined'],
    price: ['total: Invalid value: Expected >=0 but received -4'],
    list: ['result[1]: Invalid type: Expected number but received "x"'],
    walk: [
      'range.from: Invalid type: Expected string but received 7',
      'tree.kids[0].name: Invalid type: Expected string but received 7',
    ],
    review: ['study: Invalid length: Expected >=2 but received 1'],
  },
}

const arktype: Library = {
  plan: (router) => {
    const input = type({
      '+': 'reject',
      day: type('string').pipe((text) => text.length),
      limit: 'number.integer <= 50 = 10',
      'kind?': "'a' | 'b'",
      'nested?': { tags: '(string >= 2)[]' },
    })
    router.tool('plan', { input }, (params) => {
      expectTypeOf(params.day).toEqualTypeOf<number>()
      expectTypeOf(params.limit).toEqualTypeOf<number>()
      expectTypeOf(params.kind).toEqualTypeOf<'a' | 'b' | undefined>()
      expectTypeOf(params.nested).toEqualTypeOf<{ tags: string[] } | undefined>()
      // @ts-expect-error the schema has no such member
      expect(params.other).toBeUndefined()
      return JSON.stringify(params)
    })
  },
  outputs: (router, next) => {
    const output = type({ total: 'number >= 0', unit: "string = 'EUR'" })
    router.tool('price', { output }, next)
    router.tool('list', { output: type('number.integer[]') }, next)
    router.tool('word', { output: type('string >= 1') }, next)
    router.tool('given', { output }, () => ({ total: 1 }))
    router.tool('given_all', { output }, async () => ({ total: 1, unit: 'USD' }))
    // @ts-expect-error a member of another type
    router.tool('wrong', { output }, () => ({ total: '1' }))
    // @ts-expect-error a member that is missing
    router.tool('missing', { output }, () => ({ unit: 'USD' }))
  },
  walk: (router) => {
    const year = type(/^\d{4}$/).pipe(Number)
    const tree = field.schema(type({ name: 'string', 'kids?': 'this[]' }), { description: 'A tree' })
    const range = field.map({ from: field.schema(year, { required: true }) }, { required: true })
    router.tool('walk', { input: { range, tree } }, (params) => {
      expectTypeOf(params.range.from).toEqualTypeOf<number>()
      expectTypeOf(params.tree?.kids?.[0]?.kids?.[0]?.name).toEqualTypeOf<string | undefined>()
      return JSON.stringify(params)
    })
  },
  review: (router) => {
    const pages = type('string').pipe(Number).to('number')
    const args = type({ study: type('string >= 2').describe('Which study', 'self'), 'pages?': pages })
    router.prompt('review', { arguments: args }, (params) => {
      expectTypeOf(params.study).toEqualTypeOf<string>()
      expectTypeOf(params.pages).toEqualTypeOf<number | undefined>()
      return JSON.stringify(params)
    })
  },
  told: {
    plan: {
      type: 'object',
      // Whether the default is told beside depends on what arktype has made before in the same process.
      properties: { ...PLAN, limit: expect.objectContaining(PLAN.limit), kind: { enum: ['a', 'b'] } },
      required: ['day'],
      additionalProperties: false,
    },
    price: { type: 'object', properties: PRICE, required: ['total', 'unit'] },
    list: { type: 'array', items: { type: 'integer' } },
    word: { type: 'string', minLength: 1 },
    year: { type: 'string', pattern: '^\\d{4}$' },
  },
  errors: {
    plan: [
      'day: day must be a string (was a number)',
      'limit: limit must be at most 50 (was 60)',
      'kind: kind must be "a" or "b" (was "c")',
      'nested.tags[1]: nested.tags[1] must be at least length 2 (was 1)',
      'more: more must be removed',
    ],
    missing: ['day: day must be a string (was missing)'],
    price: ['total: total must be non-negative (was -4)'],
    list: ['result[1]: value at [1] must be a number (was a string)'],
    walk: ['tree.kids[0].name: kids[0].name must be a string (was a number)'],
    review: ['study: study must be at least length 2 (was 1)'],
  },
}

for (const [name, library] of Object.entries({ valibot, arktype })) {
  describeMatrix(name, { transports: ['memory'] }, (setup, { version, sessions }) => {
    verifies('schema.standard', 'as input is told by its input side, and parses', async () => {
      const router = create()
      library.plan(router)
      const client = await setup(router)
      expect((await toolsOf(client))['plan']?.['inputSchema']).toEqual(told(version, library.told.plan))
      expect(textOf(await client.callTool('plan', { day: 'Monday' }))).toBe('{"day":6,"limit":10}')
      const whole = { day: '', limit: 5, kind: 'b', nested: { tags: ['xy'] } }
      expect(JSON.parse(textOf(await client.callTool('plan', whole)))).toEqual({ ...whole, day: 0 })
    })

    verifies('schema.standard', 'as input refuses with the path of each error', async () => {
      const router = create()
      library.plan(router)
      const client = await setup(router)
      const wrong = { day: 5, limit: 60, kind: 'c', nested: { tags: ['xy', 'z'] }, more: 1 }
      expect(await argumentErrors(client.callTool('plan', wrong))).toEqual(library.errors.plan)
      expect(await argumentErrors(client.callTool('plan'))).toEqual(library.errors.missing)
    })

    verifies('schema.standard', 'as output is told by its output side, checks and parses', async () => {
      const router = create()
      let next: unknown
      library.outputs(router, () => next as never)
      const client = await setup(router)
      const { price, list, word } = await toolsOf(client)
      expect(price?.['outputSchema']).toEqual(version >= '2025-06-18' ? told(version, library.told.price) : undefined)
      expect(list?.['outputSchema']).toEqual(sessions ? undefined : told(version, library.told.list))
      expect(word?.['outputSchema']).toEqual(sessions ? undefined : told(version, library.told.word))
      const structured = (value: unknown) => (sessions && version < '2025-06-18' ? undefined : value)
      next = { total: 4 }
      const good = await client.callTool('price')
      expect(textOf(good)).toBe('{"total":4,"unit":"EUR"}')
      expect(good.structuredContent).toEqual(structured({ total: 4, unit: 'EUR' }))
      next = [1, 2]
      expect(textOf(await client.callTool('list'))).toBe('[1,2]')
      next = 'tea'
      expect(await client.callTool('word')).toMatchObject({ content: [{ text: '"tea"' }] })
      const refused = async (tool: 'price' | 'list', value: unknown): Promise<void> => {
        next = value
        const { isError, content } = await client.callTool(tool)
        const text = `The tool's result does not fit its output schema: ${library.errors[tool].join('; ')}`
        expect({ isError, content }).toEqual({ isError: true, content: [{ type: 'text', text }] })
      }
      await refused('price', { total: -4 })
      await refused('list', [1, 'x'])
      setup.expectErrors(2)
    })

    verifies(
      'schema.standard',
      'inside of fields is checked where it stands, and its references lead there',
      async () => {
        const router = create()
        library.walk(router)
        const client = await setup(router)
        const { walk } = await toolsOf(client)
        const { properties } = (walk?.['inputSchema'] ?? {}) as {
          properties: Record<'range' | 'tree', Record<string, unknown>>
        }
        expect(properties.range['properties']).toEqual({ from: library.told.year })
        expect(properties.tree['description']).toBe('A tree')
        const references = [...JSON.stringify(walk).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => reference)
        expect(references.length).toBeGreaterThan(0)
        for (const reference of references) expect(reference).toMatch(/^#\/properties\/tree\/\$defs\/\w+$/)
        expect(JSON.stringify(walk?.['inputSchema'])).not.toContain('$schema')
        const tree = { name: 'a', kids: [{ name: 'b' }] }
        expect(JSON.parse(textOf(await client.callTool('walk', { range: { from: '2020' }, tree })))).toEqual({
          range: { from: 2020 },
          tree,
        })
        const wrong = { range: { from: 7 }, tree: { name: 'a', kids: [{ name: 7 }] } }
        const errors = await argumentErrors(client.callTool('walk', wrong))
        expect(errors).toEqual(expect.arrayContaining([...library.errors.walk]))
        expect(errors).toEqual([
          expect.stringMatching(/^range\.from/),
          expect.stringMatching(/^tree\.kids\[0\]\.name: /),
        ])
      },
    )

    verifies('schema.standard', 'is the arguments of a prompt', async () => {
      const router = create()
      library.review(router)
      const client = await setup(router)
      const [prompt] = await entriesOf(client, 'prompts')
      expect(prompt?.['arguments']).toHaveLength(2)
      expect(prompt?.['arguments']).toEqual(
        expect.arrayContaining([
          { name: 'study', description: 'Which study', required: true },
          { name: 'pages', required: false },
        ]),
      )
      const { messages } = await client.getPrompt('review', { study: 'ab', pages: '12' })
      const [message] = messages as unknown as { content: { text: string } }[]
      expect(JSON.parse(message?.content.text ?? '')).toEqual({ study: 'ab', pages: 12 })
      const error = await client.getPrompt('review', { study: 'a' }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(RpcError)
      expect(error).toMatchObject({
        code: -32602,
        message: `Invalid arguments of prompt 'review': ${library.errors.review[0]}`,
      })
    })
  })
}

describeMatrix('valibot that waits', { transports: ['memory'] }, (setup) => {
  verifies('schema.standard', 'is awaited', async () => {
    const seat = v.pipeAsync(
      v.string(),
      v.rawTransformAsync(async ({ dataset, addIssue, NEVER }) => {
        if (dataset.value === 'free') return 1
        addIssue({ message: 'is taken' })
        return NEVER
      }),
    )
    // The types of the converter know schemas that do not wait alone.
    const input = toStandardJsonSchema(v.objectAsync({ seat }) as never)
    const router = create()
    router.tool('reserve', { input }, (params: unknown) => JSON.stringify(params))
    const client = await setup(router)
    expect(textOf(await client.callTool('reserve', { seat: 'free' }))).toBe('{"seat":1}')
    expect(await argumentErrors(client.callTool('reserve', { seat: '4a' }))).toEqual(['seat: is taken'])
  })
})

describe('a schema that is refused at registration', () => {
  const as = (option: 'input' | 'output', schema: unknown) => () =>
    (create().tool as unknown as (...args: unknown[]) => unknown)('greet', { [option]: schema }, () => 'ok')
  const transformed = v.object({ n: v.pipe(v.string(), v.transform(Number)) })

  test.each<[string, () => unknown, string]>([
    [
      'valibot without its converter, as input',
      as('input', v.object({ name: v.string() })),
      "tool 'greet' input: this valibot schema cannot give its JSON Schema. Wrap it in its converter (toStandardJsonSchema of @valibot/to-json-schema), or declare a plain JSON Schema instead.",
    ],
    [
      'valibot without its converter, as output',
      as('output', v.object({ name: v.string() })),
      "tool 'greet' output: this valibot schema cannot give its JSON Schema. Wrap it in its converter (toStandardJsonSchema of @valibot/to-json-schema), or declare a plain JSON Schema instead.",
    ],
    [
      'valibot without its converter, as arguments of a prompt',
      () => create().prompt('review', { arguments: v.object({ name: v.string() }) }, () => 'ok'),
      "prompt 'review' input: this valibot schema cannot give its JSON Schema. Wrap it in its converter (toStandardJsonSchema of @valibot/to-json-schema), or declare a plain JSON Schema instead.",
    ],
    [
      'valibot with a type that JSON does not have',
      as('input', toStandardJsonSchema(v.object({ day: v.date() }))),
      `tool 'greet' input: the input side of this valibot schema cannot be written as JSON Schema (The "date" schema cannot be converted to JSON Schema.). Use a type that JSON has, or declare a plain JSON Schema instead.`,
    ],
    [
      'valibot whose transform says nothing of what comes out',
      as('output', toStandardJsonSchema(transformed)),
      `tool 'greet' output: the output side of this valibot schema cannot be written as JSON Schema (The "transform" action cannot be converted to JSON Schema.). Move the transform into the handler, pipe it into a schema that says what comes out, or declare a plain JSON Schema instead.`,
    ],
    [
      'valibot that is no object',
      as('input', toStandardJsonSchema(v.string())),
      "tool 'greet': the input must be an object, so the root of its schema needs the type 'object'.",
    ],
    [
      'valibot in place of a field',
      as('input', { name: toStandardJsonSchema(v.string()) }),
      "tool 'greet' input: 'name' is not a field. A Standard Schema goes into field.schema().",
    ],
    [
      'arktype of a version that gives no JSON Schema',
      as('input', { '~standard': { ...type({ name: 'string' })['~standard'], jsonSchema: undefined } }),
      "tool 'greet' input: this arktype schema cannot give its JSON Schema. Wrap it in its converter, or declare a plain JSON Schema instead.",
    ],
    [
      'arktype that is no object',
      as('input', type('string')),
      "tool 'greet': the input must be an object, so the root of its schema needs the type 'object'.",
    ],
    [
      'arktype in place of a field',
      as('input', { name: type('string') }),
      "tool 'greet' input: 'name' is not a field. A Standard Schema goes into field.schema().",
    ],
  ])('%s', (_title, register, message) => {
    expect(register).toThrow(new TypeError(message))
  })

  test('no more once a transform says what comes out', () => {
    const n = v.pipe(v.string(), v.transform(Number), v.number())
    expect(as('output', toStandardJsonSchema(v.object({ n })))).not.toThrow()
  })
})

describeMatrix('arktype', { transports: ['memory'], versions: ['2026-07-28'] }, (setup) => {
  verifies('schema.standard', 'is told as anything where it does not know better', async () => {
    const n = type('string').pipe(Number)
    const router = create()
    router.tool('open', { output: type({ n }) }, () => ({ n: '4' }))
    router.tool('said', { output: type({ n: n.to('number') }) }, () => ({ n: '4' }))
    const client = await setup(router)
    const { open, said } = await toolsOf(client)
    const object = { $schema: DIALECT, type: 'object', required: ['n'] }
    expect(open?.['outputSchema']).toEqual({ ...object, properties: { n: {} } })
    expect(said?.['outputSchema']).toEqual({ ...object, properties: { n: { type: 'number' } } })
    for (const tool of ['open', 'said']) expect(textOf(await client.callTool(tool))).toBe('{"n":4}')
  })
})

test('an error at the root of an arktype has the path of its field, and nothing behind it', async () => {
  const router = create()
  router.tool('seat', { input: { seat: field.schema(type('string >= 2'), { required: true }) } }, () => 'x')
  const client = await connect(router)
  expect(await argumentErrors(client.callTool('seat', { seat: 'a' }))).toEqual([
    'seat: must be at least length 2 (was 1)',
  ])
})
