import { expect, test } from 'vitest'
import { compileJsonSchema } from './json-schema.js'
import { inputSchema, outputSchema } from './schema.js'
import { compileWithAjv } from './schema-ajv.js'
import { prepareInterpreter } from './schema-interpreter.js'
import { toSchema } from './schema-model.js'

const engines = [
  ['ajv', compileWithAjv],
  ['interpreter', prepareInterpreter],
] as const

/** Every case runs on both validators: a host must not decide what is valid. */
function check(engine: (typeof engines)[number][1], json: unknown, value: unknown) {
  const { json: told, validate } = compileJsonSchema(json, 'it', engine)
  return toSchema(told, validate, 'arguments').check(value)
}

function failed(...errors: string[]) {
  return { ok: false, errors }
}

const tree = {
  type: 'object',
  properties: { node: { $ref: '#/$defs/n', description: 'The root' } },
  required: ['node'],
  $defs: {
    n: {
      type: 'object',
      properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/n' } } },
      required: ['name'],
    },
  },
}

test.each(engines)('%s: a recursive tree', async (_name, engine) => {
  const good = { node: { name: 'a', kids: [{ name: 'b', kids: [{ name: 'c' }] }] } }
  expect(await check(engine, tree, good)).toEqual({ ok: true, value: good })
  const bad = { node: { name: 'a', kids: [{ name: 'b', kids: [{ name: 7 }] }] } }
  expect(await check(engine, tree, bad)).toEqual(failed('node.kids[0].kids[0].name must be a string, not 7'))
})

test.each(engines)('%s: keywords and their words', async (_name, engine) => {
  const json = {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 2, maxLength: 3, pattern: '^a' },
      n: { type: ['integer', 'null'], minimum: 1, maximum: 5, multipleOf: 2 },
      x: { exclusiveMinimum: 0, exclusiveMaximum: 1 },
      kind: { enum: ['a', 'b'] },
      one: { const: 1 },
      tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2, uniqueItems: true },
      mail: { type: 'string', format: 'email' },
      map: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'integer' } },
    },
    required: ['text', 'constructor'],
    additionalProperties: false,
  }
  const errors = async (value: unknown) => {
    const outcome = await check(engine, json, value)
    return outcome.ok ? [] : [...outcome.errors].sort()
  }
  expect(await errors({})).toEqual(['constructor is required', 'text is required'])
  expect(await errors({ text: 'b', n: 'x', kind: 'c', one: 2, x: 0, extra: 1 })).toEqual([
    'constructor is required',
    'extra is not allowed',
    'kind must be one of "a", "b"',
    'n must be an integer or null, not a string',
    'one must be 1',
    'text must have at least 2 characters',
    'text must match the pattern ^a',
    'x must be greater than 0',
  ])
  expect(await errors({ text: 'a🧭🧭', n: 7, x: 1, tags: [], mail: 'no', map: {} })).toEqual([
    'constructor is required',
    'mail must be a valid email',
    'map must have at least 1 key',
    'n must be a multiple of 2',
    'n must be at most 5',
    'tags must have at least 1 item',
    'x must be less than 1',
  ])
  expect(await errors({ text: 'abcd', n: 0, tags: ['a', 1, 'a'], map: { a: 1, b: 'x', c: 2 } })).toEqual([
    'constructor is required',
    'map must have at most 2 keys',
    'map.b must be an integer, not a string',
    'n must be at least 1',
    'tags must have at most 2 items',
    'tags must not contain the same item twice',
    'tags[1] must be a string, not 1',
    'text must have at most 3 characters',
  ])
})

test.each(engines)('%s: composition, conditions, dependencies', async (_name, engine) => {
  const json = {
    type: 'object',
    properties: {
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      shape: { oneOf: [{ required: ['r'] }, { required: ['w'] }] },
      no: { not: { type: 'string' } },
      list: { contains: { const: 1 }, minContains: 2 },
    },
    if: { properties: { mode: { const: 'fast' } }, required: ['mode'] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name.
    then: { required: ['speed'] },
    else: { required: ['reason'] },
    dependentRequired: { card: ['cvc'] },
    propertyNames: { pattern: '^[a-z]+$' },
  }
  const errors = async (value: unknown) => {
    const outcome = await check(engine, json, value)
    return outcome.ok ? [] : outcome.errors
  }
  expect(await errors({ mode: 'fast', speed: 1, either: null, shape: { r: 1 }, no: 1, list: [1, 1] })).toEqual([])
  expect(await errors({ mode: 'fast' })).toEqual(['speed is required'])
  expect(await errors({})).toEqual(['reason is required'])
  expect(await errors({ reason: 1, card: 1 })).toEqual(['cvc is required'])
  expect(await errors({ reason: 1, either: 1 })).toContain('either must match at least one of the allowed forms')
  expect(await errors({ reason: 1, shape: { r: 1, w: 1 } })).toEqual([
    'shape must match exactly one of the allowed forms',
  ])
  expect(await errors({ reason: 1, no: 'x' })).toEqual(['no has a form that is not allowed'])
  expect(await errors({ reason: 1, list: [1] })).toContain(
    'list does not have enough items of the required form, or has too many',
  )
  expect(await errors({ reason: 1, 'A B': 1 })).toEqual(['arguments has the key "A B", which is not allowed'])
})

test.each(engines)('%s: anchors, ids and pointers into other places', async (_name, engine) => {
  const json = {
    $id: 'https://example.com/root',
    type: 'object',
    properties: {
      a: { $ref: '#word' },
      b: { $ref: 'other' },
      c: { $ref: '#/properties/a' },
      d: { $ref: 'https://example.com/other#/$defs/deep' },
      'x/y': { $ref: '#/$defs/sp%20ace' },
    },
    $defs: {
      w: { $anchor: 'word', type: 'string' },
      o: { $id: 'other', type: 'integer', $defs: { deep: { type: 'boolean' } } },
      'sp ace': { type: 'null' },
    },
  }
  expect(await check(engine, json, { a: 'x', b: 1, c: 'y', d: true, 'x/y': null })).toMatchObject({ ok: true })
  expect(await check(engine, json, { a: 1, b: 'x', c: 2, d: 3, 'x/y': 4 })).toEqual(
    failed(
      'a must be a string, not 1',
      'b must be an integer, not a string',
      'c must be a string, not 2',
      'd must be true or false, not 3',
      'arguments["x/y"] must be null, not 4',
    ),
  )
})

test.each(engines)('%s: draft-07 has its own rules', async (_name, engine) => {
  const json = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    definitions: { s: { $id: '#s', type: 'string' } },
    properties: {
      pair: { items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
      ref: { $ref: '#s', maxLength: 1 },
      p: { $ref: '#/definitions/s' },
    },
    dependencies: { a: ['b'] },
  }
  expect(await check(engine, json, { pair: ['a', 1], ref: 'long enough' })).toMatchObject({ ok: true })
  const outcome = await check(engine, json, { pair: [1], ref: 2, a: 1 })
  expect(outcome.ok ? [] : [...outcome.errors].sort()).toEqual([
    'b is required',
    'pair[0] must be a string, not 1',
    'ref must be a string, not 2',
  ])
  expect(await check(engine, json, { pair: ['a', 1, 2] })).toMatchObject({ ok: false })
})

test.each(engines)('%s: hostile values', async (_name, engine) => {
  const json = {
    type: 'object',
    properties: { constructor: { type: 'string' }, n: { type: 'number' } },
    additionalProperties: { type: 'integer' },
  }
  expect(await check(engine, json, {})).toEqual({ ok: true, value: {} })
  expect(await check(engine, json, { n: Number.NaN })).toMatchObject({ ok: false })
  expect(await check(engine, json, { n: Number.POSITIVE_INFINITY })).toMatchObject({ ok: false })
  expect(await check(engine, json, { n: 1n })).toMatchObject({ ok: false })
  expect(await check(engine, json, { n: () => 1 })).toMatchObject({ ok: false })
  expect(await check(engine, json, JSON.parse('{"__proto__":"x"}'))).toEqual(
    failed('__proto__ must be an integer, not a string'),
  )
  expect(await check(engine, json, JSON.parse('{"a\\ud800":"x"}'))).toMatchObject({ ok: false })
  const value = JSON.parse('{"__proto__":1,"n":2}')
  const outcome = await check(engine, json, value)
  expect(outcome.ok && outcome.value === value).toBe(true)
  let deep: unknown = 1
  for (let level = 0; level < 150; level++) deep = { kids: [deep] }
  expect(await check(engine, tree, { node: deep })).toMatchObject({ ok: false })
})

test.each(engines)('%s: words that only a library knows mean nothing', async (_name, engine) => {
  const json = {
    $async: true,
    type: 'object',
    id: 'x',
    properties: {
      a: { nullable: true, id: 'y' },
      b: { type: 'string', nullable: true },
      c: { format: 'made-up' },
      d: { format: 'date', formatMinimum: '2020-01-01' },
    },
    'x-anything': { $ref: 5 },
  }
  expect(await check(engine, json, { a: 1, c: 'x', d: '1999-01-01' })).toMatchObject({ ok: true })
  expect(await check(engine, json, { b: null })).toEqual(failed('b must be a string, not null'))
})

test.each(engines)('%s: nothing is changed in the value', async (_name, engine) => {
  const value = { n: '1', extra: true }
  const json = { type: 'object', properties: { n: {}, d: { default: 5 } } }
  expect(await check(engine, json, value)).toEqual({ ok: true, value: { n: '1', extra: true } })
  expect(value).toEqual({ n: '1', extra: true })
})

test.each(engines)('%s: many errors are cut', async (_name, engine) => {
  const json = { type: 'array', items: { type: 'string' } }
  const outcome = await check(
    engine,
    json,
    Array.from({ length: 200 }, () => 1),
  )
  expect(outcome.ok ? 0 : outcome.errors.length).toBe(50)
  expect(outcome.ok ? '' : outcome.errors[0]).toBe('arguments[0] must be a string, not 1')
})

test('a huge value gets its first error only', async () => {
  const json = { type: 'array', items: { type: 'string' } }
  const outcome = await check(
    compileWithAjv,
    json,
    Array.from({ length: 20_000 }, () => 1),
  )
  expect(outcome).toEqual(failed('arguments[0] must be a string, not 1'))
})

test('the first check waits for the validator, later ones do not', async () => {
  const schema = inputSchema("tool 'tree'", { inputSchema: tree })
  const first = schema.check({})
  const second = schema.check({ node: { name: 'a' } })
  expect(first).toBeInstanceOf(Promise)
  expect(second).toBeInstanceOf(Promise)
  expect(await first).toEqual(failed('node is required'))
  expect(await second).toEqual({ ok: true, value: { node: { name: 'a' } } })
  expect(schema.check({})).toEqual(failed('node is required'))
})

test('a host without code generation takes the interpreter by itself', async () => {
  const original = globalThis.Function
  const forbidden = () => {
    throw new EvalError('Code generation from strings disallowed for this context')
  }
  globalThis.Function = new Proxy(original, { construct: forbidden, apply: forbidden })
  try {
    expect(await inputSchema("tool 'tree'", { inputSchema: tree }).check({ node: { name: 7 } })).toEqual(
      failed('node.name must be a string, not 7'),
    )
  } finally {
    globalThis.Function = original
  }
})

test('a compile that failed is tried again', async () => {
  let tries = 0
  const flaky = async () => {
    tries++
    if (tries === 1) throw new Error('no memory')
    return () => []
  }
  const { validate } = compileJsonSchema({}, 'it', flaky)
  await expect(validate(1)).rejects.toThrow('no memory')
  expect(await validate(1)).toEqual({ ok: true, value: 1 })
  expect(validate(2)).toEqual({ ok: true, value: 2 })
  expect(tries).toBe(2)
})

test('the schema is sent as given, and later changes to it do nothing', async () => {
  const given = { type: 'object', 'x-own': [1, { a: null }], $comment: 'kept', properties: { a: { type: 'string' } } }
  const schema = inputSchema("tool 't'", { inputSchema: given })
  const text = JSON.stringify(given)
  given.properties.a.type = 'integer'
  expect(JSON.stringify(schema.json)).toBe(text)
  expect(await schema.check({ a: 'x' })).toMatchObject({ ok: true })
  expect(() => Object.assign(schema.json, { type: 'array' })).toThrow(TypeError)
})

test('an output may be anything, and is named result', async () => {
  const schema = outputSchema("tool 't'", { outputSchema: { type: 'array', items: { type: 'integer' } } })
  expect(await schema?.check([1, 'x'])).toEqual(failed('result[1] must be an integer, not a string'))
  expect(await schema?.check(null)).toEqual(failed('result must be a list, not null'))
})
