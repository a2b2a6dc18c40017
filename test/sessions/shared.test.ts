import { memoryBackplane } from 'phantom-mcp'
import { expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { askingRouter } from '../asking/_asking.js'
import { legacy, target } from '../http/_http.js'
import { beginAs, sessionStream, slowBackplane } from './_sessions.js'

test('a session that has ended leaves nothing behind in what nodes share', async () => {
  const { local: _local, ...backplane } = memoryBackplane()
  const keys = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const key of backplane.store.list('')) found.push(key.replace(/\/.*/, ''))
    return found.sort()
  }
  const router = askingRouter()
  router.tool('log', {}, async (_params, session) => {
    await session.log.error('streamed')
    return 'done'
  })
  const on = await target('node', router, { server: { backplane } })
  const { headers } = await beginAs(on)
  const stream = await sessionStream(on, headers)
  const called = await on.send(legacy('tools/call', { name: 'log' }, { headers }))
  expect(called.text).toContain('streamed')
  await expect.poll(keys).toEqual(['node', 'nodes', 'session', 'stream-owner'])
  expect((await on.send({ method: 'DELETE', headers })).status).toBe(204)
  await expect.poll(keys).toEqual(['node', 'nodes'])
  await expect.poll(() => stream.ended).toBe(true)
})

test('a session that ends while its stream is on the way to a node has none there', async () => {
  const { local: _local, store, ...backplane } = memoryBackplane()
  let held = false
  let asked = (): void => undefined
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  let goOn = (): void => undefined
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve))
  const slow = new Proxy(store, {
    get: (of, name) => {
      const value: unknown = Reflect.get(of, name)
      if (typeof value !== 'function') return value
      return async (key: string, ...rest: unknown[]): Promise<unknown> => {
        if (name === 'get' && key.startsWith('stream-owner/') && !held) {
          held = true
          asked()
          await mayGoOn
        }
        return await Reflect.apply(value, of, [key, ...rest])
      }
    },
  })
  const on = await target('node', askingRouter(), { server: { backplane: { ...backplane, store: slow } } })
  const { headers } = await beginAs(on)
  const opening = on.send({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })
  await isAsked
  expect((await on.send({ method: 'DELETE', headers })).status).toBe(204)
  goOn()
  const { status, text } = await opening
  expect({ status, text }).toMatchObject({ status: 404, text: expect.stringContaining('session_unknown') })
  const tracked: unknown[] = []
  for await (const stream of on.server.tracker.streams()) tracked.push(stream)
  for await (const listener of on.server.tracker.listeners()) tracked.push(listener)
  expect(tracked).toEqual([])
})

test('a call that is aborted when its node closes is told elsewhere to a client that has let go', async () => {
  const { local: _local, ...backplane } = slowBackplane()
  const router = askingRouter()
  router.tool('polled', {}, async (_params, session) => {
    await session.finish()
    await new Promise((resolve) => session.signal.addEventListener('abort', resolve))
  })
  const on = await target('node', router, { server: { backplane } })
  const other = await target('node', router, { server: { backplane } })
  const { headers } = await beginAs(on)
  const polled = await on.send(legacy('tools/call', { name: 'polled' }, { id: 7, headers }))
  const [, last = ''] = /^id: (.*)$/m.exec(polled.text) ?? []
  await on.server.close({ drainMs: 10 })
  const gone = { ...headers, accept: 'text/event-stream', 'last-event-id': last }
  await expect
    .poll(async () => (await other.send({ method: 'GET', headers: gone })).message, PATIENT)
    .toMatchObject({ id: 7, error: { code: -32603, data: { reason: 'shutting_down', retryable: true } } })
})
