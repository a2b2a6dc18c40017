import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { RawSocket } from '../http/_http.js'
import { carries } from './_following.js'
import { cluster, inTurn, KINDS, NodeSession } from './_nodes.js'

const IN_USE = '"error":{"code":-32600,"message":"This id is in use by a running request"}'
const status = (stream: RawSocket): number => stream.status

describe.each(KINDS)('the id of a call that runs on one of two nodes, %s', (kind) => {
  test('is refused on the other, and free when the call is over', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    const running = await ada.call(one, 'stay', { id: 7 })
    await one.says('staying')
    await sleep(200)
    for (const node of [two, one]) {
      const refused = await ada.call(node, 'stay', { id: 7 })
      await carries(refused, IN_USE)
      expect(status(refused)).toBe(400)
    }
    expect(two.lines).not.toContain('staying')
    one.pass('stay')
    await carries(running, 'stayed on one')
    const next = await ada.call(two, 'stay', { id: 7 })
    two.pass('stay')
    await carries(next, 'stayed on two')
  })

  test('is that of one call when two come at once', async () => {
    const { nodes } = await cluster(kind)
    const ada = await NodeSession.begin(nodes[0], 'ada')
    const both = await Promise.all(nodes.map((node) => ada.call(node, 'stay', { id: 7 })))
    await expect
      .poll(() => both.filter((stream) => stream.received.includes(IN_USE)).length, { timeout: 4_000 })
      .toBe(1)
    for (const node of nodes) node.pass('stay')
    await expect.poll(() => both.filter((stream) => stream.received.includes('stayed on')).length).toBe(1)
  })

  test('is free when the call was given up on the other, and when its node has died', async () => {
    const { nodes } = await cluster(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    await ada.call(one, 'stay', { id: 7 })
    await one.says('staying')
    await sleep(200)
    expect(await ada.post(two, { method: 'notifications/cancelled', params: { requestId: 7 } })).toBe(202)
    await one.says('stay aborted by AbortError')
    await ada.call(one, 'hold', { id: 7 })
    await sleep(200)
    await one.signal('SIGKILL')
    const next = await ada.call(two, 'stay', { id: 7 })
    two.pass('stay')
    await carries(next, 'stayed on two')
  })

  test('is not that of another session, nor the text of the same digits', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const [ada, eve] = [await NodeSession.begin(one, 'ada'), await NodeSession.begin(one, 'eve')]
    await ada.call(one, 'stay', { id: 7 })
    await one.says('staying')
    await sleep(200)
    two.pass('stay')
    await carries(await eve.call(two, 'stay', { id: 7 }), 'stayed on two')
    await carries(await ada.call(two, 'stay', { id: '7' }), 'stayed on two')
    const long = 'x'.repeat(10_000)
    await carries(await ada.call(two, 'stay', { id: long }), 'stayed on two')
  })

  test('may be used again and again, one after the other, on whatever node', async () => {
    const { nodes } = await cluster(kind)
    const door = inTurn(nodes)
    const ada = await NodeSession.begin(door, 'ada')
    for (const node of nodes) node.pass('stay')
    for (let round = 0; round < 10; round++) {
      await carries(await ada.call(door, 'pause', { id: 1 }), 'paused on')
      await carries(await ada.call(door, 'stay', { id: 1 }), 'stayed on')
    }
  })
})
