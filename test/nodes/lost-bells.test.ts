import { expect, test } from 'vitest'
import { legacy, modern, open, textOf } from '../http/_http.js'
import { carries, NOTE, UPDATED } from './_following.js'
import { following, holding, node } from './_near-nodes.js'

const OTHER = 'notes:///other'
/** When letters are found whose bell was missed. */
const SOON = { heartbeatMs: 300 }

test('what a session follows, and that it has ended, comes to the node of its stream, whoever misses a bell', async () => {
  const { backplane, lose } = holding()
  const [one, two] = [await node(backplane, 'one'), await node(backplane, 'two')]
  const { headers, stream } = await following(one)
  lose('sessions/')
  await textOf(await open(two.port, legacy('resources/subscribe', { uri: OTHER }, { headers })))
  expect(await two.server.notifyResourcesUpdated([OTHER])).toBe(1)
  await carries(stream, OTHER)
  await textOf(await open(two.port, legacy('resources/unsubscribe', { uri: OTHER }, { headers })))
  expect(await two.server.notifyResourcesUpdated([OTHER])).toBe(0)
  await textOf(await open(two.port, { method: 'DELETE', headers }))
  await stream.ended
})

test('who listens on a node that the others have held for gone is told that all may have changed', async () => {
  const { backplane } = holding()
  const [one, two] = [
    await node(backplane, 'one', { heartbeatMs: 100 }),
    await node(backplane, 'two', { heartbeatMs: 100 }),
  ]
  const { stream } = await following(one)
  const listen = modern('subscriptions/listen', { notifications: { resourceSubscriptions: [NOTE] } })
  let heard = ''
  const listening = await open(one.port, listen)
  listening.setEncoding('utf8').on('data', (text: string) => {
    heard += text
  })
  await expect.poll(() => heard).toContain('acknowledged')
  for await (const lease of backplane.store.list('node/one')) await backplane.store.delete(lease)
  expect(await two.server.notifyResourcesUpdated([NOTE])).toBe(0)
  await carries(stream, UPDATED)
  await expect.poll(() => heard).toContain(UPDATED)
  expect(await two.server.notifyResourcesUpdated([NOTE])).toBe(2)
  listening.destroy()
})

test('what a session follows is known to the node of its stream when its client is answered', async () => {
  const { backplane, lose } = holding()
  const [one, two] = [await node(backplane, 'one', SOON), await node(backplane, 'two', SOON)]
  const { headers, stream } = await following(one)
  lose('')
  await textOf(await open(two.port, legacy('resources/subscribe', { uri: OTHER }, { headers })))
  expect(await one.server.notifyResourcesUpdated([OTHER])).toBe(1)
  await carries(stream, OTHER)
})
