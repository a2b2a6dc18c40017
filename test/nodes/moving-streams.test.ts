import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { RawSocket } from '../http/_http.js'
import { carries, countOf, lastIdOf, NOTE, UPDATED } from './_following.js'
import { following, holding, listen, type Moving, node, type Serves } from './_near-nodes.js'

/** Its client hangs up, and comes to another node. */
async function move({ headers, stream }: Moving, to: Serves): Promise<RawSocket> {
  stream.socket.destroy()
  const goOn = { ...headers, 'last-event-id': lastIdOf(stream) }
  let back = await listen(to, goOn)
  while (back.status === 409) back = await listen(to, goOn)
  expect(back.status).toBe(200)
  return back
}

test('a stream that has moved is not told again of what the other node has told, when that is heard of later', async () => {
  const { backplane, hold } = holding()
  const [one, two] = [await node(backplane, 'one'), await node(backplane, 'two')]
  const moving = await following(two)
  const letGo = hold('"type":"notice"')
  const told = two.server.notifyResourcesUpdated([NOTE])
  await carries(moving.stream, UPDATED)
  const back = await move(moving, one)
  letGo()
  expect(await told).toBe(1)
  await sleep(100)
  expect(countOf(back, UPDATED)).toBe(0)
  expect(await one.server.notifyResourcesUpdated([NOTE])).toBe(1)
  await carries(back, UPDATED)
  expect(countOf(back, UPDATED)).toBe(1)
})

test('a stream moves when what is being told on it has been told', async () => {
  const { backplane } = holding()
  let slow = 0
  const one = await node(backplane, 'one')
  const two = await node(backplane, 'two', { authorizing: () => sleep(slow) })
  const moving = await following(two)
  slow = 300
  const told = two.server.notifyResourcesUpdated([NOTE])
  const back = await move(moving, one)
  expect(await told).toBe(1)
  await carries(back, UPDATED)
  expect(countOf(back, UPDATED)).toBe(1)
  expect(countOf(back, 'list_changed')).toBe(0)
})
