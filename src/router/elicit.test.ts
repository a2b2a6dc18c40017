import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Elicit, type Form } from './elicit.js'
import { field } from './field.js'
import type { Fields } from './field-types.js'
import { isQuestion } from './question.js'

const form = (fields: Fields) => Elicit.form({ message: 'Please', fields })
const schemaOf = (question: Form<never> | Form<unknown>) => question.params['requestedSchema']
const accept = (content: unknown) => ({ action: 'accept', content })

describe('a form of fields', () => {
  test('is told as the specification writes forms', () => {
    const question = Elicit.form({
      message: 'About you',
      fields: {
        name: field.string({ required: true, title: 'Name', description: 'In full', minLength: 1, maxLength: 80 }),
        mail: field.string({ format: 'email' }),
        site: field.string({ format: 'uri' }),
        born: field.string({ format: 'date' }),
        at: field.string({ format: 'date-time' }),
        code: field.string({ length: 4, default: 'abcd' }),
        age: field.integer({ minimum: 0, maximum: 150, default: 30 }),
        score: field.number({ default: 95.5 }),
        sure: field.boolean({ required: true }),
        status: field.string({ in: ['active', 'inactive'], default: 'active' }),
        delete: field.string({ in: ['yes', 'no'], titles: { yes: 'Yes, delete it' } }),
        tags: field.array(field.string({ in: ['a', 'b'] }), { minLength: 1, maxLength: 2, default: ['a'] }),
        colours: field.array(field.string({ in: ['r', 'g'], titles: { r: 'Red', g: 'Green' } }), { title: 'Colours' }),
      },
    })
    expect(isQuestion(question)).toBe(true)
    expect(question.method).toBe('elicitation/create')
    expect(question.requires).toEqual({ elicitation: { form: {} } })
    expect(JSON.parse(JSON.stringify(question.params))).toStrictEqual({
      mode: 'form',
      message: 'About you',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Name', description: 'In full', minLength: 1, maxLength: 80 },
          mail: { type: 'string', format: 'email' },
          site: { type: 'string', format: 'uri' },
          born: { type: 'string', format: 'date' },
          at: { type: 'string', format: 'date-time' },
          code: { type: 'string', minLength: 4, maxLength: 4, default: 'abcd' },
          age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
          score: { type: 'number', default: 95.5 },
          sure: { type: 'boolean' },
          status: { type: 'string', enum: ['active', 'inactive'], default: 'active' },
          delete: {
            type: 'string',
            oneOf: [
              { const: 'yes', title: 'Yes, delete it' },
              { const: 'no', title: 'no' },
            ],
          },
          tags: {
            type: 'array',
            items: { type: 'string', enum: ['a', 'b'] },
            minItems: 1,
            maxItems: 2,
            default: ['a'],
          },
          colours: {
            type: 'array',
            title: 'Colours',
            items: {
              anyOf: [
                { const: 'r', title: 'Red' },
                { const: 'g', title: 'Green' },
              ],
            },
          },
        },
        required: ['name', 'sure'],
      },
    })
  })

  test('limits that no version has for forms are enforced and not told', () => {
    const question = form({
      code: field.string({ pattern: /^[A-Z]+$/, exclusion: ['ROOT'] }),
      seats: field.integer({ greaterThan: 0, lessThan: 10.5 }),
      both: field.integer({ minimum: 5, greaterThan: 1, maximum: 7, lessThan: 100 }),
      share: field.number({ greaterThan: 0, maximum: 1 }),
      tags: field.array(field.string({ in: ['a', 'b'] }), { uniqueItems: true }),
    })
    expect(schemaOf(question)).toEqual({
      type: 'object',
      properties: {
        code: { type: 'string' },
        seats: { type: 'integer', minimum: 1, maximum: 10 },
        both: { type: 'integer', minimum: 5, maximum: 7 },
        share: { type: 'number', maximum: 1 },
        tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      },
    })
    expect(question.read(accept({ code: 'AB', seats: 10, share: 1, tags: ['b'] }))).toMatchObject({ action: 'accept' })
    for (const content of [{ code: 'a' }, { code: 'ROOT' }, { seats: 0 }, { share: 0 }, { tags: ['a', 'a'] }])
      expect(question.read(accept(content))).toBeUndefined()
  })

  test('an answer is checked, and its defaults are filled in', () => {
    const question = form({ name: field.string({ required: true }), limit: field.integer({ default: 10 }) })
    expect(question.read(accept({ name: 'Ada' }))).toEqual(accept({ name: 'Ada', limit: 10 }))
    expect(question.read(accept({ name: 'Ada', limit: 3, more: { a: 1 } }))).toEqual(
      accept({ name: 'Ada', limit: 3, more: { a: 1 } }),
    )
    expect(question.read({ action: 'decline' })).toEqual({ action: 'decline' })
    expect(question.read({ action: 'cancel', content: { name: 'Ada' } })).toEqual({ action: 'cancel' })
  })

  test.each([
    undefined,
    null,
    'accept',
    [],
    {},
    { action: 'timeout' },
    { action: 'ACCEPT', content: { name: 'Ada' } },
    { action: ['accept'], content: { name: 'Ada' } },
    accept(undefined),
    accept(null),
    accept([]),
    accept('Ada'),
    accept({}),
    accept({ name: null }),
    accept({ name: 7 }),
    accept({ name: ['Ada'] }),
    JSON.parse('{"action":"accept","content":{"__proto__":{"name":"Ada"}}}'),
    JSON.parse('{"__proto__":{"action":"accept","content":{"name":"Ada"}}}'),
  ])('%j does not fit', (response) => {
    expect(form({ name: field.string({ required: true }) }).read(response)).toBeUndefined()
  })

  test('content may be left out where nothing is needed', () => {
    expect(form({}).read({ action: 'accept' })).toEqual(accept({}))
    expect(form({ note: field.string({ default: 'none' }) }).read({ action: 'accept' })).toEqual(
      accept({ note: 'none' }),
    )
  })

  test('members that were not asked for change nothing but themselves', () => {
    const question = form({ limit: field.integer({ default: 10 }) })
    const answer = question.read(JSON.parse('{"action":"accept","content":{"__proto__":{"polluted":true}}}'))
    expect(answer).toMatchObject({ action: 'accept', content: { limit: 10 } })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    let deep: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    expect(question.read(accept({ limit: deep }))).toBeUndefined()
    expect(question.read(accept({ limit: 1, deep }))).toMatchObject({ action: 'accept' })
    expect(question.read(accept({ limit: 'x'.repeat(1_000_000) }))).toBeUndefined()
  })

  test.each<[string, Fields, string]>([
    ['a map', { a: field.map({}) }, "'a' is an object, and a form is flat. Ask for its members one by one."],
    [
      'a list of texts',
      { a: field.array(field.string()) },
      "'a' is a list of any values, and a form has lists of choices only. Give its items 'in'.",
    ],
    ['a list of lists', { a: field.array(field.array(field.string({ in: ['x'] }))) }, "'a' is a list of any values"],
    ['a list of numbers', { a: field.array(field.integer({ in: [1] })) }, "'a' is a list of any values"],
    ['a union', { a: field.union(field.string(), field.integer()) }, "'a' is of no kind that a form has. Use a string"],
    ['a nullable field', { a: field.string({ nullable: true }) }, "'a' has more than one type, and null is no answer."],
    ['choices of numbers', { a: field.integer({ in: [1, 2] }) }, "'a' has choices that are not strings. Use strings"],
    [
      'a format that forms lack',
      { a: field.string({ format: 'uuid' }) },
      "'a' has the format uuid; a form has email, uri, date, date-time. Use one of them, or a pattern.",
    ],
    [
      'a header',
      { a: field.string({ header: 'Region' }) },
      "'a' has a 'header', which has no place in a form. Leave it out.",
    ],
    [
      'a validate',
      { a: field.string({ validate: () => true }) },
      "'a' has a 'validate', which has no place in a form. Check the answer in the handler.",
    ],
    [
      'a validate inside',
      { a: field.array(field.string({ in: ['x'], validate: () => true })) },
      "'a' has a 'validate'",
    ],
    ['a schema that is an object', { a: field.schema(z.object({})) }, "'a' is an object, and a form is flat."],
    ['no field', { a: z.string() as never }, "'a' is not a field. A Standard Schema goes into field.schema()."],
    [
      'fields as a schema',
      z.object({}) as never,
      "'fields' expects a record of fields. A Standard Schema goes into 'schema'",
    ],
  ])('%s is refused with the mend', (_name, fields, message) => {
    expect(() => form(fields)).toThrow(TypeError)
    expect(() => form(fields)).toThrow(message.startsWith("'fields'") ? `Elicit.form: ${message}` : message)
  })
})

describe('a form by a Standard Schema', () => {
  test('is told in the restricted form, and gives the parsed value', async () => {
    const schema = z.object({
      mail: z.email(),
      seats: z.int().positive().max(9),
      size: z.enum(['s', 'l']).default('s'),
      sure: z.union([z.literal('yes').meta({ title: 'Yes, do' }), z.literal('no')]),
      tags: z
        .array(z.enum(['a', 'b']))
        .min(1)
        .optional(),
      when: z.iso
        .date()
        .transform((text) => text.slice(0, 4))
        .optional(),
    })
    const question = Elicit.form({ message: 'Book', schema })
    expect(schemaOf(question)).toEqual({
      type: 'object',
      properties: {
        mail: { type: 'string', format: 'email' },
        seats: { type: 'integer', minimum: 1, maximum: 9 },
        size: { type: 'string', enum: ['s', 'l'], default: 's' },
        sure: {
          type: 'string',
          oneOf: [
            { const: 'yes', title: 'Yes, do' },
            { const: 'no', title: 'no' },
          ],
        },
        tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 },
        when: { type: 'string', format: 'date' },
      },
      required: ['mail', 'seats', 'sure'],
    })
    const content = { mail: 'ada@example.com', seats: 2, sure: 'yes', when: '2026-01-02', more: 1 }
    expect(await question.read(accept(content))).toEqual(
      accept({ mail: 'ada@example.com', seats: 2, size: 's', sure: 'yes', when: '2026' }),
    )
    expect(await question.read(accept({ ...content, seats: 10 }))).toBeUndefined()
    expect(await question.read(accept([]))).toBeUndefined()
  })

  test('may be asynchronous', async () => {
    const schema = z.object({ name: z.string().refine(async (name) => name !== 'taken') })
    const question = Elicit.form({ message: 'Name?', schema })
    expect(await question.read(accept({ name: 'free' }))).toEqual(accept({ name: 'free' }))
    expect(await question.read(accept({ name: 'taken' }))).toBeUndefined()
  })

  test.each([
    ['zod', z.strictObject({ size: z.enum(['l', 's']), note: z.string().optional() })],
    ['arktype', type({ size: "'l'|'s'", 'note?': 'string' })],
    ['valibot', toStandardJsonSchema(v.object({ size: v.picklist(['l', 's']), note: v.optional(v.string()) }))],
  ])('%s writes it its own way', async (_name, schema) => {
    const question = Elicit.form({ message: 'Size?', schema })
    expect(schemaOf(question)).toEqual({
      type: 'object',
      properties: { size: { type: 'string', enum: ['l', 's'] }, note: { type: 'string' } },
      required: ['size'],
    })
    expect(await question.read(accept({ size: 'l' }))).toEqual(accept({ size: 'l' }))
    expect(await question.read(accept({ size: 'm' }))).toBeUndefined()
  })

  test.each([
    ['an object', z.object({ a: z.object({}) }), "Elicit.form: 'a' is an object, and a form is flat."],
    ['a nullable member', z.object({ a: z.string().nullable() }), "Elicit.form: 'a' has more than one type"],
    ['another format', z.object({ a: z.uuid() }), "Elicit.form: 'a' has the format uuid"],
    [
      'a step',
      z.object({ a: z.number().multipleOf(5) }),
      "Elicit.form: 'a' has 'multipleOf', which has no place in a form.",
    ],
    [
      'a list',
      z.array(z.string()),
      "Elicit.form: a form is an object, so the root of its schema needs the type 'object'.",
    ],
    ['a record', z.record(z.string(), z.string()), 'has no place at the root of a form. Leave it out.'],
    ['other members', z.object({}).catchall(z.string()), "'additionalProperties' has no place at the root of a form."],
    ['a schema without JSON', v.object({}), 'Elicit.form: this valibot schema cannot give its JSON Schema.'],
    ['no schema', { a: field.string() }, "Elicit.form: 'schema' expects a Standard Schema. Fields go into 'fields'"],
  ])('%s is refused with the mend', (_name, schema, message) => {
    expect(() => Elicit.form({ message: 'Please', schema: schema as z.ZodType })).toThrow(TypeError)
    expect(() => Elicit.form({ message: 'Please', schema: schema as z.ZodType })).toThrow(message)
  })
})

describe('a form by its JSON Schema', () => {
  const json = (requestedSchema: Readonly<Record<string, unknown>>) =>
    Elicit.form({ message: 'Please', requestedSchema })

  test('is sent as it is, also with titles in the form that came first', () => {
    const requestedSchema = {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: ['a', 'b'] },
        titledSingle: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
        legacyEnum: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'a' },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 },
        titledMulti: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, default: ['a'] },
        name: { type: 'string', title: 'Name', default: 'John Doe' },
        score: { type: 'number', minimum: 0.5 },
      },
      required: ['untitledSingle', 'name'],
    }
    expect(schemaOf(json(requestedSchema))).toEqual(requestedSchema)
  })

  test('is enforced whole', () => {
    const question = json({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe', maxLength: 8 },
        size: { type: 'string', enum: ['s', 'l'], default: 's' },
        tags: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, maxItems: 1 },
        age: { type: 'integer', exclusiveMinimum: 0 },
        sure: { type: 'boolean' },
      },
      required: ['name'],
    })
    expect(question.read(accept({ name: 'Ada' }))).toEqual(accept({ name: 'Ada', size: 's' }))
    const wrong = [{}, { name: 'Elizabeth' }, { name: 'Ada', size: 'm' }, { name: 'Ada', tags: ['a', 'a'] }]
    for (const content of [...wrong, { name: 'Ada', tags: ['b'] }, { name: 'Ada', age: 0 }, { name: 'Ada', sure: 1 }])
      expect(question.read(accept(content))).toBeUndefined()
  })

  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      'no object',
      { type: 'string' },
      "Elicit.form: a form is an object, so the root of its schema needs the type 'object'.",
    ],
    ['members that are a list', { type: 'object', properties: [] }, "Elicit.form: 'properties' at # must be"],
    [
      'a keyword at the root',
      { type: 'object', additionalProperties: false },
      "'additionalProperties' has no place at the root",
    ],
    [
      'a missing member',
      { type: 'object', required: ['a'] },
      "Elicit.form: 'required' names 'a', which is not in 'properties'.",
    ],
    ['a reference', member({ $ref: '#' }), "Elicit.form: 'a' is of no kind that a form has."],
    ['true', { type: 'object', properties: { a: true } }, "Elicit.form: 'a' needs a JSON Schema that is an object."],
    [
      'an unknown keyword',
      member({ type: 'string', examples: ['x'] }),
      "Elicit.form: 'a' has 'examples', which has no place",
    ],
    [
      'limits at war',
      member({ type: 'string', minLength: 2, maxLength: 1 }),
      "Elicit.form: 'a': field.string: 'minLength' 2",
    ],
    [
      'a default that does not fit',
      member({ type: 'integer', default: 'x' }),
      "Elicit.form: 'a': field.integer: 'default'",
    ],
    [
      'names for other values',
      member({ type: 'string', enum: ['x'], enumNames: [] }),
      "'a' has choices that are not strings.",
    ],
    [
      'limits of items',
      member({ type: 'array', items: { enum: ['x'], minLength: 1 } }),
      "'a', in its items, has 'minLength'",
    ],
    [
      'names for items',
      member({ type: 'array', items: { type: 'string', enum: ['x'], enumNames: ['X', 'Y'] } }),
      "'a' is a list",
    ],
    ['alternatives with more', member({ oneOf: [{ const: 'x', minLength: 1 }] }), "'a' is of no kind"],
    [
      'a prototype',
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
      "'properties' at # must not name '__proto__'",
    ],
  ])('%s is refused with the mend', (_name, schema, message) => {
    expect(() => json(schema)).toThrow(TypeError)
    expect(() => json(schema)).toThrow(message)
  })
})

function member(a: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { type: 'object', properties: { a } }
}

test('a form is built in one way, with a message', () => {
  const build = Elicit.form as (options: unknown) => unknown
  expect(() => build({ message: 'Hi' })).toThrow(
    "Elicit.form: needs one of 'fields', 'schema' and 'requestedSchema', not none.",
  )
  expect(() => build({ message: 'Hi', fields: {}, requestedSchema: {} })).toThrow('not fields and requestedSchema.')
  expect(() => build({ fields: {} })).toThrow(
    "Elicit.form: needs a 'message', which tells the user what is wanted and why.",
  )
  expect(() => build({ message: 'Hi', field: {} })).toThrow("Elicit.form: unknown option 'field'")
  expect(() => build(null)).toThrow('Elicit.form: the options must be an object, not null')
})

test('a fingerprint is that of the answers that fit', () => {
  const print = (fields: Fields, message = 'Please') => Elicit.form({ message, fields }).fingerprint
  const one = print({ a: field.string({ in: ['x', 'y'], required: true }), b: field.boolean() })
  const same = {
    b: field.boolean({ title: 'B' }),
    a: field.string({ in: ['y', 'x'], titles: { x: 'X' }, required: true }),
  }
  expect(print(same, 'Another')).toBe(one)
  expect(one).toBe(
    'elicitation/create {"properties":{"a":{"enum":["x","y"],"type":"string"},"b":{"type":"boolean"}},"required":["a"]}',
  )
  const others: Fields[] = [
    { a: field.string({ in: ['x', 'y'] }), b: field.boolean() },
    { a: field.string({ in: ['x'], required: true }), b: field.boolean() },
    { a: field.string({ in: ['x', 'y'], required: true }) },
    { a: field.string({ in: ['x', 'y'], required: true }), b: field.boolean({ default: true }) },
    { a: field.string({ required: true }), b: field.boolean() },
    { a: field.string({ pattern: 'x', required: true }), b: field.boolean() },
  ]
  expect(new Set([one, ...others.map((fields) => print(fields))]).size).toBe(7)
})

test('a URL to be opened', () => {
  const question = Elicit.url('https://example.com/connect?flow=1', 'Connect your account')
  expect(question.params).toEqual({
    mode: 'url',
    message: 'Connect your account',
    url: 'https://example.com/connect?flow=1',
  })
  expect(question.method).toBe('elicitation/create')
  expect(question.requires).toEqual({ elicitation: { url: {} } })
  expect(question.fingerprint).toBe(Elicit.url(new URL('http://localhost:1'), 'Other').fingerprint)
  expect(question.fingerprint).not.toBe(form({}).fingerprint)
  expect(question.read({ action: 'accept' })).toStrictEqual(accept(undefined))
  expect(question.read({ action: 'accept', content: { a: 1 } })).toStrictEqual(accept(undefined))
  expect(question.read({ action: 'decline' })).toEqual({ action: 'decline' })
  expect(question.read({ action: 'open' })).toBeUndefined()
  for (const url of ['javascript:alert(1)', 'file:///etc/passwd', '/connect', '', undefined])
    expect(() => Elicit.url(url as string, 'Open')).toThrow('is no http or https URL. Give the whole URL of a page.')
  expect(() => Elicit.url('https://example.com', '')).toThrow("Elicit.url: needs a 'message'")
})
