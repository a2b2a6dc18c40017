import { describe, expect, test } from 'vitest'
import { boundDepth, parseJson } from './json.js'

const lists = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('text', () => {
  test('becomes a value', () => {
    expect(parseJson('{"a":[1,"x",null]}', 5)).toEqual({ ok: true, value: { a: [1, 'x', null] } })
    expect(parseJson('5', 1)).toEqual({ ok: true, value: 5 })
  })

  test.each(['', '{', '[1,]', "{'a':1}", 'NaN', '{"a":1}x', '\u0000'])('that is not JSON is refused: %j', (text) => {
    expect(parseJson(text, 5)).toMatchObject({ ok: false, failure: { code: 'PARSE_ERROR' }, id: undefined })
  })

  test('may be so deep and no deeper', () => {
    for (const text of [lists, objects]) {
      expect(parseJson(text(5), 5).ok).toBe(true)
      expect(parseJson(text(6), 5)).toMatchObject({
        ok: false,
        failure: { code: 'INVALID_REQUEST', data: { option: 'maxDepth' } },
      })
      expect(parseJson(text(100_000), 200).ok).toBe(false)
    }
  })

  test('is not deep for many levels beside each other', () => {
    expect(parseJson(`[${Array(1000).fill('[[]]').join()}]`, 3).ok).toBe(true)
  })

  test.each(['[[[[[[', ']]]]]]', '\\"[[[[[[', '\\\\', 'x\\\\\\"[[[[[['])(
    'does not count brackets inside of strings: %j',
    (inside) => {
      const text = `{"a":"${inside}","b":[[]]}`
      expect(parseJson(text, 3)).toEqual({ ok: true, value: JSON.parse(text) })
      expect(parseJson(`{"a":"${inside}","b":[[[]]]}`, 3).ok).toBe(false)
    },
  )

  test('that is too deep tells its id', () => {
    for (const id of [1, 'x', 0, '']) {
      expect(parseJson(`{"id":${JSON.stringify(id)},"params":${lists(9)}}`, 5)).toMatchObject({ ok: false, id })
    }
    expect(parseJson(`{"id":null,"params":${lists(9)}}`, 5)).toMatchObject({ ok: false, id: undefined })
    expect(parseJson(lists(9), 5)).toMatchObject({ ok: false, id: undefined })
  })
})

describe('a value', () => {
  test('has the same bound as its text', () => {
    for (const text of [lists, objects]) {
      for (const levels of [0, 1, 4, 5, 6, 7]) {
        const json = levels === 0 ? '1' : text(levels)
        expect(boundDepth(JSON.parse(json), 5).ok, json).toBe(parseJson(json, 5).ok)
      }
    }
    expect(boundDepth(JSON.parse(lists(100_000)), 200).ok).toBe(false)
  })

  test('is handed back as it is', () => {
    const value = { a: [1] }
    const bound = boundDepth(value, 5)
    expect(bound.ok && bound.value).toBe(value)
  })
})
