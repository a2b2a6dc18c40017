import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { carries } from './_following.js'
import { cluster, KINDS, NodeSession, questionOn } from './_nodes.js'

const accept = (content: object): object => ({ action: 'accept', content })
const cancelled = (requestId: number): { method: string; params: object } => ({
  method: 'notifications/cancelled',
  params: { requestId },
})

describe.each(KINDS)('a session of two nodes, %s', (kind) => {
  test('answers a question on whichever node, and its call goes on where it runs', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(two, 'ada')
    const stream = await ada.call(one, 'talk', { id: 1 })
    expect(await ada.post(two, { id: await questionOn(stream, 1), result: accept({ name: 'Ada' }) })).toBe(202)
    expect(await ada.post(one, { id: await questionOn(stream, 2), result: accept({ age: 36 }) })).toBe(202)
    await carries(stream, 'Ada 36, says one')
    expect(effects()).toEqual(['talk on one'])
  })

  test('is told an error of its client, too', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    const stream = await ada.call(one, 'hold', { id: 1 })
    await ada.post(two, { id: await questionOn(stream, 1), error: { code: -1, message: 'No' } })
    await one.says('holding')
    one.pass('hold')
    await carries(stream, 'held for error by one')
  })

  test('is asked on its stream, wherever that is, for a call that takes none', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    const stream = await ada.listen(one)
    const answer = await ada.call(two, 'hold', { id: 4, headers: { accept: 'application/json' } })
    await ada.post(one, { id: await questionOn(stream, 1), result: accept({ name: 'Ada' }) })
    await two.says('holding')
    two.pass('hold')
    await carries(answer, 'held for Ada by two')
  })

  test('answers for itself only', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const [ada, eve] = [await NodeSession.begin(one, 'ada'), await NodeSession.begin(one, 'eve')]
    const stream = await ada.call(one, 'hold', { id: 1 })
    const hers = await eve.call(one, 'stay', { id: 2 })
    await one.says('staying')
    const id = await questionOn(stream, 1)
    for (const node of nodes) expect(await eve.post(node, { id, result: accept({ name: 'Eve' }) })).toBe(202)
    expect(await eve.post(two, { id: 'nobody~1', result: accept({ name: 'Eve' }) })).toBe(202)
    await sleep(200)
    await ada.post(two, { id, result: accept({ name: 'Ada' }) })
    await one.says('holding')
    one.pass('hold')
    await carries(stream, 'held for Ada by one')
    hers.socket.destroy()
  })

  test('gives up a call that runs on another node, and no one else does', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const [ada, eve] = [await NodeSession.begin(one, 'ada'), await NodeSession.begin(two, 'eve')]
    const stream = await ada.call(one, 'stay', { id: 7 })
    await one.says('staying')
    expect(await eve.post(two, cancelled(7))).toBe(202)
    expect(await ada.post(two, cancelled(8))).toBe(202)
    await sleep(200)
    expect(one.lines).not.toContain('stay aborted by AbortError')
    expect(await ada.post(two, cancelled(7))).toBe(202)
    await one.says('stay aborted by AbortError')
    expect(stream.received).not.toContain('stayed')
  })

  test('ends, with its calls on both', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    await ada.call(one, 'stay', { id: 1 })
    await ada.call(two, 'hold', { id: 2 })
    await one.says('staying')
    expect(await ada.end(two)).toBe(204)
    await one.says('stay aborted by AbortError')
    await two.says('hold aborted by AbortError')
    expect(await ada.post(one, cancelled(1))).toBe(404)
  })
})
