import { expect, test } from 'vitest'
import { z } from 'zod'
import { field } from './field.js'
import type { Fields } from './field-types.js'
import { inputSchema } from './schema.js'

function check(fields: Fields, value: unknown) {
  return inputSchema("tool 't'", { input: fields }).check(value)
}

function json(fields: Fields) {
  return inputSchema("tool 't'", { input: fields }).json
}

function failed(...errors: string[]) {
  return { ok: false, errors }
}

test('a union takes the first member that fits', () => {
  const fields = {
    id: field.union(field.integer({ minimum: 1 }), field.string({ pattern: '^[a-f]+$' })),
    shape: field.union(
      [field.map({ r: field.number({ required: true }) }), field.map({ w: field.number({ default: 1 }) })],
      {
        default: {} as never,
        nullable: true,
      },
    ),
  }
  expect(json(fields)).toEqual({
    type: 'object',
    properties: {
      id: {
        anyOf: [
          { type: 'integer', minimum: 1 },
          { type: 'string', pattern: '^[a-f]+$' },
        ],
      },
      shape: {
        anyOf: [
          { type: 'object', properties: { r: { type: 'number' } }, required: ['r'] },
          { type: 'object', properties: { w: { type: 'number', default: 1 } } },
          { type: 'null' },
        ],
        default: { w: 1 },
      },
    },
  })
  expect(check(fields, { id: 'abc' })).toEqual({ ok: true, value: { id: 'abc', shape: { w: 1 } } })
  expect(check(fields, { id: 3, shape: null })).toEqual({ ok: true, value: { id: 3, shape: null } })
  expect(check(fields, { id: 0, shape: null })).toEqual(failed('id must be at least 1'))
  expect(check(fields, { id: [], shape: 1 })).toEqual(
    failed('id must be an integer or a string, not a list', 'shape must be an object or null, not 1'),
  )
})

test('an embedded Standard Schema parses, and its references are moved', async () => {
  const Tree = z.object({
    name: z.string(),
    get kids() {
      return z.array(Tree).optional()
    },
  })
  const fields = {
    tree: field.schema(Tree, { required: true, description: 'A tree' }),
    when: field.schema(z.string().transform((text) => Number(text))),
    slow: field.schema(z.string().refine(async (text) => text !== 'bad', 'Bad word')),
  }
  const schema = json(fields)
  expect(JSON.stringify(schema)).toContain('"$ref":"#/properties/tree"')
  expect(schema).toMatchObject({ properties: { tree: { description: 'A tree', type: 'object' } }, required: ['tree'] })
  expect(JSON.stringify(schema)).not.toContain('$schema')
  expect(await check(fields, { tree: { name: 'a', kids: [{ name: 'b' }] }, when: '12', slow: 'x' })).toEqual({
    ok: true,
    value: { tree: { name: 'a', kids: [{ name: 'b' }] }, when: 12, slow: 'x' },
  })
  expect(await check(fields, { tree: { name: 'a', kids: [{ name: 7 }] }, slow: 'bad' })).toEqual(
    failed('tree.kids[0].name: Invalid input: expected string, received number', 'slow: Bad word'),
  )
})

test('an embedded JSON Schema is enforced whole, wherever it stands', async () => {
  const node = {
    $ref: '#/$defs/n',
    $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' }, v: { type: 'integer' } } } },
  }
  const fields = {
    list: field.array(field.schema({ jsonSchema: node })),
    'a/b': field.schema({ jsonSchema: node }, { nullable: true }),
  }
  expect(json(fields)).toMatchObject({
    properties: {
      list: { items: { $ref: '#/properties/list/items/$defs/n' } },
      'a/b': { anyOf: [{ $ref: '#/properties/a~1b/anyOf/0/$defs/n' }, { type: 'null' }] },
    },
  })
  expect(await check(fields, { list: [{ v: 1 }, { next: { v: 'x' } }] })).toEqual(
    failed('list[1].next.v must be an integer, not a string'),
  )
  expect(await check(fields, { list: [{ v: 1 }], 'a/b': null })).toEqual({
    ok: true,
    value: { list: [{ v: 1 }], 'a/b': null },
  })
})
