import { describe, expect, test } from 'vitest'
import { head, modern, RawSocket } from '../http/_http.js'
import { carries, following } from './_following.js'
import { call, cluster, type Door, KINDS, NodeSession, saidBy } from './_nodes.js'

/** A client of 2026-07-28 that listens. */
async function listening(door: Door): Promise<RawSocket> {
  const sent = modern('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const socket = await RawSocket.connect(door.port)
  await socket.write(`${head(sent, { 'content-length': String(Buffer.byteLength(String(sent.body))) })}${sent.body}`)
  await carries(socket, 'subscriptions/acknowledged')
  return socket
}

describe.each(KINDS)('what is told on one of two nodes, %s', (kind) => {
  test('reaches who listens, in either form, and counts them', async () => {
    const { nodes, stream } = await following(kind)
    const [one, two] = nodes
    const other = await listening(two)
    for (const node of [one, two]) expect(saidBy(await call(node, 'tell_tools'))).toBe('2')
    for (const told of [stream, other]) await carries(told, 'notifications/tools/list_changed')
  })

  test('waits for nobody who is known to be gone', async () => {
    const { nodes } = await following(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    await one.signal('SIGKILL')
    const gone = async (): Promise<unknown> => (await call(two, 'track', { user: 'eve' })).message['result']
    await expect.poll(gone, { timeout: 4_000, interval: 100 }).toMatchObject({ structuredContent: { listeners: [] } })
    const started = performance.now()
    expect(saidBy(await call(two, 'tell_tools'))).toBe('0')
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('waits once for who does not answer, until that is heard of again', async () => {
    const { nodes } = await following(kind, { heartbeatMs: 5_000 })
    const [one, two] = nodes
    one.stop()
    expect(saidBy(await call(two, 'tell_tools'))).toBe('0')
    const started = performance.now()
    expect(saidBy(await call(two, 'tell_tools'))).toBe('0')
    await call(two, 'track')
    expect(performance.now() - started).toBeLessThan(1_500)
    one.goOn()
    await expect.poll(async () => saidBy(await call(two, 'tell_tools')), { timeout: 4_000 }).toBe('1')
  })

  test('reaches whom another node has asked to open a page', async () => {
    const { nodes, ada, stream } = await following(kind)
    const [one, two] = nodes
    await carries(await ada.call(two, 'page', { id: 1 }), 'https://example.com/connect')
    expect(saidBy(await call(one, 'page_complete'))).toBe('true')
    await carries(stream, '"method":"notifications/elicitation/complete","params":{"elicitationId":"page"}')
    for (const node of nodes) expect(saidBy(await call(node, 'page_complete'))).toBe('false')
  })

  test('comes on the stream of a session in the order in which it was said, and so do a ping and its end', async () => {
    const { nodes, ada, stream } = await following(kind)
    const [, two] = nodes
    const args = { session: ada.id }
    await call(two, 'say', { args })
    await call(two, 'ping', { args })
    await call(two, 'finish', { args })
    await stream.ended
    expect(stream.received).toMatch(/said by two[\s\S]*"method":"ping"/)
  })
})

describe.each(KINDS)('a session of two nodes, %s', (kind) => {
  test('is its own caller’s, on either', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada')
    const stranger = ada.as('eve')
    for (const node of nodes) expect(await stranger.end(node)).toBe(404)
    expect((await stranger.listen(two)).status).toBe(404)
    expect(await ada.ask(two, 'ping', {})).toMatchObject({ result: {} })
  })

  test('of 2025-03-26 gives up a call that runs on another node in an array', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const ada = await NodeSession.begin(one, 'ada', '2025-03-26')
    await ada.call(one, 'stay', { id: 7 })
    await one.says('staying')
    expect(await ada.post(two, [{ method: 'notifications/cancelled', params: { requestId: 7 } }])).toBe(202)
    await one.says('stay aborted by AbortError')
  })
})
