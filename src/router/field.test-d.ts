import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { field } from './field.js'
import type { Field, Fields, Given, InferFields, Received } from './field-types.js'

/** Stands for `router.tool`: what an input declaration gives the handler. */
declare function received<const I extends Fields>(input: I): InferFields<I>

test('in gives a literal union, required and default make a key present', () => {
  const got = received({
    query: field.string({ required: true }),
    limit: field.integer({ default: 10, maximum: 100 }),
    status: field.string({ in: ['draft', 'active', 'archived'] }),
    level: field.integer({ in: [1, 2, 3], required: true }),
    exact: field.boolean(),
    ratio: field.number({ required: false }),
  })
  expectTypeOf(got).toEqualTypeOf<{
    query: string
    limit: number
    level: 1 | 2 | 3
    status?: 'draft' | 'active' | 'archived'
    exact?: boolean
    ratio?: number
  }>()
})

test('arrays and maps nest', () => {
  const got = received({
    tags: field.array(field.string({ in: ['a', 'b'] }), { required: true }),
    grid: field.array(field.array(field.integer())),
    filters: field.map({ category: field.string(), page: field.integer({ default: 1 }) }),
    meta: field.map(),
    open: field.map(undefined, { required: true }),
  })
  expectTypeOf(got).toEqualTypeOf<{
    tags: ('a' | 'b')[]
    open: Record<string, unknown>
    grid?: number[][]
    filters?: { page: number; category?: string }
    meta?: Record<string, unknown>
  }>()
})

test('nullable adds null, also to literals', () => {
  const got = received({
    note: field.string({ nullable: true, required: true }),
    kind: field.string({ nullable: true, in: ['x'], default: null }),
  })
  expectTypeOf(got).toEqualTypeOf<{ note: string | null; kind: 'x' | null }>()
})

test('a union is one of its members', () => {
  expectTypeOf(field.union(field.string(), field.integer())).toEqualTypeOf<Field<string | number, false>>()
  expectTypeOf(field.union(field.string(), field.integer(), field.boolean())).toEqualTypeOf<
    Field<string | number | boolean, false>
  >()
  expectTypeOf(field.union([field.string(), field.integer()], { required: true })).toEqualTypeOf<
    Field<string | number, true>
  >()
})

test('an embedded schema gives its parsed type', () => {
  const when = field.schema(z.object({ year: z.number().default(2000) }), { required: true })
  expectTypeOf(when).toEqualTypeOf<Field<{ year: number }, true>>()
  expectTypeOf(field.schema({ jsonSchema: { type: 'string' } })).toEqualTypeOf<Field<unknown, false>>()
  expectTypeOf(field.schema<string>({ jsonSchema: { type: 'string' } })).toEqualTypeOf<Field<string, false>>()
})

test('received and given know both sides of a Standard Schema', () => {
  const schema = z.object({ n: z.string().transform(Number), d: z.string().default('x') })
  expectTypeOf<Received<typeof schema>>().toEqualTypeOf<{ n: number; d: string }>()
  expectTypeOf<Given<typeof schema>>().toEqualTypeOf<{ n: string; d?: string | undefined }>()
  expectTypeOf<Received<undefined>>().toEqualTypeOf<NonNullable<unknown>>()
  expectTypeOf<Given<undefined>>().toEqualTypeOf<never>()
  const fields = { total: field.integer({ required: true }), note: field.string() }
  expectTypeOf<Given<typeof fields>>().toEqualTypeOf<{ total: number; note?: string }>()
})

test('a custom check sees the value, and may be asynchronous', () => {
  field.string({ validate: (value) => value.startsWith('x') || 'must start with x' })
  field.integer({ required: true, validate: async (value) => value.toFixed() !== '7' })
  field.array(field.integer(), { validate: (items) => items.map((item) => item + 1).length > 0 })
  field.map({ a: field.integer({ required: true }) }, { validate: ({ a }) => a.toFixed() === '1' })
})

test('mistakes are compile errors', () => {
  // @ts-expect-error a misspelt option beside a right one
  field.string({ required: true, maxLenght: 3 })
  // @ts-expect-error an option of another kind
  field.boolean({ minimum: 1 })
  // @ts-expect-error numbers are not mirrored in headers
  field.number({ header: 'Price' })
  // @ts-expect-error a default of another type
  field.integer({ default: 'ten' })
  // @ts-expect-error an unknown format
  field.string({ format: 'emial' })
  // @ts-expect-error an item that is not a field
  field.array('string')
  // @ts-expect-error a member that is not a field
  field.map({ name: 'string' })
  // @ts-expect-error one member is no union
  field.union(field.string())
  // @ts-expect-error a custom check that answers a number
  field.string({ validate: (value) => value.length })
})
