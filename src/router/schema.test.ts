import { expect, test } from 'vitest'
import { z } from 'zod'
import { field } from './field.js'
import { inputSchema, mirroredParams, outputSchema } from './schema.js'

test('no input: an empty object schema, and arguments are let through', () => {
  const schema = inputSchema("tool 'noargs'", {})
  expect(schema.json).toEqual({ type: 'object', properties: {} })
  expect(schema.check({ anything: 1 })).toEqual({ ok: true, value: { anything: 1 } })
  expect(schema.check([])).toEqual({ ok: false, errors: ['arguments must be an object, not a list'] })
})

test('no output: no schema', () => {
  expect(outputSchema("tool 't'", {})).toBeUndefined()
})

test('fields as an output', () => {
  const schema = outputSchema("tool 't'", {
    output: { total: field.integer({ required: true }), when: field.schema(z.string().default('now')) },
  })
  expect(schema?.json).toEqual({
    type: 'object',
    properties: { total: { type: 'integer' }, when: { type: 'string', default: 'now' } },
    required: ['total'],
  })
  expect(schema?.check({ total: 1, more: true })).toEqual({ ok: true, value: { total: 1, more: true } })
  expect(schema?.check({ total: Number.NaN })).toEqual({ ok: false, errors: ['total must be an integer, not NaN'] })
  expect(schema?.check('text')).toEqual({ ok: false, errors: ['result must be an object, not a string'] })
})

test.each<[string, () => unknown, string]>([
  [
    'input twice',
    () => inputSchema("tool 't'", { input: {}, inputSchema: { type: 'object' } }),
    "tool 't': 'input' and 'inputSchema' exclude each other. Leave one of them out.",
  ],
  [
    'output twice',
    () => outputSchema("tool 't'", { output: {}, outputSchema: {} }),
    "tool 't': 'output' and 'outputSchema' exclude each other. Leave one of them out.",
  ],
  [
    'input of another type',
    () => inputSchema("tool 't'", { inputSchema: { type: 'array' } }),
    "tool 't': the input must be an object, so the root of its schema needs the type 'object'.",
  ],
  [
    'input without a type',
    () => inputSchema("tool 't'", { inputSchema: {} }),
    "tool 't': the input must be an object, so the root of its schema needs the type 'object'.",
  ],
  [
    'a member that is no field',
    () => inputSchema("tool 't'", { input: { name: 'string' } as never }),
    "tool 't' input: 'name' is not a field. Use field.string(), field.integer() and so on.",
  ],
  [
    'a Standard Schema as a member',
    () => inputSchema("tool 't'", { input: { name: z.string() } as never }),
    "tool 't' input: 'name' is not a field. A Standard Schema goes into field.schema().",
  ],
  [
    'a shape that is none',
    () => inputSchema("tool 't'", { input: [field.string()] as never }),
    "tool 't' input: expects a record of fields or a Standard Schema. A plain JSON Schema goes into inputSchema.",
  ],
  [
    'a plain schema as a shape',
    () => outputSchema("tool 't'", { output: { type: 'object', properties: {} } as never }),
    "tool 't' output: 'type' is not a field. A plain JSON Schema goes into inputSchema or outputSchema.",
  ],
  [
    'a bad plain schema',
    () => outputSchema("tool 't'", { outputSchema: { type: 'strin' } }),
    "tool 't' outputSchema: 'type' at # must be one of string, ",
  ],
])('misuse is a TypeError: %s', (_name, make, message) => {
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

test('mirrored parameters, nested through properties', () => {
  const json = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      page: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Page-Count' } } },
      exact: { type: 'boolean', 'x-mcp-header': 'exact' },
      plain: { type: 'string' },
      'x-mcp-header': { type: 'string' },
    },
  }
  expect(mirroredParams("tool 't'", json)).toEqual([
    { header: 'Region', path: ['region'], type: 'string' },
    { header: 'Page-Count', path: ['page', 'count'], type: 'integer' },
    { header: 'exact', path: ['exact'], type: 'boolean' },
  ])
  expect(mirroredParams("tool 't'", { type: 'object' })).toEqual([])
  const { json: fields } = inputSchema("tool 't'", { input: { region: field.string({ header: 'Region' }) } })
  expect(mirroredParams("tool 't'", fields)).toEqual([{ header: 'Region', path: ['region'], type: 'string' }])
})

const mirrored = (type: unknown, header: unknown = 'Region') => ({ type, 'x-mcp-header': header })

test.each<[string, Record<string, unknown>, string]>([
  [
    'number',
    { properties: { n: mirrored('number') } },
    `tool 't': x-mcp-header of n needs the type string, integer or boolean, not "number".`,
  ],
  [
    'no type',
    { properties: { a: { properties: { n: { 'x-mcp-header': 'N' } } } } },
    `tool 't': x-mcp-header of a.n needs the type string, integer or boolean, not none.`,
  ],
  [
    'several types',
    { properties: { n: mirrored(['string', 'null']) } },
    `tool 't': x-mcp-header of n needs the type string, integer or boolean, not ["string","null"].`,
  ],
  [
    'root',
    { 'x-mcp-header': 'Root', type: 'object' },
    "tool 't': x-mcp-header belongs to a property, not to the whole input.",
  ],
  [
    'items',
    { properties: { a: { type: 'array', items: mirrored('string') } } },
    "tool 't': x-mcp-header cannot stand under 'items'. Only plain properties can be mirrored.",
  ],
  [
    'below items',
    { properties: { a: { items: { properties: { b: mirrored('string') } } } } },
    "tool 't': x-mcp-header cannot stand under 'items'.",
  ],
  [
    'composition',
    { anyOf: [{ properties: { a: mirrored('string') } }] },
    "tool 't': x-mcp-header cannot stand under 'anyOf'.",
  ],
  [
    'condition',
    { if: {}, else: { properties: { a: mirrored('string') } } },
    "tool 't': x-mcp-header cannot stand under 'else'.",
  ],
  ['definition', { $defs: { a: mirrored('string') } }, "tool 't': x-mcp-header cannot stand under '$defs'."],
  [
    'extra properties',
    { additionalProperties: mirrored('string') },
    "tool 't': x-mcp-header cannot stand under 'additionalProperties'.",
  ],
  [
    'empty name',
    { properties: { a: mirrored('string', '') } },
    `tool 't': x-mcp-header of a: "" is not a header name. Use letters, digits and hyphens, such as 'Region'.`,
  ],
  [
    'name with a line break',
    { properties: { a: mirrored('string', 'A\r\nB') } },
    `tool 't': x-mcp-header of a: "A\\r\\nB" is not a header name.`,
  ],
  [
    'name that is no text',
    { properties: { a: mirrored('string', 5) } },
    `tool 't': x-mcp-header of a: 5 is not a header name.`,
  ],
  [
    'same name',
    { properties: { a: mirrored('string', 'Region'), b: mirrored('string', 'REGION') } },
    "tool 't': a and b have the same x-mcp-header 'REGION'; case does not count. Rename one.",
  ],
])('a bad x-mcp-header is a TypeError: %s', (_name, json, message) => {
  const make = () => mirroredParams("tool 't'", json)
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})
