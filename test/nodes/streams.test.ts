import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { RawSocket } from '../http/_http.js'
import { carries, countOf, following, lastIdOf, NOTE, UPDATED } from './_following.js'
import { call, cluster, KINDS, NodeSession, saidBy, until } from './_nodes.js'

describe.each(KINDS)('the stream of a session of two nodes, %s', (kind) => {
  test('tells what either node tells, of what was followed on either; each is asked about once', async () => {
    const { nodes, effects, stream } = await following(kind)
    const [one, two] = nodes
    expect(saidBy(await call(two, 'tell', { args: { uris: [NOTE, NOTE, 'notes:///other'] } }))).toBe('1')
    await carries(stream, UPDATED)
    expect(saidBy(await call(one, 'tell', { args: { uris: [NOTE] } }))).toBe('1')
    expect(saidBy(await call(two, 'tell_tools'))).toBe('1')
    await carries(stream, 'notifications/tools/list_changed')
    expect(countOf(stream, UPDATED)).toBe(2)
    expect(effects().filter((line) => line.includes('asked'))).toEqual([
      `${NOTE} asked on two`,
      `${NOTE} asked on one`,
      `${NOTE} asked on one`,
    ])
  })

  test('is told by the name of its session, on any node', async () => {
    const { nodes, ada, stream } = await following(kind)
    const [, two] = nodes
    expect(saidBy(await call(two, 'say', { args: { session: ada.id } }))).toBe('said')
    await carries(stream, 'said by two')
  })

  test('is one: another node refuses a second', async () => {
    const { nodes, ada } = await following(kind)
    const [, two] = nodes
    const second = await ada.listen(two)
    expect(second.status).toBe(409)
  })

  test('is that of one node when its client comes to both at once', async () => {
    const { nodes } = await cluster(kind)
    for (let round = 0; round < 5; round++) {
      const ada = await NodeSession.begin(nodes[0], 'ada')
      const both = await Promise.all(nodes.map((node) => ada.listen(node)))
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    }
  })

  test('has its node for as long as it is open', async () => {
    const { nodes, ada, stream } = await following(kind, { sessionTtlMs: 400 })
    const [, two] = nodes
    await sleep(1_200)
    expect((await ada.listen(two)).status).toBe(409)
    await call(two, 'say', { args: { session: ada.id } })
    await carries(stream, 'said by two')
  })

  test('is taken over by another node where that is wanted', async () => {
    const { nodes, ada, stream } = await following(kind, { secondStream: 'takeOver' })
    const [one, two] = nodes
    const second = await ada.listen(two, lastIdOf(stream))
    expect(second.status).toBe(200)
    await stream.ended
    expect(saidBy(await call(one, 'tell', { args: { uris: [NOTE] } }))).toBe('1')
    await carries(second, UPDATED)
  })

  test('goes on on another node: nothing is missing, and nothing comes twice', async () => {
    const { nodes, ada, stream } = await following(kind)
    const [one, two] = nodes
    const say = (): Promise<unknown> => call(one, 'tell', { args: { uris: [NOTE] } })
    await say()
    await carries(stream, UPDATED)
    const last = lastIdOf(stream)
    stream.socket.destroy()
    let told = 0
    let telling = true
    const teller = (async () => {
      while (telling) {
        await say()
        told++
      }
    })()
    let back: RawSocket
    do back = await ada.listen(two, last)
    while (back.status === 409)
    expect(back.status).toBe(200)
    await carries(back, UPDATED)
    telling = false
    await teller
    await until(
      () => countOf(back, UPDATED) === told,
      () => `${told} updates were expected, not ${countOf(back, UPDATED)}`,
    )
    await say()
    await until(
      () => countOf(back, UPDATED) === told + 1,
      () => `one more update was expected: ${countOf(back, UPDATED)} of ${told + 1}`,
    )
  })

  test('of a node that was killed goes on elsewhere: all that is followed may have changed', async () => {
    const { nodes, ada, stream } = await following(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    const last = lastIdOf(stream)
    await one.signal('SIGKILL')
    const back = await ada.listen(two, last)
    expect(back.status).toBe(200)
    await carries(back, UPDATED)
    await carries(back, 'notifications/tools/list_changed')
    expect(saidBy(await call(two, 'tell', { args: { uris: [NOTE] } }))).toBe('1')
    await until(
      () => countOf(back, UPDATED) === 2,
      () => back.received,
    )
  })

  test('ends with its session, which ends on another node', async () => {
    const { nodes, ada, stream } = await following(kind)
    const [one, two] = nodes
    expect(await ada.end(two)).toBe(204)
    await stream.ended
    expect((await ada.listen(one)).status).toBe(404)
  })
})

describe.each(KINDS)('a session of two nodes, %s', (kind) => {
  test('has one log level', async () => {
    const { nodes, ada } = await following(kind)
    const [one, two] = nodes
    const logged = async (): Promise<boolean> => {
      const stream = await ada.call(one, 'log', { id: 5 })
      await carries(stream, 'logged')
      return stream.received.includes('a detail')
    }
    expect(await logged()).toBe(false)
    expect(await ada.ask(two, 'logging/setLevel', { level: 'debug' })).toMatchObject({ result: {} })
    await expect.poll(logged, { timeout: 4_000 }).toBe(true)
  })
})

describe.each(KINDS)('what is tracked of two nodes, %s', (kind) => {
  test('is what both have, until one of them is gone', async () => {
    const { nodes, ada } = await following(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    await ada.call(one, 'stay', { id: 9 })
    await one.says('staying')
    const tracked = async (): Promise<unknown> => (await call(two, 'track', { user: 'eve' })).message['result']
    expect(await tracked()).toMatchObject({
      structuredContent: {
        sessions: [['ada', NOTE]],
        streams: [['one', 'session', true]],
        calls: [
          ['two', 'track', 'eve'],
          ['one', 'stay', 'ada'],
        ],
        listeners: [['one', 'ada', NOTE]],
      },
    })
    await one.signal('SIGKILL')
    await expect.poll(tracked, { timeout: 4_000, interval: 100 }).toMatchObject({
      structuredContent: { sessions: [['ada', NOTE]], streams: [], calls: [['two', 'track', 'eve']], listeners: [] },
    })
  })
})
