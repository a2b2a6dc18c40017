import { describe, expect, test } from 'vitest'
import { decodeBase64, encodeBase64, isBase64 } from './base64.js'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

describe('Base64', () => {
  test.each([
    ['', ''],
    ['f', 'Zg=='],
    ['fo', 'Zm8='],
    ['foo', 'Zm9v'],
    ['foob', 'Zm9vYg=='],
    ['fooba', 'Zm9vYmE='],
    ['foobar', 'Zm9vYmFy'],
  ])('of RFC 4648, %j', (text, encoded) => {
    expect(encodeBase64(new TextEncoder().encode(text))).toBe(encoded)
    expect(new TextDecoder().decode(decodeBase64(encoded))).toBe(text)
  })

  test('holds every byte, and many of them', () => {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index)
    expect(decodeBase64(encodeBase64(all))).toEqual(all)
    const many = Uint8Array.from({ length: 100_001 }, (_, index) => index % 251)
    expect(encodeBase64(many)).toBe(Buffer.from(many).toString('base64'))
    expect(decodeBase64(encodeBase64(many))).toEqual(many)
    expect(encodeBase64(bytes(251, 255))).toBe('+/8=')
  })

  test('of a part of a buffer is of that part', () => {
    expect(encodeBase64(bytes(1, 2, 3, 4).subarray(1, 3))).toBe('AgM=')
  })

  test.each(['Zg', 'Zg=', 'Z', 'Zg==\n', ' Zg==', 'Z g=', 'Zg===', '=', '====', '-_8=', 'Zm9v*', 'Zm=v', 'Zg==Zg=='])(
    'is not %j',
    (text) => {
      expect(decodeBase64(text)).toBeUndefined()
      expect(isBase64(text)).toBe(false)
    },
  )
})

test('a large text is checked without a deep stack', () => {
  expect(isBase64('A'.repeat(20_000_000))).toBe(true)
  expect(isBase64(`${'A'.repeat(20_000_000)}!AAA`)).toBe(false)
})
