import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { carries, countOf, lastIdOf, NOTE, UPDATED } from '../nodes/_following.js'
import { answerTo, call, NodeSession, refusedBy, saidBy } from '../nodes/_nodes.js'
import { ENGINES, faulty } from './_faults.js'

const RETRYABLE = { code: -32603, reason: 'backplane', retryable: true }
const LATER = { timeout: 8_000, interval: 100 }
const tell = (uris: readonly string[]) => ({ args: { uris } })

describe.each(ENGINES)('nodes that lose %s', (engine) => {
  test('serve what needs no other node, say of the rest that it may be tried again, and come back by themselves', async () => {
    const nodes = await faulty(engine)
    const [one, two] = [await nodes.serving('one'), await nodes.serving('two')]
    const ada = await NodeSession.begin(two, 'ada')
    const stream = await ada.listen(one)
    await carries(stream, 'id: ')
    await ada.ask(two, 'resources/subscribe', { uri: NOTE })
    const asked = await call(one, 'order')
    expect(saidBy(await call(two, 'tell', tell([NOTE])))).toBe('1')
    await carries(stream, UPDATED)
    await nodes.engine.stop()

    expect(saidBy(await call(one, 'log'))).toBe('logged')
    const refused = await call(two, 'tell', tell([NOTE]))
    expect([refused.status, refusedBy(refused)]).toEqual([503, RETRYABLE])
    expect(await ada.ask(two, 'tools/list', {})).toMatchObject({ error: { code: -32603, data: RETRYABLE_DATA } })
    const answer = answerTo(asked, { name: 'Ada' })
    expect(refusedBy(await call(two, 'order', answer))).toEqual(RETRYABLE)

    await nodes.engine.start()
    await expect.poll(async () => saidBy(await call(two, 'tell', tell([NOTE]))), LATER).toBe('1')
    await expect.poll(() => countOf(stream, UPDATED), LATER).toBeGreaterThan(1)
    expect(await ada.ask(one, 'tools/list', {})).toMatchObject({ result: {} })
    const second = await call(two, 'order', answer)
    expect(saidBy(await call(one, 'order', answerTo(second, { age: 36 })))).toBe(
      'Ada 36 pays 7, charged by one, says one',
    )
    expect(nodes.effects().filter((line) => /quoted|charged/.test(line))).toEqual(['quoted on one', 'charged on one'])
  })

  test('tell who comes back what was told while nothing could be kept', async () => {
    const nodes = await faulty(engine)
    const [one, two] = [await nodes.serving('one'), await nodes.serving('two')]
    const ada = await NodeSession.begin(two, 'ada')
    const stream = await ada.listen(one)
    await carries(stream, 'id: ')
    await ada.ask(one, 'resources/subscribe', { uri: NOTE })
    const last = lastIdOf(stream)
    stream.socket.destroy()
    await sleep(100)
    await nodes.engine.stop()
    await call(one, 'tell', tell([NOTE]))
    await nodes.engine.start()
    let back = await ada.listen(two, last)
    for (let tries = 0; back.status !== 200 && tries < 40; tries++) {
      await sleep(100)
      back = await ada.listen(two, last)
    }
    await expect.poll(() => countOf(back, UPDATED), LATER).toBeGreaterThan(0)
  })

  test('end a call that has told something meanwhile: for who stays, and for who comes back', async () => {
    const nodes = await faulty(engine)
    const [one, two] = [await nodes.serving('one'), await nodes.serving('two')]
    const ada = await NodeSession.begin(one, 'ada')
    const stays = await ada.call(one, 'count', { id: 1 })
    const leaves = await ada.call(one, 'count', { id: 2 })
    for (const stream of [stays, leaves]) await carries(stream, '"one"')
    leaves.socket.destroy()
    await nodes.engine.stop()
    one.pass('count')
    await carries(stays, 'counted on one')
    await nodes.engine.start()
    const last = lastIdOf(leaves)
    await expect
      .poll(
        async () => {
          const back = await ada.listen(two, last)
          await Promise.race([back.ended, sleep(1_000)])
          return back.received
        },
        { timeout: 12_000, interval: 200 },
      )
      .toMatch(/events_gone|"id":2/)
  }, 30_000)
})

const RETRYABLE_DATA = { reason: 'backplane', retryable: true }
