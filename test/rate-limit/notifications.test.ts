import { createRouter, type RateLimitOptions, type Router, rateLimit } from 'phantom-mcp'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { gate } from '../_messages.js'
import { describeMatrix } from '../_setup.js'
import { MINUTE, stopClock } from './_rate-limit.js'

const PROGRESS = 'notifications/progress'
const LOG = 'notifications/message'

function chattyRouter(perCall: RateLimitOptions['perCall']): Router {
  const router = createRouter({ name: 'chatty', version: '1.0.0' })
  router.use(rateLimit(perCall === undefined ? {} : { perCall }))
  router.tool('chat', {}, async (_params, session) => {
    for (let step = 1; step <= 5; step++) {
      await session.notifyProgress(step, 5)
      await session.log.info(`step ${step}`)
      await session.notify('notifications/custom', { step })
    }
    return 'done'
  })
  return router
}

const chat = (client: TestClient): Promise<unknown> => client.callTool('chat', {}, { progressToken: 'p' })
const steps = (client: TestClient): unknown[] => client.notified(PROGRESS).map(({ progress }) => progress)
const logs = (client: TestClient): unknown[] => client.notified(LOG).map(({ data }) => data)

describeMatrix('progress and logs of one call', {}, (setup) => {
  test('beyond their rate are dropped, and nothing else is: the call is answered', async () => {
    stopClock()
    const perCall = { progress: { limit: 2, windowMs: MINUTE }, log: { limit: 3, windowMs: MINUTE } }
    const client = await setup(chattyRouter(perCall), { logLevel: 'info' })
    expect(await chat(client)).toMatchObject({ content: [{ text: 'done' }] })
    expect(steps(client)).toEqual([1, 2])
    expect(logs(client)).toEqual(['step 1', 'step 2', 'step 3'])
    expect(client.notified('notifications/custom').map(({ step }) => step)).toEqual([1, 2, 3, 4, 5])
  })
})

describe('perCall', () => {
  test('each call has its own', async () => {
    stopClock()
    const perCall = { progress: { limit: 2, windowMs: MINUTE } }
    const client = await connect(chattyRouter(perCall))
    await chat(client)
    await chat(client)
    expect(steps(client)).toEqual([1, 2, 1, 2])
  })

  test('one of the two leaves the other alone', async () => {
    stopClock()
    const rate = { limit: 1, windowMs: MINUTE }
    const quiet = await connect(chattyRouter({ progress: rate }), { logLevel: 'debug' })
    await chat(quiet)
    expect([steps(quiet).length, logs(quiet).length]).toEqual([1, 5])
    const silent = await connect(chattyRouter({ log: rate }), { logLevel: 'debug' })
    await chat(silent)
    expect([steps(silent).length, logs(silent).length]).toEqual([5, 1])
    const free = await connect(chattyRouter({}), { logLevel: 'debug' })
    await chat(free)
    expect([steps(free).length, logs(free).length]).toEqual([5, 5])
  })

  test('what a level keeps back is not counted', async () => {
    stopClock()
    const router = createRouter({ name: 'levels', version: '1.0.0' })
    router.use(rateLimit({ perCall: { log: { limit: 1, windowMs: MINUTE } } }))
    router.tool('talk', {}, async (_params, session) => {
      for (let n = 0; n < 5; n++) await session.log.debug('detail')
      await session.log.error('trouble')
      return 'done'
    })
    const client = await connect(router, { logLevel: 'error' })
    await client.callTool('talk')
    expect(logs(client)).toEqual(['trouble'])
  })

  test('a window later there is more', async () => {
    const clock = stopClock()
    const router = createRouter({ name: 'slow', version: '1.0.0' })
    router.use(rateLimit({ perCall: { progress: { limit: 1, windowMs: 1000 } } }))
    const [begun, rest] = [gate(), gate()]
    router.tool('slow', {}, async (_params, session) => {
      await session.notifyProgress(1)
      await session.notifyProgress(2)
      begun.open()
      await rest.promise
      await session.notifyProgress(3)
      await session.notifyProgress(4)
      return 'done'
    })
    const client = await connect(router)
    const call = client.callTool('slow', {}, { progressToken: 0 })
    await begun.promise
    clock.advance(1000)
    rest.open()
    await call
    expect(steps(client)).toEqual([1, 3])
  })

  test('notifications of that name that a handler writes itself are limited, too', async () => {
    stopClock()
    const router = createRouter({ name: 'own', version: '1.0.0' })
    router.use(rateLimit({ perCall: { progress: { limit: 1, windowMs: MINUTE } } }))
    router.tool('own', {}, async (_params, session) => {
      for (let progress = 1; progress <= 3; progress++) await session.notify(PROGRESS, { progressToken: 1, progress })
      return 'done'
    })
    const client = await connect(router)
    await client.callTool('own')
    expect(steps(client)).toEqual([1])
  })
})
