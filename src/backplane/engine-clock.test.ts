import { expect, onTestFinished, test, vi } from 'vitest'
import { EngineClock } from './engine-clock.js'

const MINUTE = 60_000

test('the time of the engine is told from here, and asked for again after a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
  onTestFinished(() => void vi.useRealTimers())
  let aheadMs = 30_000
  let asked = 0
  const clock = new EngineClock(async () => {
    asked++
    const said = Date.now() + 40 + aheadMs
    vi.setSystemTime(Date.now() + 80)
    return said
  })
  expect(clock.now()).toBe(1_000_000)
  await Promise.all([clock.keep(), clock.keep()])
  expect(clock.now()).toBe(1_030_080)
  expect(clock.keep()).toBeUndefined()
  expect(asked).toBe(1)
  aheadMs = 20_000
  vi.setSystemTime(Date.now() + MINUTE)
  expect(clock.keep()).toBeUndefined()
  await new Promise(setImmediate)
  expect(clock.now()).toBe(1_080_160)
  expect(asked).toBe(2)
})

test('an engine that cannot be asked is asked again', async () => {
  let away = true
  const clock = new EngineClock(async () => {
    if (away) throw new Error('away')
    return Date.now() + 5_000
  })
  await expect(clock.keep()).rejects.toThrow('away')
  away = false
  await clock.keep()
  expect(clock.now() - Date.now()).toBeGreaterThan(4_900)
})
