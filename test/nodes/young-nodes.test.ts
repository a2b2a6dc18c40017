import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { carries, countOf, lastIdOf, NOTE, UPDATED } from './_following.js'
import { call, cluster, KINDS, NodeSession, saidBy } from './_nodes.js'

describe.each(KINDS)('the stream of a session that comes from a node which has just begun, %s', (kind) => {
  test('goes on without what was told before the node was there', async () => {
    const { nodes, join } = await cluster(kind)
    const [one, two] = nodes
    const tell = async (): Promise<unknown> => saidBy(await call(two, 'tell', { args: { uris: [NOTE] } }))
    await tell()
    await one.signal('SIGTERM')
    const young = await join('one')
    const ada = await NodeSession.begin(two, 'ada')
    const stream = await ada.listen(young)
    await ada.ask(young, 'resources/subscribe', { uri: NOTE })
    expect(await tell()).toBe('1')
    await carries(stream, UPDATED)
    stream.socket.destroy()
    let back = await ada.listen(two, lastIdOf(stream))
    while (back.status === 409) back = await ada.listen(two, lastIdOf(stream))
    await sleep(200)
    expect(countOf(back, UPDATED)).toBe(0)
    expect(await tell()).toBe('1')
    await carries(back, UPDATED)
    expect(countOf(back, UPDATED)).toBe(1)
  })
})
