import { expect, test } from 'vitest'
import { skillMemory } from './memory.js'

test('of small values, those that were not used for longest go', () => {
  const memory = skillMemory({ values: 2, bytes: 0 })
  memory.set('a', 1)
  memory.set('b', 2)
  expect(memory.get('a')).toBe(1)
  memory.set('c', 3)
  expect(['a', 'b', 'c'].map((key) => memory.get(key))).toEqual([1, undefined, 3])
})

test('large ones share their room, and drive out no small ones', () => {
  const memory = skillMemory({ values: 1, bytes: 10_000 })
  memory.set('small', 's')
  for (const key of ['a', 'b', 'c']) memory.set(key, key, 4_000)
  expect(['small', 'a', 'b', 'c'].map((key) => memory.get(key))).toEqual(['s', undefined, 'b', 'c'])
  memory.set('b', 'more', 9_000)
  expect(['b', 'c'].map((key) => memory.get(key))).toEqual(['more', undefined])
})

test('what would take all the room is not kept, and what it would have replaced has gone', () => {
  const memory = skillMemory({ values: 1, bytes: 10_000 })
  memory.set('a', 'fits', 5_000)
  memory.set('b', 'too large', 10_001)
  expect(memory.get('a')).toBe('fits')
  memory.set('a', 'too large', 10_001)
  expect(memory.get('a')).toBeUndefined()
})

test('empty values are bounded as well, and their room is given back', () => {
  const memory = skillMemory({ values: 1, bytes: 10_000 })
  for (let count = 0; count < 1_000; count++) memory.set(`empty ${count}`, 'e', 0)
  expect(Array.from({ length: 1_000 }, (_, count) => memory.get(`empty ${count}`)).filter(Boolean).length).toBeLessThan(
    20,
  )
  for (let count = 980; count < 1_000; count++) memory.set(`empty ${count}`, undefined, 0)
  memory.set('whole', 'w', 9_000)
  expect(memory.get('whole')).toBe('w')
})
