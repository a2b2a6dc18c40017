import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { legacy, open, textOf } from '../http/_http.js'
import { carries, NOTE, UPDATED } from '../nodes/_following.js'
import { call, type Node, NodeSession, refusedBy, saidBy } from '../nodes/_nodes.js'
import { ENGINES, faulty } from './_faults.js'

const LATER = { timeout: 8_000, interval: 100 }
/** What a node could not subscribe to is tried again every five seconds. */
const PATIENT_MS = 20_000
const begins = async (node: Node): Promise<number | undefined> => {
  const clientInfo = { name: 'probe', version: '0' }
  const answer = await open(
    node.port,
    legacy('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }),
  )
  await textOf(answer)
  return answer.statusCode
}

const worksWith = async (one: Node, two: Node): Promise<void> => {
  await expect.poll(() => begins(one), LATER).toBe(200)
  const ada = await NodeSession.begin(two, 'ada')
  const stream = await ada.listen(one)
  await carries(stream, 'id: ')
  await ada.ask(two, 'resources/subscribe', { uri: NOTE })
  await expect.poll(async () => saidBy(await call(two, 'tell', { args: { uris: [NOTE] } })), LATER).toBe('1')
  await carries(stream, UPDATED)
}

test.runIf(ENGINES.includes('redis'))(
  'a node that begins before Redis serves what needs none, and everything once Redis is there',
  async () => {
    const nodes = await faulty('redis')
    await nodes.engine.stop()
    const [one, two] = [await nodes.serving('one'), await nodes.serving('two')]
    expect(saidBy(await call(one, 'log'))).toBe('logged')
    expect(await begins(one)).toBe(503)
    expect(refusedBy(await call(one, 'tell', { args: { uris: [NOTE] } }))).toEqual({
      code: -32603,
      reason: 'backplane',
      retryable: true,
    })
    expect(one.stderr).toContain('Redis: no connection within 300 ms')
    await nodes.engine.start()
    await worksWith(one, two)
  },
  PATIENT_MS,
)

test.runIf(ENGINES.includes('nats'))('a node that begins before NATS listens once NATS is there', async () => {
  const nodes = await faulty('nats')
  await nodes.engine.stop()
  const [one, two] = [nodes.start('one'), nodes.start('two')]
  await sleep(1_000)
  expect([one.lines, one.process.exitCode]).toEqual([[], null])
  await nodes.engine.start()
  await one.says('port')
  await two.says('port')
  await worksWith(one, two)
})
