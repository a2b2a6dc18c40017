import type { StandardSchemaV1 } from '@standard-schema/spec'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { inputSchema, outputSchema } from './schema.js'

function failed(...errors: string[]) {
  return { ok: false, errors }
}

test('the input side is advertised, the parsed value arrives', () => {
  const schema = inputSchema("tool 't'", {
    input: z.object({ n: z.string().transform(Number), limit: z.number().default(10), note: z.string().optional() }),
  })
  expect(schema.json).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { n: { type: 'string' }, limit: { type: 'number', default: 10 }, note: { type: 'string' } },
    required: ['n'],
  })
  expect(schema.check({ n: '5' })).toEqual({ ok: true, value: { n: 5, limit: 10 } })
  expect(schema.check({ n: 5, limit: 'x' })).toEqual(
    failed(
      'n: Invalid input: expected string, received number',
      'limit: Invalid input: expected number, received string',
    ),
  )
  expect(schema.check([])).toEqual(failed('arguments: Invalid input: expected object, received array'))
})

test('the output side is advertised for an output', () => {
  const schema = outputSchema("tool 't'", { output: z.object({ total: z.number(), note: z.string().default('none') }) })
  expect(schema?.json).toMatchObject({ required: ['total', 'note'] })
  expect(schema?.check({ total: 1 })).toEqual({ ok: true, value: { total: 1, note: 'none' } })
  expect(schema?.check({ total: '1' })).toEqual(failed('total: Invalid input: expected number, received string'))
})

test('an output need not be an object', () => {
  const schema = outputSchema("tool 't'", { output: z.array(z.int()) })
  expect(schema?.check([1, 'x'])).toEqual(failed('result[1]: Invalid input: expected number, received string'))
})

test('an asynchronous schema is awaited', async () => {
  const schema = inputSchema("tool 't'", {
    input: z.object({ a: z.array(z.object({ b: z.string().refine(async (text) => text !== 'no', 'Taken') })) }),
  })
  expect(await schema.check({ a: [{ b: 'x' }, { b: 'no' }] })).toEqual(failed('a[1].b: Taken'))
  expect(await schema.check({ a: [] })).toEqual({ ok: true, value: { a: [] } })
})

test('the JSON Schema is asked for once', () => {
  let asked = 0
  const convert = () => {
    asked++
    return { type: 'object' }
  }
  const input = fake({ jsonSchema: { input: convert, output: convert } })
  const schema = inputSchema("tool 't'", { input })
  expect(schema.check({})).toEqual({ ok: true, value: {} })
  expect(schema.json).toEqual({ type: 'object' })
  expect(schema.json).toBe(schema.json)
  expect(asked).toBe(1)
})

test('a schema may be a function, as in arktype, and paths may be segments', () => {
  const issues = [{ message: 'must be shorter', path: ['a', { key: 0 }, { key: 'b' }, Symbol('s')] }]
  const callable = Object.assign(() => undefined, fake({ issues, jsonSchema: objectConverter }))
  const schema = inputSchema("tool 't'", { input: callable })
  expect(schema.check({})).toEqual(failed('a[0].b["Symbol(s)"]: must be shorter'))
})

test('what cannot be JSON Schema is a TypeError that says what to do', () => {
  expect(() => outputSchema("tool 't'", { output: z.object({ n: z.string().transform(Number) }) })).toThrow(
    new TypeError(
      "tool 't' output: the output side of this zod schema cannot be written as JSON Schema (Transforms cannot be represented in JSON Schema). Move the transform into the handler, pipe it into a schema that says what comes out, or declare a plain JSON Schema instead.",
    ),
  )
  expect(() => inputSchema("tool 't'", { input: z.object({ d: z.date() }) })).toThrow(
    "tool 't' input: the input side of this zod schema cannot be written as JSON Schema (Date cannot be represented in JSON Schema). Use a type that JSON has, or declare a plain JSON Schema instead.",
  )
  expect(() => inputSchema("tool 't'", { input: fake({ vendor: 'valibot' }) })).toThrow(
    new TypeError(
      "tool 't' input: this valibot schema cannot give its JSON Schema. Wrap it in its converter (toStandardJsonSchema of @valibot/to-json-schema), or declare a plain JSON Schema instead.",
    ),
  )
  expect(() => inputSchema("tool 't'", { input: fake({}) })).toThrow(
    "tool 't' input: this fake schema cannot give its JSON Schema. Wrap it in its converter, or declare a plain JSON Schema instead.",
  )
  expect(() => inputSchema("tool 't'", { input: z.string() })).toThrow(
    "tool 't': the input must be an object, so the root of its schema needs the type 'object'.",
  )
})

test('a transform on an output is fine once it says what comes out', () => {
  const output = z.object({ n: z.string().transform(Number).pipe(z.number()) })
  const schema = outputSchema("tool 't'", { output })
  expect(schema?.json).toMatchObject({ properties: { n: { type: 'number' } } })
  expect(schema?.check({ n: '4' })).toEqual({ ok: true, value: { n: 4 } })
})

test('a converter that gives nonsense is found at registration', () => {
  const jsonSchema = { input: () => ({ type: 'object', $ref: 'https://example.com/x' }), output: () => ({}) }
  expect(() => inputSchema("tool 't'", { input: fake({ jsonSchema }) })).toThrow(
    `tool 't' input: '$ref' "https://example.com/x" does not lead to a part of this schema.`,
  )
})

const objectConverter = { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) }

/** A minimal Standard Schema of an unknown library. */
function fake(parts: {
  vendor?: string
  issues?: readonly StandardSchemaV1.Issue[]
  jsonSchema?: unknown
}): StandardSchemaV1 {
  const { vendor = 'fake', issues, ...rest } = parts
  const validate = (value: unknown) => (issues === undefined ? { value } : { issues })
  return { '~standard': { version: 1, vendor, validate, ...rest } }
}
