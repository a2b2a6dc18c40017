import { expect, test } from 'vitest'
import { readSchemaDocument } from './schema-document.js'

const deep = (levels: number): unknown => (levels === 0 ? {} : { not: deep(levels - 1) })
const cyclic: Record<string, unknown> = { type: 'object' }
cyclic['properties'] = cyclic

test.each<[string, unknown, string]>([
  ['not an object', [], 'it: a JSON Schema must be an object.'],
  [
    'dialect',
    { $schema: 'http://json-schema.org/draft-04/schema#' },
    'it: the JSON Schema dialect "http://json-schema.org/draft-04/schema#" is not supported. Use 2020-12, which needs no $schema, or draft-07.',
  ],
  [
    'mixed dialects',
    { properties: { a: { $id: 'a', $schema: 'http://json-schema.org/draft-07/schema#' } } },
    "it: '$schema' at #/properties/a must be the dialect of the whole schema.",
  ],
  [
    'network reference',
    { $ref: 'https://example.com/schema.json' },
    `it: '$ref' "https://example.com/schema.json" does not lead to a part of this schema.`,
  ],
  [
    'dangling pointer',
    { properties: { a: { $ref: '#/$defs/b' } } },
    `it: '$ref' "#/$defs/b" does not lead to a part of this schema.`,
  ],
  ['dangling anchor', { $ref: '#nope' }, `it: '$ref' "#nope" does not lead to a part of this schema.`],
  [
    'inherited pointer',
    { $ref: '#/constructor' },
    `it: '$ref' "#/constructor" does not lead to a part of this schema.`,
  ],
  [
    'reference to no schema',
    { $ref: '#/title', title: 'x' },
    'it: expected a JSON Schema at #/title, an object or a boolean.',
  ],
  ['loop', { $ref: '#' }, "it: a '$ref' leads back to itself without going into the value. Remove the loop."],
  [
    'long loop',
    { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
    "it: a '$ref' leads back to itself",
  ],
  [
    'type',
    { properties: { a: { type: 'strin' } } },
    "it: 'type' at #/properties/a must be one of string, integer, number, boolean, object, array, null, or a list of them.",
  ],
  ['required', { required: [1] }, "it: 'required' at # must be a list of strings."],
  [
    'pattern',
    { properties: { a: { pattern: '(' } } },
    "it: 'pattern' at #/properties/a must be a regular expression that is valid in Unicode mode.",
  ],
  [
    'schema place',
    { properties: { a: 'string' } },
    'it: expected a JSON Schema at #/properties/a, an object or a boolean.',
  ],
  ['properties', { properties: [] }, "it: 'properties' at # must be an object of schemas."],
  [
    'a property that cannot be checked',
    JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
    "it: 'properties' at # must not name '__proto__', which cannot be checked; choose another name.",
  ],
  ['limit', { minimum: '1' }, "it: 'minimum' at # must be a number."],
  ['count', { minLength: -1 }, "it: 'minLength' at # must be a whole number of at least 0."],
  ['items list', { items: [{}] }, "it: 'items' at # must be one schema; a list belongs to 'prefixItems'."],
  [
    'anchor twice',
    { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } },
    'it: the anchor x at #/$defs/b is used twice.',
  ],
  ['id twice', { $defs: { a: { $id: 'x' }, b: { $id: 'x' } } }, "it: '$id' x at #/$defs/b is used twice."],
  ['depth', deep(70), 'it: the JSON Schema nests more than 64 schemas.'],
  ['size', { anyOf: Array.from({ length: 5000 }, () => ({})) }, 'it: the JSON Schema has more than 4096 subschemas.'],
  ['cycle', cyclic, 'it: the JSON Schema nests too deeply or contains itself.'],
  [
    'not JSON',
    { properties: { a: { default: () => 1 } } },
    'it: the JSON Schema holds something that is not JSON at #/properties/a/default.',
  ],
])('refused at registration: %s', (_name, json, message) => {
  const make = () => readSchemaDocument(json, 'it')
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

test('what may look odd but is sound', () => {
  expect(() => readSchemaDocument(deep(60), 'it')).not.toThrow()
  expect(() =>
    readSchemaDocument({ properties: { $ref: { type: 'string' }, type: true, self: { $ref: '#' } } }, 'it'),
  ).not.toThrow()
  expect(() => readSchemaDocument({ const: { $ref: 'https://example.com' }, enum: [{ type: 5 }] }, 'it')).not.toThrow()
})
