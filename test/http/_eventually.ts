import { expect } from 'vitest'

/** `expect.poll` with the patience that a busy machine needs, and without its long steps. */
export function eventually<Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { timeout: 5_000, interval: 10 })
}
