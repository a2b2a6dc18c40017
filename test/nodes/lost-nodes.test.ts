import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { answerTo, call, cluster, KINDS, openCall, refusedBy, saidBy, until } from './_nodes.js'

const ADA = { name: 'Ada' }
const OLD = { age: 36 }

describe.each(KINDS)('a call whose node is gone, %s', (kind) => {
  test('goes on elsewhere where it may: what was answered and done stays', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const second = await call(one, 'order', answerTo(await call(one, 'order'), ADA))
    await one.signal('SIGKILL')
    const done = await call(two, 'order', answerTo(second, OLD))
    expect(saidBy(done)).toBe('Ada 36 pays 7, charged by one, says two')
    expect(effects()).toEqual(['quoted on one', 'charged on one'])
  })

  test('is refused where it may not', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const asked = await call(one, 'talk')
    await one.signal('SIGKILL')
    expect(refusedBy(await call(two, 'talk', answerTo(asked, ADA)))).toEqual({ code: -32602, reason: 'node_lost' })
    expect(effects()).toEqual(['talk on one'])
  })

  test('is told to try again when the node goes while it serves, and then goes on with the same key', async () => {
    const { nodes, effects } = await cluster(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'crash'), ADA)
    const died = await call(two, 'crash', answer)
    expect(refusedBy(died)).toEqual({ code: -32603, reason: 'node_died', retryable: true })
    expect(died.status).toBe(503)
    expect(saidBy(await call(two, 'crash', answer))).toBe('charged by two')
    const keys = effects().map((line) => line.split(' ')[1])
    expect(effects()).toEqual([`charge ${keys[0]} on one`, `charge ${keys[0]} on two`])
  })

  test('runs again when the node that was asked itself has died with it', async () => {
    const { nodes, effects } = await cluster(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'crash'), ADA)
    await expect(call(one, 'crash', answer)).rejects.toThrow()
    expect(saidBy(await call(two, 'crash', answer))).toBe('charged by two')
    expect(effects()).toHaveLength(2)
  })

  test('is refused where it may not run again, and its node has died in the middle', async () => {
    const { nodes } = await cluster(kind, { heartbeatMs: 200 })
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'hold'), ADA)
    const served = call(two, 'hold', answer)
    await one.says('holding')
    await one.signal('SIGKILL')
    expect(refusedBy(await served)).toEqual({ code: -32603, reason: 'node_died', retryable: true })
    expect(refusedBy(await call(two, 'hold', answer))).toEqual({ code: -32602, reason: 'node_lost' })
  })

  test('goes on elsewhere when its node is stopped between two rounds', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const asked = await call(one, 'order')
    await one.signal('SIGTERM')
    expect(one.process.exitCode).toBe(0)
    expect(one.lines).toContain('order aborted by ContinuationMoved')
    const second = await call(two, 'order', answerTo(asked, ADA))
    expect(saidBy(await call(two, 'order', answerTo(second, OLD)))).toBe('Ada 36 pays 7, charged by two, says two')
    expect(effects()).toEqual(['quoted on one', 'charged on two'])
  })

  test('keeps its node, which is asked to stop, for as long as it may not go on elsewhere', async () => {
    const { nodes } = await cluster(kind, { drainMs: 5_000 })
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'hold'), ADA)
    const stopped = one.signal('SIGTERM')
    const served = call(two, 'hold', answer)
    await one.says('holding')
    await sleep(300)
    one.pass('hold')
    expect(saidBy(await served)).toBe('held for Ada by one')
    await stopped
    expect(one.process.exitCode).toBe(0)
  })

  test('is served elsewhere when the time of its stopping node is up', async () => {
    const { nodes, effects } = await cluster(kind, { drainMs: 200 })
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'linger'), ADA)
    const served = call(two, 'linger', answer)
    await one.says('lingering')
    const stopped = one.signal('SIGTERM')
    const refused = await served
    expect(refused.status).toBe(503)
    expect(refusedBy(refused)).toEqual({ code: -32603, reason: 'shutting_down', retryable: true })
    await stopped
    two.pass('linger')
    expect(saidBy(await call(two, 'linger', answer))).toBe('lingered for Ada on two')
    expect(effects()).toEqual(['lingered on two'])
  })

  test('is not that of a node which has started again under the same name', async () => {
    const { nodes, join, effects } = await cluster(kind)
    const [one, two] = nodes
    const asked = await call(one, 'talk')
    await one.signal('SIGKILL')
    const again = await join('one')
    const other = await call(again, 'talk')
    expect(refusedBy(await call(two, 'talk', answerTo(asked, ADA)))).toEqual({ code: -32602, reason: 'node_lost' })
    expect(saidBy(await call(two, 'talk', answerTo(await call(two, 'talk', answerTo(other, ADA)), OLD)))).toBe(
      'Ada 36, says one',
    )
    expect(effects()).toHaveLength(2)
  })
})

describe.each(KINDS)('a node that was slow, %s', (kind) => {
  test('is replaced after a second, and stops when it wakes up', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const asked = await call(one, 'order')
    one.stop()
    const started = Date.now()
    const second = await call(two, 'order', answerTo(asked, ADA))
    expect(Date.now() - started).toBeGreaterThan(900)
    one.goOn()
    await one.says('order aborted by ContinuationMoved')
    expect(saidBy(await call(one, 'order', answerTo(second, OLD)))).toBe('Ada 36 pays 7, charged by two, says two')
    expect(effects()).toEqual(['quoted on one', 'charged on two'])
  })

  test('does nothing once more, even if its handler goes on regardless', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'stubborn'), ADA)
    one.stop()
    expect(saidBy(await call(two, 'stubborn', answer))).toBe('Ada, charged by two')
    one.goOn()
    await one.says('stubborn has ContinuationMoved and ContinuationMoved')
    expect(saidBy(await call(one, 'stubborn', answer))).toBe('Ada, charged by two')
    expect(effects()).toEqual(['charged on two'])
  })

  test('hears of it when it counted as gone already', async () => {
    const { nodes, effects } = await cluster(kind, { heartbeatMs: 100 })
    const [one, two] = nodes
    const asked = await call(one, 'order')
    one.stop()
    await sleep(500)
    await call(two, 'order', answerTo(asked, ADA))
    one.goOn()
    await one.says('order aborted by ContinuationMoved')
    expect(effects()).toEqual(['quoted on one', 'charged on two'])
  })

  test('has its result discarded when it was replaced while it ran', async () => {
    const { nodes, effects } = await cluster(kind, { heartbeatMs: 100 })
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'linger'), ADA)
    const hanging = await openCall(one, 'linger', answer)
    await one.says('lingering')
    one.stop()
    await sleep(500)
    const served = call(two, 'linger', answer)
    await two.says('lingering')
    one.goOn()
    await one.says('linger aborted by ContinuationMoved')
    one.pass('linger')
    await until(
      () => hanging.received.includes('node_died'),
      () => hanging.received,
    )
    two.pass('linger')
    expect(saidBy(await served)).toBe('lingered for Ada on two')
    expect(saidBy(await call(one, 'linger', answer))).toBe('lingered for Ada on two')
    expect(effects()).toEqual(['lingered on two'])
  })
})
