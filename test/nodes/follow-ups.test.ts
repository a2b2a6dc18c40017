import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { answerTo, call, cluster, KINDS, openCall, refusedBy, saidBy, until } from './_nodes.js'

const ADA = { name: 'Ada' }
const OLD = { age: 36 }

describe.each(KINDS)('a follow-up that comes to another node, %s', (kind) => {
  test('goes on with the handler where it waits: its questions, progress, logs and result', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const first = await call(one, 'talk')
    const second = await call(two, 'talk', { ...answerTo(first, ADA), progressToken: 'p' })
    const halfway = { progressToken: 'p', progress: 1, total: 2, message: 'half' }
    expect(second.before).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: halfway },
      {
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', logger: 'server', data: { heard: 'Ada' } },
      },
    ])
    const third = await call(two, 'talk', { ...answerTo(second, OLD), progressToken: 'q' })
    expect(third.before).toMatchObject([{ params: { progressToken: 'q', progress: 2, message: 'all' } }])
    expect(saidBy(third)).toBe('Ada 36, says one')
    expect(effects()).toEqual(['talk on one'])
  })

  test('gives what the handler fails with, and masks what it must not tell', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const told = await call(two, 'fail', answerTo(await call(one, 'fail'), ADA))
    expect(told.message['error']).toEqual({ code: -32602, message: 'There is no Ada', data: { reason: 'nobody' } })
    const args = { hidden: true }
    const masked = await call(two, 'fail', { ...answerTo(await call(one, 'fail', { args }), ADA), args })
    expect(masked.message['error']).toEqual({ code: -32603, message: 'Internal error' })
    await until(
      () => one.stderr.includes('for the operator: Ada'),
      () => one.stderr,
    )
    expect(two.stderr).not.toContain('for the operator')
  })

  test('ends the handler when its client hangs up', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const hanging = await openCall(two, 'hold', answerTo(await call(one, 'hold'), ADA))
    await one.says('holding')
    hanging.socket.destroy()
    await one.says('hold aborted by AbortError')
  })

  test('ends the handler when its client has hung up before that could go on', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'hold'), ADA)
    one.stop()
    const hanging = await openCall(two, 'hold', answer)
    await sleep(100)
    hanging.socket.destroy()
    await sleep(100)
    one.goOn()
    await one.says('hold aborted by AbortError')
  })

  test('is refused to another caller', async () => {
    const { nodes } = await cluster(kind)
    const [one, two] = nodes
    const asked = await call(one, 'talk', { user: 'ada' })
    const refused = await call(two, 'talk', { ...answerTo(asked, ADA), user: 'eve' })
    expect(refusedBy(refused)).toEqual({ code: -32602, reason: 'bound' })
    const second = await call(two, 'talk', { ...answerTo(asked, ADA), user: 'ada' })
    const done = await call(two, 'talk', { ...answerTo(second, OLD), user: 'ada' })
    expect(saidBy(done)).toBe('Ada 36, says one')
  })

  test('is answered alike on both nodes, and runs the handler once', async () => {
    const { nodes, effects, advance } = await cluster(kind)
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'hold'), ADA)
    const both = [call(one, 'hold', answer), call(two, 'hold', answer)]
    await one.says('holding')
    one.pass('hold')
    expect((await Promise.all(both)).map(saidBy)).toEqual(['held for Ada by one', 'held for Ada by one'])
    expect(saidBy(await call(two, 'hold', answer))).toBe('held for Ada by one')
    expect(effects()).toEqual(['hold on one'])
    if (kind !== 'socket') return
    advance(61_000)
    for (const node of nodes)
      expect(refusedBy(await call(node, 'hold', answer))).toEqual({ code: -32602, reason: 'used' })
    expect(effects()).toEqual(['hold on one'])
  })

  test('is too late once the time is up, wherever it comes', async () => {
    const { nodes, effects } = await cluster(kind)
    const [one, two] = nodes
    const answer = answerTo(await call(one, 'deadline'), ADA)
    await until(
      () => effects().length > 0,
      () => 'the time should be up',
    )
    for (const node of [two, one, two])
      expect(refusedBy(await call(node, 'deadline', answer))).toEqual({ code: -32602, reason: 'expired' })
    expect(effects()).toEqual(['deadline timeout on one'])
  })
})
