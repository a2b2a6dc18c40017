import { expect, test } from 'vitest'
import { field } from './field.js'

test.each<[string, () => unknown, string]>([
  [
    'required and default',
    () => field.string({ required: true, default: 'x' }),
    "field.string: 'required' and 'default' exclude each other. Leave one of them out.",
  ],
  [
    'default not in',
    () => field.string({ in: ['a', 'b'], default: 'c' }),
    `field.string: 'default' must be one of "a", "b".`,
  ],
  [
    'default of another type',
    () => field.map({ n: field.integer() }, { default: { n: 'x' as never } }),
    "field.map: 'default'.n must be an integer, not a string.",
  ],
  ['null default', () => field.string({ default: null }), "field.string: 'default' must be a string, not null."],
  ['empty in', () => field.integer({ in: [] }), "field.integer: 'in' must be a list with at least one value."],
  [
    'titles without in',
    () => field.string({ titles: { a: 'A' } }),
    "field.string: 'titles' names 'a', which 'in' does not allow.",
  ],
  [
    'a title that is no text',
    () => field.string({ in: ['a'], titles: { a: 1 as never } }),
    "field.string: 'titles' must give 'a' a title that is a string.",
  ],
  [
    'titles as a list',
    () => field.string({ in: ['a'], titles: ['A'] as never }),
    "field.string: 'titles' must be an object with a title for each value of 'in'.",
  ],
  [
    'bounds',
    () => field.number({ minimum: 5, maximum: 4 }),
    "field.number: no number can satisfy 'minimum' 5 and 'maximum' 4. Correct one of them.",
  ],
  [
    'exclusive bounds',
    () => field.integer({ greaterThan: 5, lessThan: 5 }),
    "field.integer: no number can satisfy 'greaterThan' 5 and 'lessThan' 5. Correct one of them.",
  ],
  [
    'infinite bound',
    () => field.number({ maximum: Number.POSITIVE_INFINITY }),
    "field.number: 'maximum' must be a finite number.",
  ],
  [
    'lengths',
    () => field.string({ minLength: 3, maxLength: 2 }),
    "field.string: 'minLength' 3 is above 'maxLength' 2. Swap them.",
  ],
  [
    'length twice',
    () => field.array(field.string(), { length: 3, maxLength: 4 }),
    "field.array: 'length' is exact. Leave out 'minLength' and 'maxLength', or 'length'.",
  ],
  [
    'fractional length',
    () => field.string({ maxLength: 1.5 }),
    "field.string: 'maxLength' must be a whole number of at least 0.",
  ],
  [
    'pattern',
    () => field.string({ pattern: '[' }),
    "field.string: 'pattern' is not a regular expression in Unicode mode: ",
  ],
  [
    'pattern flag',
    () => field.string({ pattern: /a/i }),
    "field.string: 'pattern' cannot carry the flag i. Spell it out, such as [A-Za-z].",
  ],
  [
    'format',
    () => field.string({ format: 'emial' as 'email' }),
    "field.string: 'format' emial is unknown. Use date, time, date-time, duration, email, hostname, ipv4, ipv6, uri, uuid, or 'pattern'.",
  ],
  [
    'option',
    () => field.string({ maxLenght: 3 } as never),
    "field.string: unknown option 'maxLenght'. It takes required, default, ",
  ],
  [
    'header token',
    () => field.string({ header: 'My Region' }),
    `field.string: "My Region" is not a header name. Use letters, digits and hyphens, such as 'Region'.`,
  ],
  [
    'nullable header',
    () => field.string({ header: 'Region', nullable: true }),
    "field.string: 'header' needs a value that is never null. Leave 'nullable' out.",
  ],
  ['item', () => field.array('string' as never), 'field.array: expects a field, such as field.string().'],
  [
    'item default',
    () => field.array(field.string({ default: 'x' })),
    "field.array: 'default' never applies to what is inside. Give it to field.array itself.",
  ],
  [
    'member',
    () => field.map({ a: 1 as never }),
    "field.map: 'a' is not a field. Use field.string(), field.integer() and so on.",
  ],
  [
    '__proto__',
    () => field.map({ ['__proto__']: field.string() }),
    "field.map: a field cannot be named '__proto__'. Choose another name.",
  ],
  [
    'union of one',
    () => field.union([field.string()] as never),
    'field.union: needs at least two fields, such as field.union(a, b).',
  ],
  [
    'schema of fields',
    () => field.schema({ a: field.string() } as never),
    'field.schema: expects a Standard Schema or { jsonSchema }. For a record of fields use field.map().',
  ],
  [
    'embedded draft-07',
    () => field.schema({ jsonSchema: { $schema: 'http://json-schema.org/draft-07/schema#' } }),
    'field.schema: a draft-07 schema cannot stand inside a 2020-12 one.',
  ],
])('misuse is a TypeError: %s', (_name, make, message) => {
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})
