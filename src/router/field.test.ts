import { expect, test } from 'vitest'
import { z } from 'zod'
import { field } from './field.js'
import type { Fields } from './field-types.js'
import { inputSchema, outputSchema } from './schema.js'

function check(fields: Fields, value: unknown) {
  return inputSchema("tool 't'", { input: fields }).check(value)
}

function json(fields: Fields) {
  return inputSchema("tool 't'", { input: fields }).json
}

function failed(...errors: string[]) {
  return { ok: false, errors }
}

const search: Fields = {
  query: field.string({ required: true }),
  limit: field.integer({ default: 10, minimum: 1, maximum: 100 }),
  status: field.string({ in: ['draft', 'active'] }),
  tags: field.array(field.string({ minLength: 1 }), { maxLength: 3, uniqueItems: true }),
  filters: field.map({ category: field.string(), min_price: field.number({ minimum: 0, title: 'Least price' }) }),
}

test('advertises JSON Schema', () => {
  expect(json(search)).toEqual({
    type: 'object',
    properties: {
      query: { type: 'string' },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
      status: { type: 'string', enum: ['draft', 'active'] },
      tags: { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 3, uniqueItems: true },
      filters: {
        type: 'object',
        properties: { category: { type: 'string' }, min_price: { type: 'number', minimum: 0, title: 'Least price' } },
      },
    },
    required: ['query'],
  })
})

test('a valid value comes back as the very same object', () => {
  const value = { query: 'x', limit: 5, tags: ['a', 'b'], filters: { min_price: 1 }, unknown: { kept: true } }
  const outcome = check(search, value)
  expect(outcome).toEqual({ ok: true, value })
  expect(outcome).toHaveProperty('value', value)
  expect('value' in outcome && outcome.value === value).toBe(true)
})

test('the order of members does not matter', () => {
  const value = { filters: { min_price: 1, category: 'a' }, limit: 3, other: 1, query: 'x' }
  expect(check(search, value)).toEqual({ ok: true, value })
  expect(check(search, { filters: {}, limit: 3, query: 7 })).toEqual(failed('query must be a string, not 7'))
})

test('a default is injected into a copy, and unknown keys stay', () => {
  const value = { query: 'x', extra: 1 }
  expect(check(search, value)).toEqual({ ok: true, value: { query: 'x', extra: 1, limit: 10 } })
  expect(value).toEqual({ query: 'x', extra: 1 })
})

test('errors are complete, in declaration order, with paths', () => {
  const value = {
    filters: { min_price: -1, category: 4 },
    tags: ['a', '', 7],
    status: 'gone',
    limit: 101.5,
  }
  expect(check(search, value)).toEqual(
    failed(
      'query is required',
      'limit must be an integer, not 101.5',
      'status must be one of "draft", "active"',
      'tags[1] must have at least 1 character',
      'tags[2] must be a string, not 7',
      'filters.category must be a string, not 4',
      'filters.min_price must be at least 0',
    ),
  )
})

test('all constraints of one field are told', () => {
  const fields = {
    code: field.string({ minLength: 5, pattern: /^[a-z]+$/, exclusion: ['no', '12'], format: 'date' }),
    n: field.number({ greaterThan: 3, lessThan: 1000, in: [4, 5], exclusion: [2] }),
  }
  expect(check(fields, { code: '12', n: 2 })).toEqual(
    failed(
      'code must not be any of "no", "12"',
      'code must have at least 5 characters',
      'code must match the pattern ^[a-z]+$',
      'code must be a valid date',
      'n must be one of 4, 5',
      'n must not be 2',
      'n must be greater than 3',
    ),
  )
})

test('the root must be an object', () => {
  expect(check({}, [])).toEqual(failed('arguments must be an object, not a list'))
  expect(check({}, null)).toEqual(failed('arguments must be an object, not null'))
  expect(check({}, 'x')).toEqual(failed('arguments must be an object, not a string'))
})

test('lengths count code points', () => {
  const fields = {
    two: field.string({ length: 2 }),
    most: field.string({ maxLength: 3 }),
    least: field.string({ minLength: 3 }),
  }
  expect(check(fields, { two: '🧭é', most: '🧭🧭🧭', least: '🧭🧭🧭' })).toMatchObject({ ok: true })
  expect(check(fields, { two: '🧭', most: '🧭🧭🧭🧭', least: '🧭🧭a'.slice(0, 4) })).toEqual(
    failed(
      'two must have exactly 2 characters',
      'most must have at most 3 characters',
      'least must have at least 3 characters',
    ),
  )
})

test('numbers are finite, integers may be written 1.0, nothing is coerced', () => {
  const fields = { i: field.integer(), n: field.number(), b: field.boolean() }
  expect(check(fields, JSON.parse('{"i":1.0,"n":1e3,"b":false}'))).toEqual({
    ok: true,
    value: { i: 1, n: 1000, b: false },
  })
  expect(check(fields, { i: Number.NaN, n: Number.POSITIVE_INFINITY, b: 'true' })).toEqual(
    failed(
      'i must be an integer, not NaN',
      'n must be a number, not Infinity',
      'b must be true or false, not a string',
    ),
  )
  expect(check(fields, { i: 10n, n: '1', b: 0 })).toEqual(
    failed('i must be an integer, not a bigint', 'n must be a number, not a string', 'b must be true or false, not 0'),
  )
})

test('null fails unless nullable', () => {
  const fields = {
    a: field.string(),
    b: field.string({ nullable: true, minLength: 3 }),
    c: field.integer({ nullable: true, in: [1] }),
    d: field.map({ x: field.string({ required: true }) }, { nullable: true }),
    e: field.boolean({ nullable: true, default: null }),
  }
  expect(check(fields, { a: null, b: null, c: null, d: null })).toEqual(failed('a must be a string, not null'))
  expect(check(fields, { b: null, c: null, d: null })).toEqual({
    ok: true,
    value: { b: null, c: null, d: null, e: null },
  })
  expect(check(fields, { b: 1, c: 2 })).toEqual(failed('b must be a string or null, not 1', 'c must be 1'))
  expect(json(fields)).toEqual({
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { type: ['string', 'null'], minLength: 3 },
      c: { type: ['integer', 'null'], enum: [1, null] },
      d: { type: ['object', 'null'], properties: { x: { type: 'string' } }, required: ['x'] },
      e: { type: ['boolean', 'null'], default: null },
    },
  })
})

test('nested defaults are applied and advertised', () => {
  const page = { size: field.integer({ default: 20 }), at: field.integer({ default: 1 }) }
  const fields = {
    page: field.map(page, { default: { at: 2 } }),
    list: field.array(field.map(page)),
  }
  expect(check(fields, {})).toEqual({ ok: true, value: { page: { at: 2, size: 20 } } })
  expect(check(fields, { page: { size: 5 }, list: [{ at: 9 }, { at: 1, size: 2 }] })).toEqual({
    ok: true,
    value: {
      page: { size: 5, at: 1 },
      list: [
        { at: 9, size: 20 },
        { at: 1, size: 2 },
      ],
    },
  })
  expect(json(fields)).toMatchObject({
    properties: { page: { default: { at: 2, size: 20 }, properties: { size: { default: 20 } } } },
  })
})

test('each call gets its own copy of a default', () => {
  const schema = inputSchema("tool 't'", { input: { tags: field.array(field.string(), { default: ['a'] }) } })
  const first = schema.check({})
  if ('value' in first && first.ok) (first.value as { tags: string[] }).tags.push('b')
  expect(schema.check({})).toEqual({ ok: true, value: { tags: ['a'] } })
  expect(schema.json).toMatchObject({ properties: { tags: { default: ['a'] } } })
})

test('lists: length, uniqueness of equal objects', () => {
  const fields = {
    pair: field.array(field.integer(), { length: 2 }),
    few: field.array(field.map(), { minLength: 1, uniqueItems: true }),
  }
  expect(json(fields)).toMatchObject({ properties: { pair: { minItems: 2, maxItems: 2 }, few: { minItems: 1 } } })
  expect(
    check(fields, {
      pair: [1],
      few: [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
    }),
  ).toEqual(failed('pair must have exactly 2 items', 'few must not contain the same item twice'))
  expect(check(fields, { pair: [1, 2], few: [{ a: 1 }, { a: '1' }] })).toMatchObject({ ok: true })
  expect(check(fields, { few: [] })).toEqual(failed('few must have at least 1 item'))
  expect(check(fields, { pair: { 0: 1, 1: 2, length: 2 } })).toEqual(failed('pair must be a list, not an object'))
})

test('message replaces the errors of the field itself, not those inside', () => {
  const fields = {
    slug: field.string({ required: true, minLength: 3, pattern: '^[a-z]+$', message: 'must be a slug' }),
    box: field.map({ n: field.integer() }, { message: 'must be a box' }),
  }
  expect(check(fields, { slug: 'A', box: { n: 'x' } })).toEqual(
    failed('slug must be a slug', 'box.n must be an integer, not a string'),
  )
  expect(check(fields, { box: 1 })).toEqual(failed('slug must be a slug', 'box must be a box'))
})

test('a custom check answers true, nothing, false or a reason', () => {
  const fields = {
    even: field.integer({ validate: (value) => value % 2 === 0 || 'must be even' }),
    fine: field.string({ validate: (value) => (value === 'x' ? undefined : false) }),
  }
  expect(check(fields, { even: 2, fine: 'x' })).toEqual({ ok: true, value: { even: 2, fine: 'x' } })
  expect(check(fields, { even: 3, fine: 'y' })).toEqual(failed('even must be even', 'fine is not valid'))
  expect(check(fields, { even: 'a' })).toEqual(failed('even must be an integer, not a string'))
})

test('an asynchronous check keeps the order and the paths', async () => {
  const later = async (value: string) => {
    await Promise.resolve()
    return value !== 'bad' || 'is taken'
  }
  const fields = {
    users: field.array(field.map({ name: field.string({ validate: later }) })),
    n: field.integer({ maximum: 1 }),
  }
  const outcome = check(fields, { users: [{ name: 'ok' }, { name: 'bad' }], n: 2 })
  expect(outcome).toBeInstanceOf(Promise)
  expect(await outcome).toEqual(failed('users[1].name is taken', 'n must be at most 1'))
  expect(await check(fields, { users: [{ name: 'ok' }] })).toEqual({ ok: true, value: { users: [{ name: 'ok' }] } })
  expect(check(fields, { n: 1 })).toEqual({ ok: true, value: { n: 1 } })
})

test('a check of a map runs only when its members are right, after what they wait for', async () => {
  const seen: unknown[] = []
  const fields = {
    range: field.map(
      {
        from: field.integer({ required: true, validate: async (value) => value !== 13 }),
        to: field.integer({ required: true }),
      },
      {
        validate: (value) => {
          seen.push(value)
          return value.from <= value.to || 'must not be backwards'
        },
      },
    ),
  }
  expect(await check(fields, { range: { from: 1, to: 'x' } })).toEqual(
    failed('range.to must be an integer, not a string'),
  )
  expect(seen).toEqual([])
  expect(await check(fields, { range: { from: 2, to: 1 } })).toEqual(failed('range must not be backwards'))
  expect(await check(fields, { range: { from: 13, to: 20 } })).toEqual(failed('range.from is not valid'))
  expect(seen).toEqual([{ from: 2, to: 1 }])
})

test('a check sees the parsed value', async () => {
  const seen: unknown[] = []
  const note = (value: unknown) => seen.push(value) > 0
  const fields = {
    page: field.map({ size: field.integer({ default: 20 }) }, { validate: note }),
    n: field.schema(
      z.string().transform(async (text) => Number(text)),
      { validate: note },
    ),
  }
  expect(await check(fields, { page: {}, n: '5' })).toEqual({ ok: true, value: { page: { size: 20 }, n: 5 } })
  expect(seen).toEqual([{ size: 20 }, 5])
})

test('defining a field runs no code of the user', () => {
  const boom = () => {
    throw new Error('boom')
  }
  const inner = field.string({ required: true, validate: boom })
  expect(() => field.map({ inner }, { default: { inner: 'x' }, validate: boom })).not.toThrow()
  expect(() => field.map({ inner }, { default: {} })).toThrow("field.map: 'default'.inner is required.")
})

test('a check that throws is a fault of the server, not of the caller', async () => {
  const boom = () => {
    throw new Error('boom')
  }
  expect(() => check({ a: field.string({ validate: boom }) }, { a: 'x' })).toThrow('boom')
  const rejects = async () => boom()
  await expect(check({ a: field.string({ validate: rejects }) }, { a: 'x' })).rejects.toThrow('boom')
})

test('prototype names are ordinary keys, and harmless', () => {
  const hostile = JSON.parse('{"__proto__":{"limit":5,"polluted":true},"constructor":{"prototype":{"x":1}}}')
  const outcome = check({ limit: field.integer({ default: 10 }) }, hostile)
  const value = 'value' in outcome && outcome.ok ? (outcome.value as Record<string, unknown>) : {}
  expect(value['limit']).toBe(10)
  expect(value['polluted']).toBeUndefined()
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'limit'])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()

  const named = { constructor: field.string(), toString: field.string({ required: true }) }
  expect(check(named, {})).toEqual(failed('toString is required'))
  expect(check(named, { toString: 'x' })).toEqual({ ok: true, value: { toString: 'x' } })
})

test('inherited members of a returned object do not count', () => {
  class Total {
    get total() {
      return 1
    }
  }
  const schema = outputSchema("tool 't'", { output: { total: field.integer({ required: true }) } })
  expect(schema?.check(new Total())).toEqual(failed('total is required'))
})

test('a long list of mistakes is cut', () => {
  const outcome = check({ ids: field.array(field.integer()) }, { ids: Array.from({ length: 5000 }, () => 'x') })
  expect('errors' in outcome && !outcome.ok ? outcome.errors.length : 0).toBe(100)
})

test('odd keys are quoted in paths', () => {
  expect(
    check({ 'a b': field.map({ 'x.y': field.string(), größe: field.integer() }) }, { 'a b': { 'x.y': 1, größe: 'x' } }),
  ).toEqual(
    failed(
      'arguments["a b"]["x.y"] must be a string, not 1',
      'arguments["a b"].größe must be an integer, not a string',
    ),
  )
})

test.each([
  ['date', '2024-02-29', '2023-02-29'],
  ['time', '23:59:60Z', '24:00:00Z'],
  ['date-time', '2024-01-01T00:00:00+01:00', '2024-01-01 00:00'],
  ['duration', 'P1DT2H', 'P'],
  ['email', 'ada@example.com', 'ada@'],
  ['hostname', 'a.example', '-a.example'],
  ['ipv4', '192.168.0.1', '192.168.0.256'],
  ['ipv6', '::ffff:1.2.3.4', '1::2::3'],
  ['uri', 'urn:isbn:1', 'no scheme'],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
] as const)('format %s', (format, good, bad) => {
  const fields = { it: field.string({ format }) }
  expect(check(fields, { it: good })).toEqual({ ok: true, value: { it: good } })
  expect(check(fields, { it: bad })).toEqual(failed(`it must be a valid ${format}`))
  expect(json(fields)).toMatchObject({ properties: { it: { format } } })
})

test('header becomes x-mcp-header', () => {
  expect(json({ region: field.string({ header: 'Region' }) })).toEqual({
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  })
  expect(check({ n: field.integer({ header: 'N' }) }, { n: 2 ** 53 })).toEqual(
    failed('n must be between -9007199254740991 and 9007199254740991'),
  )
})
