import { describe, expect, test } from 'vitest'
import { toCompletion } from './completion.js'

const values = (count: number): string[] => Array.from({ length: count }, (_, index) => `v${index}`)

describe('a completion', () => {
  test.each([
    [0, 0],
    [1, 1],
    [99, 99],
    [100, 100],
  ])('of %i values has them all', (count, total) => {
    expect(toCompletion(values(count))).toEqual({ values: values(count), total, hasMore: false })
  })

  test.each([101, 250])('of %i values has the first hundred', (count) => {
    expect(toCompletion(values(count))).toEqual({ values: values(100), total: count, hasMore: true })
    expect(toCompletion({ values: values(count) })).toEqual({ values: values(100), hasMore: true })
    expect(toCompletion({ values: values(count), total: 1000, hasMore: false })).toEqual({
      values: values(100),
      total: 1000,
      hasMore: true,
    })
  })

  test('says what the completer says', () => {
    expect(toCompletion({ values: ['a'] })).toEqual({ values: ['a'], hasMore: false })
    expect(toCompletion({ values: ['a'], hasMore: true })).toEqual({ values: ['a'], hasMore: true })
    expect(toCompletion({ values: ['a'], total: 1 })).toEqual({ values: ['a'], total: 1, hasMore: false })
    expect(toCompletion({ values: [], total: 5 })).toEqual({ values: [], total: 5, hasMore: true })
  })

  test.each([[undefined], [null], ['abc'], [5], [{}], [{ values: 'abc' }], [[1]], [['a', null]], [{ values: [{}] }]])(
    'is not %j',
    (returned) => {
      expect(() => toCompletion(returned)).toThrow(TypeError)
    },
  )
})
