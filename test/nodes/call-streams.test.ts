import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { eventsOf, type Json, type RawSocket } from '../http/_http.js'
import { carries, countOf, lastIdOf } from './_following.js'
import { type Cluster, type ClusterOptions, cluster, KINDS, type Kind, NodeSession } from './_nodes.js'

const answersOf = (stream: RawSocket): Json[] =>
  eventsOf(stream.body.replaceAll('\r\n', '\n'))
    .filter((message) => 'result' in message || 'error' in message)
    .map(({ jsonrpc: _jsonrpc, ...answer }) => answer)

const LOST = { id: 3, error: { code: -32603, data: { reason: 'node_died', retryable: true } } }

/** Ada's call of a tool, which streams on the first node. */
async function calling(
  kind: Kind,
  tool: string,
  options: ClusterOptions = {},
): Promise<Cluster & { ada: NodeSession; stream: RawSocket; last: string }> {
  const made = await cluster(kind, options)
  const [one] = made.nodes
  const ada = await NodeSession.begin(one, 'ada')
  const stream = await ada.call(one, tool, { id: 3, progressToken: 'p' })
  await carries(stream, tool === 'part' ? 'retry: ' : '"one"')
  return { ...made, ada, stream, last: lastIdOf(stream) }
}

describe.each(KINDS)('the stream of a call whose client comes to another node, %s', (kind) => {
  test('goes on there while the call runs, and lets the first connection go', async () => {
    const { nodes, ada, stream, last } = await calling(kind, 'count')
    const [one, two] = nodes
    const back = await ada.listen(two, last)
    expect(back.status).toBe(200)
    await stream.ended
    one.pass('count')
    await back.ended
    expect(back.received).toContain('"progressToken":"p","progress":1,"total":2')
    expect(countOf(back, '"two"')).toBe(1)
    expect(countOf(back, '"one"')).toBe(0)
    expect(answersOf(back)).toEqual([{ id: 3, result: { content: [{ type: 'text', text: 'counted on one' }] } }])
    expect(stream.received).not.toContain('counted')
  })

  test('goes on there after the handler has let it go', async () => {
    const { nodes, ada, stream, last } = await calling(kind, 'part')
    const [one, two] = nodes
    await stream.ended
    const back = await ada.listen(two, last)
    await one.says('parted')
    one.pass('part')
    await back.ended
    expect(back.received).toContain('"progressToken":"p","progress":1,"total":2')
    expect(answersOf(back)).toMatchObject([{ id: 3, result: { content: [{ text: 'parted from by one' }] } }])
  })

  test('is there when the call is done, for its own session', async () => {
    const { nodes, ada, stream, last } = await calling(kind, 'count')
    const [one, two] = nodes
    stream.socket.destroy()
    one.pass('count')
    const answered = async (): Promise<Json[]> => {
      const back = await ada.listen(two, last)
      await back.ended
      return answersOf(back)
    }
    await expect.poll(answered, { timeout: 4_000 }).toMatchObject([{ id: 3, result: {} }])
    expect(await answered()).toMatchObject([{ id: 3, result: {} }])
    const eve = await NodeSession.begin(two, 'eve')
    expect((await eve.listen(two, last)).status).toBe(400)
  })

  test('is let go by a node that stops, and goes on where the call runs', async () => {
    const { nodes, ada, last } = await calling(kind, 'count')
    const [one, two] = nodes
    const back = await ada.listen(two, last)
    const stopped = two.signal('SIGTERM')
    await back.ended
    await stopped
    expect(two.process.exitCode).toBe(0)
    const again = await ada.listen(one, last)
    one.pass('count')
    await again.ended
    expect(answersOf(again)).toMatchObject([{ id: 3, result: {} }])
  })

  test('ends with the session', async () => {
    const { nodes, ada, last } = await calling(kind, 'count')
    const [, two] = nodes
    const back = await ada.listen(two, last)
    expect(await ada.end(two)).toBe(204)
    await back.ended
    expect(answersOf(back)).toEqual([])
  })
})

describe.each(KINDS)('the stream of a call whose node is killed, %s', (kind) => {
  test('ends with an error that can be tried again, once for each who comes back', async () => {
    const { nodes, ada, last } = await calling(kind, 'count', { heartbeatMs: 200 })
    const [one, two] = nodes
    await one.signal('SIGKILL')
    const comeBack = async (): Promise<Json[]> => {
      const back = await ada.listen(two, last)
      await back.ended
      return answersOf(back)
    }
    for (const answers of await Promise.all([comeBack(), comeBack()])) expect(answers).toMatchObject([LOST])
    expect(await comeBack()).toMatchObject([LOST])
    const again = await ada.call(two, 'stay', { id: 3 })
    await two.says('staying')
    two.pass('stay')
    await carries(again, 'stayed on two')
  })

  test('ends so for who reads it elsewhere already', async () => {
    const { nodes, ada, last } = await calling(kind, 'count', { heartbeatMs: 200 })
    const [one, two] = nodes
    const back = await ada.listen(two, last)
    await sleep(50)
    await one.signal('SIGKILL')
    await back.ended
    expect(answersOf(back)).toMatchObject([LOST])
  })

  test('ends so for a call that has run for longer than its session is known', async () => {
    const { nodes, ada, last } = await calling(kind, 'count', { heartbeatMs: 200, sessionTtlMs: 400 })
    const [one, two] = nodes
    await sleep(1_200)
    await one.signal('SIGKILL')
    const back = await ada.listen(two, last)
    await back.ended
    expect(answersOf(back)).toMatchObject([LOST])
  })
})
