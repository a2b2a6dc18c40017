import { createRouter, createServer, memoryBackplane, type Store, type TrackedSession } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { afterTest, begin, target } from '../http/_http.js'

/** A server whose store lists as it is told to. */
function listing(list: Store['list']) {
  const backplane = memoryBackplane()
  const store = new Proxy(backplane.store, {
    get: (kept, name: keyof Store) => (name === 'list' ? list : kept[name].bind(kept)),
  })
  const told: unknown[] = []
  const logger = {
    debug: () => undefined,
    info: told.push.bind(told),
    warn: () => undefined,
    error: told.push.bind(told),
  }
  const router = createRouter({ name: 'tracked', version: '1.0.0' })
  const server = createServer(router, { backplane: { ...backplane, store }, callbackTimeoutMs: 50, logger })
  afterTest(() => server.close())
  const all = async (): Promise<TrackedSession[]> => {
    const found: TrackedSession[] = []
    for await (const session of server.tracker.sessions()) found.push(session)
    return found
  }
  return { all, told }
}

const UNREACHABLE = {
  code: 'INTERNAL_ERROR',
  message: 'The server cannot reach its store: try again',
  data: { reason: 'backplane', retryable: true },
}

describe('what is tracked, of a store that is away', () => {
  test.each<[string, Store['list']]>([
    [
      'fails at once',
      () => {
        throw new RangeError('redis://user:pass@host')
      },
    ],
    [
      'fails in the middle',
      async function* () {
        yield 'session/gone'
        throw new RangeError('redis://user:pass@host')
      },
    ],
    [
      'is silent',
      async function* () {
        yield 'session/gone'
        await new Promise(() => undefined)
      },
    ],
  ])('is refused when it %s, in time, and the operator hears of it', async (_what, list) => {
    const { all, told } = listing(list)
    await expect(all()).rejects.toMatchObject(UNREACHABLE)
    expect(told).toContainEqual(
      expect.objectContaining({ event: 'backplane_failed', part: 'store', operation: 'list' }),
    )
    expect(JSON.stringify(told)).not.toContain('pass')
  })
})

test('what is tracked is let go by whoever has seen enough', async () => {
  const backplane = memoryBackplane()
  let open = 0
  const { list } = backplane.store
  backplane.store.list = async function* (prefix) {
    open++
    try {
      yield* list.call(backplane.store, prefix)
    } finally {
      open--
    }
  }
  const on = await target('fetch', createRouter({ name: 'tracked', version: '1.0.0' }), { server: { backplane } })
  await begin(on)
  await begin(on)
  for await (const { protocolVersion } of on.server.tracker.sessions()) {
    expect([protocolVersion, open]).toEqual(['2025-11-25', 1])
    break
  }
  await expect.poll(() => open).toBe(0)
})
