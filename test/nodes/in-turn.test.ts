import { describe, expect, test } from 'vitest'
import type { RawSocket } from '../http/_http.js'
import { carries, lastIdOf, UPDATED } from './_following.js'
import {
  answerTo,
  call,
  cluster,
  type Door,
  inTurn,
  KINDS,
  type Kind,
  type Node,
  NodeSession,
  questionOn,
  saidBy,
} from './_nodes.js'

/** More than a round of all nodes. */
const ROUNDS = 5

async function three(kind: Kind): Promise<{ nodes: readonly Node[]; door: Door }> {
  const { nodes, join } = await cluster(kind, { heartbeatMs: 200 })
  const all = [...nodes, await join('three')]
  return { nodes: all, door: inTurn(all) }
}

const nodeOf = (round: number, nodes: readonly Node[]): Node => nodes[round % nodes.length] as Node

const whoServes = async (session: NodeSession, door: Door): Promise<unknown> =>
  saidBy({ message: await session.ask(door, 'tools/call', { name: 'who', arguments: {} }) })

describe.each(KINDS)('three nodes, each request to the next one, serve, %s', { timeout: 20_000 }, (kind) => {
  test('a session on all of them', async () => {
    const { nodes, door } = await three(kind)
    const ada = await NodeSession.begin(door, 'ada')
    const names = new Set<unknown>()
    for (let round = 0; round < nodes.length; round++) names.add(await whoServes(ada, door))
    expect([...names].sort()).toEqual(['one', 'three', 'two'])
    expect(await ada.end(door)).toBe(204)
    for (const node of nodes) expect(await ada.end(node)).toBe(404)
    expect(nodes.map(({ stderr }) => stderr)).toEqual(['', '', ''])
  })

  test('what is followed, wherever that was asked for', async () => {
    const { nodes, door } = await three(kind)
    const ada = await NodeSession.begin(door, 'ada')
    const stream = await ada.listen(door)
    for (let round = 0; round < ROUNDS; round++) {
      const uri = `notes:///${round}`
      await ada.ask(door, 'resources/subscribe', { uri })
      const told = async (): Promise<unknown> =>
        saidBy(await call(nodeOf(round, nodes), 'tell', { args: { uris: [uri] } }))
      await expect.poll(told, { timeout: 4_000 }).toBe('1')
      await carries(stream, uri)
      await ada.ask(door, 'resources/unsubscribe', { uri })
      await expect.poll(told, { timeout: 4_000 }).toBe('0')
    }
    expect(await ada.end(door)).toBe(204)
    await stream.ended
  })

  test('a stream to which its client comes back, again and again', async () => {
    const { nodes, door } = await three(kind)
    const ada = await NodeSession.begin(door, 'ada')
    let stream: RawSocket = await ada.listen(door)
    for (let round = 0; round < ROUNDS; round++) {
      const node = nodeOf(round, nodes)
      await call(node, 'say', { args: { session: ada.id } })
      await carries(stream, 'said by')
      const last = lastIdOf(stream)
      stream.socket.destroy()
      do stream = await ada.listen(door, last)
      while (stream.status === 409)
      expect(stream.status).toBe(200)
      expect(stream.received).not.toContain('said by')
      expect(stream.received).not.toContain(UPDATED)
    }
  })

  test.each(['2025-06-18', '2025-11-25'])('answers to what calls ask, in %s', async (version) => {
    const { door } = await three(kind)
    const ada = await NodeSession.begin(door, 'ada', version)
    for (let round = 0; round < ROUNDS; round++) {
      const stream = await ada.call(door, 'talk', { id: round })
      const answers = [{ name: 'Ada' }, { age: 36 }]
      for (const [at, content] of answers.entries()) {
        const id = await questionOn(stream, at + 1)
        expect(await ada.post(door, { id, result: { action: 'accept', content } })).toBe(202)
      }
      await carries(stream, 'Ada 36, says ')
    }
  })

  test('answers to what calls ask, in 2026-07-28', async () => {
    const { door } = await three(kind)
    for (let round = 0; round < ROUNDS; round++) {
      const second = await call(door, 'talk', answerTo(await call(door, 'talk'), { name: 'Ada' }))
      expect(saidBy(await call(door, 'talk', answerTo(second, { age: 36 })))).toMatch(/^Ada 36, says (one|two|three)$/)
    }
  })

  test('a session on, when one of them has died', async () => {
    const { nodes, door } = await three(kind)
    const [one, ...others] = nodes as [Node, ...Node[]]
    const ada = await NodeSession.begin(door, 'ada')
    const stream = await ada.listen(one)
    await carries(stream, 'id: ')
    await one.signal('SIGKILL')
    const left = inTurn(others)
    const names = new Set<unknown>()
    for (const _node of others) names.add(await whoServes(ada, left))
    expect([...names].sort()).toEqual(['three', 'two'])
    const back = await ada.listen(left, lastIdOf(stream))
    expect(back.status).toBe(200)
    await call(left, 'say', { args: { session: ada.id } })
    await carries(back, 'said by')
    expect(others.map(({ stderr }) => stderr)).toEqual(['', ''])
  })
})
