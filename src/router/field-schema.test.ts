import { expect, test } from 'vitest'
import { field } from './field.js'
import type { FieldRecord } from './field-entries.js'
import type { Fields } from './field-types.js'
import { inputSchema, mirroredParams, outputSchema } from './schema.js'
import { LazyJson } from './schema-lazy.js'

function check(fields: Fields, value: unknown) {
  return inputSchema("tool 't'", { input: fields }).check(value)
}

function failed(...errors: string[]) {
  return { ok: false, errors }
}

test('the schema of fields is written once, when it is read, and looks like any other object', () => {
  let written = 0
  const writer: Pick<FieldRecord, 'properties' | 'requiredKeys'> = {
    properties: () => ({ a: { count: ++written } }),
    requiredKeys: () => ['a'],
  }
  const json = Object.freeze(new LazyJson(writer, { owner: "tool 't'", side: 'input' }))
  expect(Object.keys(json)).toEqual(['type', 'properties', 'required'])
  expect(written).toBe(0)
  const plain = { type: 'object', properties: { a: { count: 1 } }, required: ['a'] }
  expect(json).toEqual(plain)
  expect({ ...json }).toStrictEqual(plain)
  expect(structuredClone(json)).toStrictEqual(plain)
  expect(JSON.stringify(json)).toBe(JSON.stringify(plain))
})

test('a map without fields is any object', () => {
  const { json } = inputSchema("tool 't'", { input: { a: field.map(), b: field.map(undefined, { nullable: true }) } })
  expect(json).toEqual({ type: 'object', properties: { a: { type: 'object' }, b: { type: ['object', 'null'] } } })
})

test('choices with titles are told as alternatives, and enforced as choices', () => {
  const titles = { yes: 'Yes, delete it' }
  const { json } = inputSchema("tool 't'", {
    input: { a: field.string({ in: ['yes', 'no'], titles }), b: field.string({ in: ['yes'], titles, nullable: true }) },
  })
  expect(json['properties']).toEqual({
    a: {
      type: 'string',
      oneOf: [
        { const: 'yes', title: 'Yes, delete it' },
        { const: 'no', title: 'no' },
      ],
    },
    b: { type: ['string', 'null'], oneOf: [{ const: 'yes', title: 'Yes, delete it' }, { const: null }] },
  })
  const input = { a: field.string({ in: ['yes', 'no'], titles }) }
  expect(check(input, { a: 'no' })).toEqual({ ok: true, value: { a: 'no' } })
  expect(check(input, { a: 'Yes, delete it' })).toEqual(failed('a must be one of "yes", "no"'))
})

test('what is wrong with the schema of fields is told when the tool is defined', () => {
  const region = field.string({ header: 'Region' })
  const schema = (fields: Fields) => mirroredParams("tool 't'", inputSchema("tool 't'", { input: fields }).json)
  expect(schema({ where: field.map({ region }), plain: field.string() })).toEqual([
    { header: 'Region', path: ['where', 'region'], type: 'string' },
  ])
  expect(() => schema({ all: field.array(region) })).toThrow("tool 't': x-mcp-header cannot stand under 'items'.")
  expect(() => schema({ a: field.union(region, field.integer()) })).toThrow("cannot stand under 'anyOf'.")
  expect(() => schema({ a: region, b: field.string({ header: 'region' }) })).toThrow(
    "tool 't': a and b have the same x-mcp-header 'region'; case does not count. Rename one.",
  )
})

test('enumerable members that an object inherits do not count', () => {
  const schema = outputSchema("tool 't'", {
    output: { total: field.integer({ required: true }), name: field.string(), inner: field.map({ x: field.string() }) },
  })
  expect(schema?.check(Object.create({ total: 1 }))).toEqual(failed('total is required'))
  const value = Object.assign(Object.create({ name: 5 }), { total: 1, inner: Object.create({ x: 1 }) })
  expect(schema?.check(value)).toEqual({ ok: true, value })
})

test('a member is checked wherever it stands', () => {
  const fields = {
    first: field.integer(),
    second: field.string({ validate: () => true }),
    third: field.string({ maxLength: 3 }),
  }
  expect(check(fields, { second: 'x', first: 'wrong' })).toEqual(failed('first must be an integer, not a string'))
  expect(check(fields, { third: 'long', first: 'wrong' })).toEqual(
    failed('first must be an integer, not a string', 'third must have at most 3 characters'),
  )
  expect(check({ inner: field.map(fields) }, { inner: { third: 'abc', second: 'x', first: 0.5 } })).toEqual(
    failed('inner.first must be an integer, not 0.5'),
  )
})

test('many choices', () => {
  const letters = [...'abcdefghijklmnop']
  const fields = { one: field.string({ in: letters }), none: field.integer({ exclusion: [1, 2, 3, 4, 5, 6, 7, 8, 9] }) }
  expect(check(fields, { one: 'p', none: 10 })).toEqual({ ok: true, value: { one: 'p', none: 10 } })
  letters.push('q')
  expect(check(fields, { one: 'q', none: 9 })).toEqual(
    failed(
      `one must be one of ${letters
        .slice(0, -1)
        .map((letter) => `"${letter}"`)
        .join(', ')}`,
      'none must not be any of 1, 2, 3, 4, 5, 6, 7, 8, 9',
    ),
  )
})

const long = (count: number) => 'a'.repeat(count)

test.each<['email' | 'hostname', string, boolean]>([
  ['email', 'first.last+tag@mail-1.example.com', true],
  ['email', `x@${long(63)}.de`, true],
  ['email', `x@${long(64)}.de`, false],
  ['email', 'grün@example.com', true],
  ['email', 'x@xn--grn-hoa.de', true],
  ['email', 'x@example.com.', true],
  ['email', 'x@[127.0.0.1]', true],
  ['email', '.x@example.com', false],
  ['email', 'x..y@example.com', false],
  ['email', 'x@example..com', false],
  ['email', 'x@-example.com', false],
  ['email', 'x@example-.com', false],
  ['email', '@example.com', false],
  ['email', 'x y@example.com', false],
  ['email', 'x@example.com\n', false],
  ['email', `${long(250)}@example.com`, true],
  ['email', `${long(320)}@example.com`, false],
  ['hostname', 'A-1.example.', true],
  ['hostname', '.', false],
  ['hostname', 'a..b', false],
  ['hostname', `${long(63)}.${long(63)}.${long(63)}.${long(61)}`, true],
  ['hostname', `${long(63)}.${long(63)}.${long(63)}.${long(61)}.`, true],
  ['hostname', `${long(63)}.${long(63)}.${long(63)}.${long(62)}`, false],
  ['hostname', `${long(64)}.de`, false],
])('%s %s: %s', (format, text, ok) => {
  expect(check({ it: field.string({ format }) }, { it: text })).toMatchObject({ ok })
})

test('a bad default is explained although the field has a message', () => {
  expect(() =>
    field.union([field.string(), field.integer()], { default: true as never, message: 'must be nice' }),
  ).toThrow("field.union: 'default' must be a string or an integer, not true.")
})
