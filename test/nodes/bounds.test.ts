import { describe, expect, test } from 'vitest'
import { carries } from './_following.js'
import { cluster, KINDS, type Node, NodeSession } from './_nodes.js'

const isThere = async (session: NodeSession, node: Node): Promise<boolean> =>
  'result' in (await session.ask(node, 'ping', {}))

describe.each(KINDS)('the sessions of a node that has no room for more, %s', (kind) => {
  test('stay while they are in use on another one, by a call or a stream', async () => {
    const { nodes } = await cluster(kind, { maxSessions: 3 })
    const [one, two] = nodes
    const calling = await NodeSession.begin(one, 'ada')
    const streaming = await NodeSession.begin(one, 'ada')
    const idle = await NodeSession.begin(one, 'ada')
    await calling.call(two, 'stay', { id: 1 })
    await two.says('staying')
    const stream = await streaming.listen(two)
    await carries(stream, 'id: ')
    await NodeSession.begin(one, 'ada')
    expect(await Promise.all([calling, streaming, idle].map((session) => isThere(session, two)))).toEqual([
      true,
      true,
      false,
    ])
  })

  test('leave no room while all of them are in use there', async () => {
    const { nodes } = await cluster(kind, { maxSessions: 2 })
    const [one, two] = nodes
    const sessions = [await NodeSession.begin(one, 'ada'), await NodeSession.begin(one, 'bob')]
    const streams = await Promise.all(sessions.map((session) => session.listen(two)))
    for (const stream of streams) await carries(stream, 'id: ')
    expect((await NodeSession.tryToBegin(one, 'eve')).status).toBe(503)
    streams[0]?.socket.destroy()
    const begin = async (): Promise<number> => (await NodeSession.tryToBegin(one, 'eve')).status
    await expect.poll(begin, { timeout: 4_000 }).toBe(200)
    expect(await Promise.all(sessions.map((session) => isThere(session, two)))).toEqual([false, true])
  })

  test('make room when the node that had them in use is gone', async () => {
    const { nodes } = await cluster(kind, { maxSessions: 1, heartbeatMs: 200 })
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    await carries(await ada.listen(two), 'id: ')
    expect((await NodeSession.tryToBegin(one, 'eve')).status).toBe(503)
    await two.signal('SIGKILL')
    expect((await NodeSession.tryToBegin(one, 'eve')).status).toBe(200)
  })
})
