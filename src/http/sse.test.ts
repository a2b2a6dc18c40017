import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { HttpStream } from './http-call.js'
import { KeepAlive, sseEvent } from './sse.js'

describe('sseEvent', () => {
  test('is one event with one line of data', () => {
    expect(sseEvent('{"id":1}')).toBe('event: message\ndata: {"id":1}\n\n')
  })

  test.each(['a\nb', 'a\r\nb', 'a\u2028b', 'data: x\n\nevent: other', '\u0000'])('holds JSON of %j whole', (text) => {
    const message = JSON.stringify({ text })
    const lines = sseEvent(message).split(/\r\n|\r|\n/)
    expect(lines).toEqual(['event: message', `data: ${message}`, '', ''])
  })
})

describe('KeepAlive', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const stream = (): HttpStream & { written: string[] } => {
    const written: string[] = []
    return {
      written,
      write: (chunk) => written.push(chunk) > 0,
      drained: () => Promise.resolve(),
      cut: () => undefined,
      end: () => undefined,
    }
  }

  test('writes comments on every open stream, and has no timer while there is none', () => {
    const alive = new KeepAlive(100)
    expect(vi.getTimerCount()).toBe(0)
    const [one, two] = [stream(), stream()]
    alive.add(one)
    alive.add(two)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(99)
    expect(one.written).toEqual([])
    vi.advanceTimersByTime(201)
    alive.remove(one)
    vi.advanceTimersByTime(100)
    expect([one.written.length, two.written.length]).toEqual([3, 4])
    for (const comment of two.written) expect(comment).toMatch(/^:[^\r\n]*\n\n$/)
    alive.remove(two)
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(1_000)
    expect(two.written).toHaveLength(4)
  })

  test('takes up again after its last stream is gone', () => {
    const alive = new KeepAlive(100)
    const [one, two] = [stream(), stream()]
    alive.add(one)
    alive.remove(one)
    alive.remove(one)
    alive.add(two)
    vi.advanceTimersByTime(100)
    expect([one.written.length, two.written.length]).toEqual([0, 1])
    alive.remove(two)
  })
})
