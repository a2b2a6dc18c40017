import { memoryBackplane } from 'phantom-mcp'
import { expect, test } from 'vitest'
import { askingRouter } from '../asking/_asking.js'
import { legacy, target } from '../http/_http.js'
import { beginAs, sessionStream } from './_sessions.js'

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
