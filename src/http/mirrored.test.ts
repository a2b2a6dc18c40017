import { describe, expect, test } from 'vitest'
import type { HttpCall } from './http-call.js'
import { contradicts, mismatch, paramMismatch } from './mirrored.js'

type Headers = Readonly<Record<string, string | readonly string[]>>

const call = (headers: Headers): HttpCall =>
  ({ headers: (name: string) => [headers[name] ?? []].flat() }) as unknown as HttpCall
const encode = (bytes: string | Buffer): string => `=?base64?${Buffer.from(bytes as string).toString('base64')}?=`

describe('mismatch', () => {
  const problem = (value: string | string[] | undefined, expected: string): string | undefined => {
    const failure = mismatch(call(value === undefined ? {} : { 'mcp-name': value }), 'Mcp-Name', expected)
    if (failure === undefined) return undefined
    expect(failure).toMatchObject({ code: 'HEADER_MISMATCH', data: { header: 'Mcp-Name' } })
    return failure.message
  }

  test.each([
    ['echo', 'echo'],
    ['', ''],
    [' \techo\t ', 'echo'],
    ['a b', 'a b'],
    [encode('echo'), 'echo'],
    [encode('größe'), 'größe'],
    [encode('Hello, 世界'), 'Hello, 世界'],
    [encode(' padded '), ' padded '],
    [encode('line\nbreak'), 'line\nbreak'],
    [encode(''), ''],
    ['=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=', '=?base64?literal?='],
    ['=?BASE64?ZWNobw==?=', '=?BASE64?ZWNobw==?='],
    ['=?base64?ZWNobw==', '=?base64?ZWNobw=='],
    [['echo', 'echo'], 'echo'],
  ])('%j says %j', (value, expected) => {
    expect(problem(value, expected)).toBeUndefined()
  })

  test.each<[string | string[] | undefined, string, RegExp]>([
    [undefined, 'echo', /missing/],
    ['Echo', 'echo', /does not say/],
    ['', 'echo', /does not say/],
    ['echo', ' echo ', /does not say/],
    [['echo', 'other'], 'echo', /twice/],
    [['other', 'echo'], 'echo', /twice/],
    ['gr\u00f6\u00dfe', 'gr\u00f6\u00dfe', /characters/],
    ['e\u00a0', 'e', /characters/],
    ['e\u0000', 'e', /characters/],
    ['e\u007f', 'e', /characters/],
    ['=?base64?ZWNobw?=', 'echo', /Base64/],
    ['=?base64?ZWN obw==?=', 'echo', /Base64/],
    ['=?base64?ZWNobw===?=', 'echo', /Base64/],
    ['=?base64?_-8=?=', 'x', /Base64/],
    [encode(Buffer.from([0xff, 0xfe])), 'x', /UTF-8/],
    [encode('e\u200bcho'), 'echo', /does not say/],
    ['=?BASE64?ZWNobw==?=', 'echo', /does not say/],
  ])('%j does not say %j', (value, expected, message) => {
    expect(problem(value, expected)).toMatch(message)
  })

  test('a byte order mark inside of the encoding is a character like any other', () => {
    expect(problem(encode('\uFEFFecho'), 'echo')).toMatch(/does not say/)
  })
})

test('contradicts asks for nothing that is not there', () => {
  expect(contradicts(call({}), 'Mcp-Method', 'tools/list')).toBeUndefined()
  expect(contradicts(call({ 'mcp-method': 'tools/list' }), 'Mcp-Method', 'tools/list')).toBeUndefined()
  expect(contradicts(call({ 'mcp-method': 'other' }), 'Mcp-Method', 'tools/list')?.code).toBe('HEADER_MISMATCH')
})

describe('paramMismatch', () => {
  const PARAMS = [
    { header: 'Count', path: ['count'], type: 'integer' },
    { header: 'Region', path: ['where', 'region'], type: 'string' },
  ] as const
  const problem = (args: unknown, headers: Headers): unknown => paramMismatch(call(headers), PARAMS, args)?.data

  test.each<[unknown, Headers]>([
    [{}, {}],
    [undefined, {}],
    [null, {}],
    [[], {}],
    [{ count: null }, {}],
    [{ count: 42 }, { 'mcp-param-count': '42' }],
    [{ count: 42 }, { 'mcp-param-count': '42.00' }],
    [{ count: -0 }, { 'mcp-param-count': '0' }],
    [{ count: 'many' }, { 'mcp-param-count': 'many' }],
    [{ where: { region: 'eu' } }, { 'mcp-param-region': 'eu' }],
    [{ where: 'eu' }, {}],
    [{ where: null }, {}],
    [Object.create({ count: 5 }), {}],
  ])('%j agrees with %j', (args, headers) => {
    expect(problem(args, headers)).toBeUndefined()
  })

  test.each<[unknown, Headers, string]>([
    [{ count: 42 }, {}, 'Mcp-Param-Count'],
    [{ count: 42 }, { 'mcp-param-count': '43' }, 'Mcp-Param-Count'],
    [{ count: 42 }, { 'mcp-param-count': '+42' }, 'Mcp-Param-Count'],
    [{ count: 42 }, { 'mcp-param-count': '42.' }, 'Mcp-Param-Count'],
    [{ count: 42 }, { 'mcp-param-count': '4 2' }, 'Mcp-Param-Count'],
    [{ count: 0 }, { 'mcp-param-count': '' }, 'Mcp-Param-Count'],
    [{ count: { a: 1 } }, { 'mcp-param-count': '[object Object]' }, 'Mcp-Param-Count'],
    [{ count: [42] }, { 'mcp-param-count': '42' }, 'Mcp-Param-Count'],
    [{}, { 'mcp-param-count': '42' }, 'Mcp-Param-Count'],
    [{ count: null }, { 'mcp-param-count': 'null' }, 'Mcp-Param-Count'],
    [{ where: { region: 'eu' } }, { 'mcp-param-region': 'EU' }, 'Mcp-Param-Region'],
    [{ where: { region: 'eu' } }, {}, 'Mcp-Param-Region'],
  ])('%j does not agree with %j', (args, headers, header) => {
    expect(problem(args, headers)).toEqual({ header })
  })
})
