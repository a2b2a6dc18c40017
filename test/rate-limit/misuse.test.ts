import { createRouter, type RateLimitOptions, rateLimit } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'

const RATE = { limit: 1, windowMs: 1000 }

describe('rateLimit refuses', () => {
  test.each<[unknown, RegExp]>([
    [undefined, /rateLimit: the options must be an object/],
    [null, /rateLimit: the options must be an object/],
    [7, /rateLimit: the options must be an object/],
    [
      { perCaller: RATE },
      /rateLimit: unknown option 'perCaller'; known are perPrincipal, perTool, perCall, maxCallers/,
    ],
    [{ perPrincipal: null }, /rateLimit, perPrincipal/],
    [{ perPrincipal: 60 }, /rateLimit, perPrincipal/],
    [{ perPrincipal: {} }, /perPrincipal must be \{ limit, windowMs \}/],
    [{ perPrincipal: { limit: 1 } }, /perPrincipal must be \{ limit, windowMs \}/],
    [{ perPrincipal: { windowMs: 1 } }, /perPrincipal must be \{ limit, windowMs \}/],
    [{ perPrincipal: { ...RATE, burst: 2 } }, /rateLimit, perPrincipal: unknown option 'burst'/],
    [{ perPrincipal: { limit: 0, windowMs: 1 } }, /limit must be a whole number from 1 on, not 0/],
    [{ perPrincipal: { limit: -1, windowMs: 1 } }, /limit must be a whole number/],
    [{ perPrincipal: { limit: 1.5, windowMs: 1 } }, /limit must be a whole number/],
    [{ perPrincipal: { limit: '1', windowMs: 1 } }, /limit must be a whole number/],
    [{ perPrincipal: { limit: Number.NaN, windowMs: 1 } }, /limit must be a whole number/],
    [{ perPrincipal: { limit: Number.POSITIVE_INFINITY, windowMs: 1 } }, /limit must be a whole number/],
    [{ perPrincipal: { limit: 1, windowMs: 0 } }, /windowMs must be a whole number/],
    [{ perPrincipal: { limit: 1, windowMs: '1m' } }, /windowMs must be a whole number/],
    [{ perTool: { limit: 1 } }, /perTool must be \{ limit, windowMs \}/],
    [{ perTool: { ping: 7 } }, /rateLimit, perTool, 'ping'/],
    [{ perTool: { ping: null } }, /rateLimit, perTool, 'ping'/],
    [{ perTool: { ping: { limit: 0, windowMs: 1 } } }, /perTool, 'ping': limit must be a whole number/],
    [{ perTool: { ping: { limit: 1 } } }, /perTool, 'ping' must be/],
    [{ perTool: null }, /rateLimit.*perTool/],
    [{ perTool: 7 }, /rateLimit.*perTool/],
    [{ perTool: true }, /rateLimit.*perTool/],
    [{ perTool: [] }, /rateLimit.*perTool/],
    [{ perCall: null }, /rateLimit, perCall/],
    [{ perCall: 7 }, /rateLimit, perCall/],
    [{ perCall: RATE }, /rateLimit, perCall: unknown option 'limit'; known are progress, log/],
    [{ perCall: { progress: 7 } }, /rateLimit, perCall, progress/],
    [{ perCall: { log: { limit: 1 } } }, /perCall, log must be/],
    [{ maxCallers: 0 }, /maxCallers must be a whole number/],
    [{ maxCallers: '10' }, /maxCallers must be a whole number/],
  ])('%o', (options, message) => {
    const make = (): unknown => rateLimit(options as RateLimitOptions)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
  })
})

describe('rateLimit takes', () => {
  test.each<[unknown]>([
    [{}],
    [{ perPrincipal: RATE, perTool: RATE, perCall: { progress: RATE, log: RATE }, maxCallers: 1 }],
    [{ perTool: {} }],
    [{ perTool: { limit: RATE, windowMs: RATE } }],
    [{ perTool: Object.create(null) }],
    [{ perCall: {} }],
    [{ perPrincipal: undefined, perTool: undefined, perCall: undefined, maxCallers: undefined }],
    [{ perCall: { progress: undefined, log: undefined } }],
    [{ perTool: { ping: undefined } }],
    [Object.freeze({ perPrincipal: Object.freeze({ ...RATE }) })],
  ])('%o', (options) => {
    const router = createRouter({ name: 'limited', version: '1.0.0' })
    router.use(rateLimit(options as RateLimitOptions))
    expect(
      createRouter({ name: 'a', version: '1', middleware: [rateLimit(options as RateLimitOptions)] }),
    ).toBeDefined()
  })
})
