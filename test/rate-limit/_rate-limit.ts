import { createRouter, type RateLimitOptions, type Router, rateLimit } from 'phantom-mcp'
import { RpcError, type TestClient } from 'phantom-mcp/testing'
import { vi } from 'vitest'
import { afterTest } from '../http/_http.js'
import { type Assigns, furnish, userOf } from '../sessions/_sessions.js'

export const MINUTE = 60_000

/** The library counts by `performance.now`; from here on the test says what time it is. */
export function stopClock(): { advance(ms: number): void } {
  vi.useFakeTimers({ toFake: ['performance'] })
  afterTest(() => void vi.useRealTimers())
  return { advance: (ms) => void vi.advanceTimersByTime(ms) }
}

function limited<Any extends object>(router: Router<Any>, options: RateLimitOptions): Router<Any> {
  router.use(rateLimit(options))
  furnish(router)
  router.tool('pong', {}, () => 'ping')
  return router
}

/** Everyone may call it. */
export const openRouter = (options: RateLimitOptions): Router =>
  limited(createRouter({ name: 'limited', version: '1.0.0' }), options)

/** Those with a token may call it, and those without one are nobody in particular. */
export const usersRouter = (options: RateLimitOptions): Router =>
  limited(
    createRouter<Assigns>({
      name: 'limited',
      version: '1.0.0',
      connect: (session, { headers }) =>
        session.assign({ user: userOf(headers.get('authorization')) ?? { id: 'nobody' } }),
      principal: ({ assigns }) => (assigns.user.id === 'nobody' ? null : assigns.user.id),
    }),
    options,
  ) as unknown as Router

/** `ok`, or the reason of the refusal. */
export async function outcomeOf(client: TestClient, name: string): Promise<unknown> {
  try {
    await client.callTool(name)
    return 'ok'
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return (error.data as { reason?: string } | undefined)?.reason ?? error.code
  }
}

/** The outcomes of so many calls, one after the other. */
export async function outcomesOf(count: number, call: () => Promise<unknown>): Promise<unknown[]> {
  const outcomes: unknown[] = []
  for (let index = 0; index < count; index++) outcomes.push(await call())
  return outcomes
}
