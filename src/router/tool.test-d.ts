import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { field } from './field.js'
import { createRouter } from './router.js'
import type { Session } from './session.js'
import { Tool } from './tool-result.js'

const router = createRouter({ name: 'types', version: '1.0.0' })

test('the handler’s parameters come from the fields', () => {
  router.tool('greet', { input: { name: field.string({ required: true }) } }, ({ name }) => `Hello ${name}`)
  router.tool(
    'search_studies',
    {
      input: {
        query: field.string({ required: true }),
        limit: field.integer({ default: 10, maximum: 100 }),
        status: field.string({ in: ['draft', 'active', 'archived'] }),
        tags: field.array(field.string()),
        filters: field.map({ category: field.string(), min_price: field.number({ minimum: 0 }) }),
      },
      output: { total: field.integer({ required: true }), note: field.string() },
    },
    async ({ query, limit, status, tags, filters }, session) => {
      expectTypeOf(query).toEqualTypeOf<string>()
      expectTypeOf(limit).toEqualTypeOf<number>()
      expectTypeOf(status).toEqualTypeOf<'draft' | 'active' | 'archived' | undefined>()
      expectTypeOf(tags).toEqualTypeOf<string[] | undefined>()
      expectTypeOf(filters?.min_price).toEqualTypeOf<number | undefined>()
      expectTypeOf(filters?.category).toEqualTypeOf<string | undefined>()
      expectTypeOf(session).toEqualTypeOf<Session<object>>()
      expectTypeOf(session.signal).toEqualTypeOf<AbortSignal>()
      return { total: 1 }
    },
  )
})

test('without an input there are no parameters', () => {
  router.tool('hello', {}, (params) => {
    expectTypeOf(params).toEqualTypeOf<NonNullable<unknown>>()
    return 'hello'
  })
  // @ts-expect-error there is no such parameter
  router.tool('hello', {}, ({ name }) => `hello ${name}`)
  // @ts-expect-error there is no such field
  router.tool('hello', { input: { name: field.string() } }, ({ nmae }) => `hello ${nmae}`)
})

test('an optional parameter has to be dealt with', () => {
  // @ts-expect-error it may be missing
  router.tool('shout', { input: { name: field.string() } }, ({ name }) => name.toUpperCase())
  router.tool('shout', { input: { name: field.string({ default: 'you' }) } }, ({ name }) => name.toUpperCase())
})

test('a literal union is compared with its members alone', () => {
  router.tool('pick', { input: { kind: field.string({ in: ['a', 'b'], required: true }) } }, ({ kind }) => {
    expectTypeOf(kind).toEqualTypeOf<'a' | 'b'>()
    // @ts-expect-error it is never that
    return kind === 'c' ? 'c' : 'other'
  })
})

test('a Standard Schema gives its output to the handler, and takes its input from it', () => {
  const input = z.object({ day: z.string().transform((text) => text.length), limit: z.number().default(10) })
  const output = z.object({ total: z.number(), unit: z.string().default('EUR') })
  router.tool('plan', { input, output }, ({ day, limit }) => {
    expectTypeOf(day).toEqualTypeOf<number>()
    expectTypeOf(limit).toEqualTypeOf<number>()
    return { total: day }
  })
  router.tool('price', { output }, async () => ({ total: 1, unit: 'USD' }))
  // @ts-expect-error a member of another type
  router.tool('price', { output }, () => ({ total: '1' }))
  // @ts-expect-error a member that is missing
  router.tool('price', { output }, () => ({ unit: 'USD' }))
  router.tool('word', { output: z.string() }, () => 'tea')
})

test('a plain JSON Schema says nothing of types', () => {
  router.tool('plain', { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }, (params) => {
    expectTypeOf(params).toEqualTypeOf<Readonly<Record<string, unknown>>>()
    return typeof params['a']
  })
  router.tool('plain', { outputSchema: { type: 'object' } }, () => ({ anything: true }))
})

test('a declared output is what the handler returns, or a result', () => {
  const output = { total: field.integer({ required: true }), note: field.string() }
  router.tool('fits', { output }, () => ({ total: 1 }))
  router.tool('fits', { output }, () => ({ total: 1, note: 'x' }))
  router.tool('fits', { output }, async () => ({ total: 1, note: 'x' }))
  router.tool('fails', { output }, () => Tool.error('no'))
  router.tool('built', { output }, () => Tool.structured({ total: 1 }))
  // @ts-expect-error a misspelt member of the declared output
  router.tool('typo', { output }, () => ({ total: 1, noet: 'x' }))
  // @ts-expect-error a misspelt member, in a promise
  router.tool('typo', { output }, async () => ({ total: 1, noet: 'x' }))
  // @ts-expect-error a string where an object is declared
  router.tool('text', { output }, () => 'plain text')
  // @ts-expect-error nothing where an object is declared
  router.tool('nothing', { output }, () => undefined)
  // @ts-expect-error a required member is missing
  router.tool('less', { output }, () => ({ note: 'x' }))
  // @ts-expect-error a member of another type
  router.tool('other', { output }, () => ({ total: 'one' }))
  // @ts-expect-error one way out of two is wrong
  router.tool('either', { output }, (_params, session) => (session.stateless ? { total: 1 } : { total: 1, noet: 'x' }))
})

test('a handler may return one thing or another', () => {
  const output = { total: field.integer({ required: true }), note: field.string() }
  router.tool('either', { output }, (_params, session) => (session.stateless ? { total: 1 } : Tool.error('no')))
  router.tool('either', { output }, async (_params, session) => {
    if (session.stateless) return Tool.error('no')
    return { total: 1 }
  })
  router.tool('either', { output }, (_params, session) => (session.stateless ? { total: 1, note: 'x' } : { total: 1 }))
  router.tool('free', {}, (_params, session) => (session.stateless ? 'text' : Tool.error('no')))
  router.tool('free', {}, async (_params, session) => {
    if (session.stateless) return 'text'
    return Tool.error('no')
  })
  router.tool('free', {}, async (_params, session) => {
    if (session.stateless) return undefined
    return { total: 1 }
  })
  router.tool('free', { input: { id: field.string({ required: true }) } }, ({ id }) => {
    if (id === '') return Tool.error('no id')
    return id.length > 3 ? [id] : { id }
  })
})

test('without an output any JSON value will do', () => {
  router.tool('any', {}, () => 'text')
  router.tool('any', {}, () => 1)
  router.tool('any', {}, () => null)
  router.tool('any', {}, () => undefined)
  router.tool('any', {}, () => undefined as undefined | string)
  router.tool('any', {}, () => ({ a: [1] }))
  router.tool('any', {}, async () => [1, 'a'])
  // @ts-expect-error JSON has no such value
  router.tool('any', {}, () => 10n)
  // @ts-expect-error JSON has no such value
  router.tool('any', {}, () => Symbol('x'))
})

test('mistakes in the options are compile errors', () => {
  // @ts-expect-error a misspelt option
  router.tool('greet', { inptu: {} }, () => 'x')
  // @ts-expect-error a hint that is no boolean
  router.tool('greet', { readOnly: 'yes' }, () => 'x')
  // @ts-expect-error a time that is no number
  router.tool('greet', { timeoutMs: '10s' }, () => 'x')
  // @ts-expect-error a field that is none
  router.tool('greet', { input: { name: 'string' } }, () => 'x')
  // @ts-expect-error no handler
  router.tool('greet', {})
  router.tool(
    'greet',
    {
      title: 'Greet',
      description: 'Greets.',
      icons: [{ src: 'https://example.com/i.png' }],
      _meta: { k: 1 },
      readOnly: true,
      destructive: false,
      idempotent: true,
      openWorld: false,
      timeoutMs: 10_000,
      maxConcurrency: 8,
      middleware: [(session, next) => (session.stateless ? next() : next())],
    },
    () => 'x',
  )
})

test('a deferred answer may take the place of any result', () => {
  const output = { total: field.integer({ required: true }) }
  router.tool('later', {}, (_params, session) => session.defer())
  router.tool('later', { output }, (_params, session) => session.defer())
  router.tool('later', { output }, async (_params, session) => (session.stateless ? session.defer() : { total: 1 }))
  router.prompt('later', {}, async (_params, session) => (session.stateless ? session.defer() : 'now'))
  router.resource('notes://{id}', { name: 'later' }, ({ id }, session) => (id === '1' ? session.defer() : id))
  // @ts-expect-error a part of another value is none
  router.tool('later', { output }, (_params, session) => ({ total: session.defer() }))
})
