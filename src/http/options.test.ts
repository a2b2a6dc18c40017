import { describe, expect, test } from 'vitest'
import { type HttpOptions, resolveOptions } from './options.js'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

describe('resolveOptions', () => {
  test('is safe on loopback by default', () => {
    expect(resolveOptions('x', {})).toMatchObject({
      cors: true,
      hosts: LOOPBACK,
      origins: [],
      maxBodyBytes: 1_048_576,
      maxDepth: 200,
      secondStream: 'refuse',
    })
  })

  test('an option that is undefined is an option that was not given', () => {
    const nothing = Object.fromEntries(Object.keys(resolveOptions('x', {})).map((name) => [name, undefined]))
    expect(resolveOptions('x', nothing as HttpOptions)).toEqual(resolveOptions('x', {}))
  })

  test('keeps what was given', () => {
    const options = { maxBodyBytes: 5, hosts: '*', origins: '*', cors: false, secondStream: 'takeOver' } as const
    expect(resolveOptions('x', options)).toMatchObject(options)
  })

  test.each<[string, object, RegExp]>([
    ['an unknown option', { maxBodyByte: 5 }, /^serve: unknown option 'maxBodyByte'; known are .*maxBodyBytes/],
    ['options that are none', null as never, /^serve: the options must be an object, not null/],
    ['a limit of zero', { maxBodyBytes: 0 }, /^serve: maxBodyBytes must be a whole number from 1 on, not 0/],
    ['a limit in words', { maxBodyBytes: '1mb' }, /^serve: maxBodyBytes must be a whole number from 1 on, not 1mb/],
    ['an endless limit', { maxBodyBytes: Number.POSITIVE_INFINITY }, /^serve: maxBodyBytes .*Infinity/],
    ['a fraction of a level', { maxDepth: 1.5 }, /^serve: maxDepth /],
    ['a negative time', { keepAliveMs: -1 }, /^serve: keepAliveMs /],
    ['no time', { streamAfterMs: Number.NaN }, /^serve: streamAfterMs .*NaN/],
    [
      'a host that is no list',
      { hosts: 'mcp.example.com' },
      /^serve: hosts must be a list .*'mcp\.example\.com', or '\*'/,
    ],
    ['hosts that are not text', { hosts: [5] }, /^serve: hosts must be a list/],
    ['a host with its scheme', { hosts: ['https://mcp.example.com'] }, /^serve: hosts are names without scheme/],
    ['an IPv6 host without brackets', { hosts: ['::1'] }, /^serve: hosts .*\[::1\]/],
    ['an empty host', { hosts: [''] }, /^serve: hosts /],
    [
      'an origin that is no list',
      { origins: 'https://a.example' },
      /^serve: origins must be a list, a function or '\*'/,
    ],
    [
      'a star inside of a list',
      { origins: ['*'] },
      /^serve: origins are of the form 'https:\/\/app\.example\.com', not '\*'/,
    ],
    ['an origin without scheme', { origins: ['a.example'] }, /^serve: origins are of the form/],
    ['an origin with a path', { origins: ['https://a.example/'] }, /^serve: origins are of the form/],
    ['an origin that is null', { origins: ['null'] }, /^serve: origins are of the form/],
    [
      'cookies from anywhere',
      { origins: '*', cors: { credentials: true } },
      /^serve: cors\.credentials needs a list of origins/,
    ],
    ['cors that is a word', { cors: 'yes' }, /^serve: cors/],
    ['cors that is null', { cors: null }, /^serve: cors/],
    ['an unknown option of cors', { cors: { allowHeader: ['x'] } }, /^serve.*cors.*'allowHeader'/],
    ['headers that are no list', { cors: { allowHeaders: 'x' } }, /^serve.*allowHeaders/],
    [
      'a third way with streams',
      { secondStream: 'both' },
      /^serve: secondStream must be 'refuse' or 'takeOver', not "both"/,
    ],
  ])('refuses %s and says what to do', (_what, options, message) => {
    expect(() => resolveOptions('serve', options as HttpOptions)).toThrow(TypeError)
    expect(() => resolveOptions('serve', options as HttpOptions)).toThrow(message)
  })
})
