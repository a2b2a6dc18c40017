import { describe, expect, test } from 'vitest'
import { carries, countOf, following, lastIdOf, NOTE, UPDATED } from './_following.js'
import { call, cluster, KINDS, NodeSession, saidBy } from './_nodes.js'

const LISTS = 'notifications/tools/list_changed'

describe.each(KINDS)('a node that has started again under the same name, %s', (kind) => {
  test('goes on with the sessions, the streams and what was kept of them', async () => {
    const { nodes, join, ada, stream } = await following(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    await carries(stream, 'id: ')
    const first = lastIdOf(stream)
    await call(two, 'say', { args: { session: ada.id } })
    await carries(stream, 'said by two')
    await one.signal('SIGKILL')
    const again = await join('one')
    const back = await ada.listen(again, first)
    expect(back.status).toBe(200)
    await carries(back, 'said by two')
    // What was told while the stream was nowhere, nobody knows: all of it may have changed.
    await carries(back, LISTS)
    await carries(back, UPDATED)
    expect(countOf(back, 'said by two')).toBe(1)
    expect(saidBy(await call(two, 'tell', { args: { uris: [NOTE] } }))).toBe('1')
    expect(saidBy({ message: await ada.ask(again, 'tools/call', { name: 'who', arguments: {} }) })).toBe('one')
  })

  test('does not have the calls that ran on it', async () => {
    const { nodes, join } = await cluster(kind, { heartbeatMs: 200 })
    const [one] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    const stream = await ada.call(one, 'count', { id: 3 })
    await carries(stream, '"one"')
    await one.signal('SIGKILL')
    const again = await join('one')
    const back = await ada.listen(again, lastIdOf(stream))
    await expect.poll(() => back.received, { timeout: 4_000 }).toContain('"reason":"node_died","retryable":true')
    await back.ended
    const next = await ada.call(again, 'count', { id: 3 })
    again.pass('count')
    await carries(next, 'counted on one')
  })

  test('has the sessions, when all of them were stopped', async () => {
    const { nodes, join } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    await ada.ask(two, 'resources/subscribe', { uri: NOTE })
    await Promise.all([one.signal('SIGTERM'), two.signal('SIGTERM')])
    const again = await join('two')
    const stream = await ada.listen(again)
    expect(stream.status).toBe(200)
    expect(saidBy(await call(again, 'tell', { args: { uris: [NOTE] } }))).toBe('1')
    await carries(stream, UPDATED)
  })
})

describe.each(KINDS)('a node that is asked to stop, %s', (kind) => {
  test('lets its streams go on elsewhere at once, and gives its calls their time', async () => {
    const { nodes, ada, stream } = await following(kind)
    const [one, two] = nodes
    const running = await ada.call(one, 'count', { id: 3 })
    await carries(running, '"one"')
    const stopped = one.signal('SIGTERM')
    await stream.ended
    const back = await ada.listen(two, lastIdOf(stream))
    expect(back.status).toBe(200)
    expect(saidBy(await call(two, 'tell', { args: { uris: [NOTE] } }))).toBe('1')
    await carries(back, UPDATED)
    one.pass('count')
    await carries(running, 'counted on one')
    await stopped
    expect(one.process.exitCode).toBe(0)
    // It knew what it had told, so nothing is told to be on the safe side.
    expect(countOf(back, LISTS)).toBe(0)
    const tracked = (await call(two, 'track')).message['result'] as { structuredContent: unknown }
    expect(tracked.structuredContent).toMatchObject({
      streams: [['two', 'session', true]],
      listeners: [['two', 'ada', NOTE]],
    })
  })
})
