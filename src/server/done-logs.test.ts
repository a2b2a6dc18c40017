import { expect, test } from 'vitest'
import { DoneLogs } from './done-logs.js'

function logs(ttlMs = 1_000): {
  done: DoneLogs
  dropped: string[]
  at(ms: number): void
  keep(name: string, size?: number): void
} {
  let now = 0
  const dropped: string[] = []
  const done = new DoneLogs(
    ttlMs,
    (log) => void log.drop(),
    () => now,
  )
  const keep = (name: string, size = 100): void => done.keep({ size, drop: async () => void dropped.push(name) })
  const at = (ms: number): void => {
    now = ms
  }
  return { done, dropped, at, keep }
}

test('the oldest are dropped for those that come, large ones', () => {
  const { done, dropped, keep } = logs()
  for (let index = 0; index < 17; index++) keep(`large ${index}`, 4_194_304)
  expect(dropped).toEqual(['large 0', 'large 1'])
  expect(done.count).toBe(15)
})

test('many small ones are bounded by what they take, not by what they say', () => {
  const { done, dropped, keep } = logs()
  for (let index = 0; index < 50_000; index++) keep(`small ${index}`)
  expect(done.count).toBeLessThan(40_000)
  expect(dropped[0]).toBe('small 0')
  expect(dropped).toHaveLength(50_000 - done.count)
})

test('what the store has let go in time is not kept, nor dropped again', () => {
  const { done, dropped, at, keep } = logs(1_000)
  for (let index = 0; index < 1_000; index++) keep(`early ${index}`)
  at(999)
  keep('later')
  expect(done.count).toBe(1_001)
  at(1_500)
  keep('last')
  expect(done.count).toBe(2)
  expect(dropped).toEqual([])
})
