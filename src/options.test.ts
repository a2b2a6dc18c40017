import { createRouter, createServer } from 'phantom-mcp'
import { nodeHandler } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'

const TOO_LONG = 2 ** 31

describe('a time that no timer takes', () => {
  const router = createRouter({ name: 'x', version: '1' })
  const told = (owner: string, name: string): string =>
    `${owner}: ${name} must be 2147483647 or less, which is 24 days, not 2147483648`

  test.each(['callTimeoutMs', 'drainMs'])('%s of createServer is a TypeError', (name) => {
    expect(() => createServer(router, { [name]: TOO_LONG })).toThrow(new TypeError(told('createServer', name)))
    expect(() => createServer(router, { [name]: TOO_LONG - 1 })).not.toThrow()
  })

  test.each(['streamAfterMs', 'keepAliveMs', 'retryMs'])('%s of a binding is a TypeError', (name) => {
    expect(() => nodeHandler(router, { [name]: TOO_LONG })).toThrow(new TypeError(told('nodeHandler', name)))
  })

  test('timeoutMs of a tool is a TypeError', () => {
    expect(() => router.tool('slow', { timeoutMs: TOO_LONG }, () => '')).toThrow(told("tool 'slow'", 'timeoutMs'))
  })

  test('but what is kept may be kept for longer', () => {
    expect(() => createServer(router, { sessionTtlMs: 2 ** 40, resume: { ttlMs: 2 ** 40 } })).not.toThrow()
  })
})
