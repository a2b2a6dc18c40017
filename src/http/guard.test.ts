import { describe, expect, test } from 'vitest'
import { Guard } from './guard.js'
import type { HttpCall } from './http-call.js'
import { type HttpOptions, resolveOptions } from './options.js'

type Headers = Readonly<Record<string, string | readonly string[]>>

const call = (headers: Headers): HttpCall =>
  ({ headers: (name: string) => [headers[name] ?? []].flat() }) as unknown as HttpCall

/** The word of the reason; undefined where the call passes. */
function reason(options: HttpOptions, headers: Headers): unknown {
  const refused = new Guard(resolveOptions('test', options)).check(call(headers))
  if (refused === undefined) return undefined
  const { error } = JSON.parse(refused.body) as { error: { code: number; data: { reason: string; option: string } } }
  expect(error.code).toBe(-32600)
  // A header that is there twice is no matter of an option.
  if (error.data.reason === 'repeated') expect(refused.status).toBe(400)
  else expect([refused.status, error.data.option]).toEqual([403, `${error.data.reason}s`])
  return error.data.reason
}

const HERE = { host: 'localhost:3000' }
const EVIL = 'https://evil.example.com'

describe('Guard', () => {
  const ROWS: [string, HttpOptions, Headers, string | undefined][] = [
    ['loopback by default', {}, HERE, undefined],
    ['no Host at all', {}, {}, 'host'],
    ['an empty Host', {}, { host: '' }, 'host'],
    ['a port only', {}, { host: ':3000' }, 'host'],
    ['IPv6 without brackets', {}, { host: '::1' }, 'host'],
    ['a foreign Host', {}, { host: 'evil.example.com' }, 'host'],
    ['a Host that only begins like loopback', {}, { host: 'localhost.evil.example.com' }, 'host'],
    ['any Host where hosts is *', { hosts: '*' }, { host: 'evil.example.com' }, undefined],
    ['no Host where hosts is *', { hosts: '*' }, {}, undefined],
    ['a listed IPv6 name with any port', { hosts: ['[2001:db8::1]:80'] }, { host: '[2001:db8::1]:8080' }, undefined],
    ['an empty list', { hosts: [] }, HERE, 'host'],
    ['no Origin', {}, HERE, undefined],
    ['a loopback Origin', {}, { ...HERE, origin: 'http://127.0.0.1:5173' }, undefined],
    ['a foreign Origin', {}, { ...HERE, origin: EVIL }, 'origin'],
    ['an opaque Origin', {}, { ...HERE, origin: 'null' }, 'origin'],
    ['a listed Origin', { origins: [EVIL] }, { ...HERE, origin: EVIL }, undefined],
    ['an Origin that differs in its port', { origins: [EVIL] }, { ...HERE, origin: `${EVIL}:8443` }, 'origin'],
    [
      'an Origin that differs in its scheme',
      { origins: [EVIL] },
      { ...HERE, origin: 'http://evil.example.com' },
      'origin',
    ],
    ['any Origin where origins is *', { origins: '*' }, { ...HERE, origin: 'null' }, undefined],
    ['loopback pages beside a list', { origins: [EVIL] }, { ...HERE, origin: 'http://localhost' }, undefined],
    [
      'loopback pages of a public server',
      { hosts: ['a.example'] },
      { host: 'a.example', origin: 'http://localhost' },
      'origin',
    ],
    [
      'own pages of a public server',
      { hosts: ['a.example'] },
      { host: 'A.example', origin: 'https://a.EXAMPLE' },
      undefined,
    ],
    ['own pages under any name', { hosts: '*' }, { host: 'a.example', origin: 'https://a.example' }, 'origin'],
    ['the Host before the Origin', {}, { host: 'evil.example.com', origin: EVIL }, 'host'],
    ['two different Hosts', {}, { host: ['localhost', 'evil.example.com'] }, 'repeated'],
    ['two different Origins', {}, { ...HERE, origin: ['http://localhost', EVIL] }, 'origin'],
  ]

  test.each(ROWS)('%s', (...[, options, headers, expected]) => {
    expect(reason(options, headers)).toBe(expected)
  })

  test('asks a function for what is not its own, with the Origin as it came', () => {
    const asked: string[] = []
    const origins = (origin: string): boolean => {
      asked.push(origin)
      return false
    }
    expect(reason({ origins }, { ...HERE, origin: 'http://localhost:1' })).toBeUndefined()
    expect(reason({ origins }, { ...HERE, origin: 'HTTPS://Evil.example.com' })).toBe('origin')
    expect(asked).toEqual(['HTTPS://Evil.example.com'])
  })
})
