import { describe, expect, test } from 'vitest'
import { carries, countOf, lastIdOf, NOTE, UPDATED } from '../nodes/_following.js'
import { answerTo, call, type Node, NodeSession, saidBy } from '../nodes/_nodes.js'
import { slowWayTo } from './_delay.js'
import { ENGINES, faulty } from './_faults.js'

const SLOWER_MS = 300
const LATER = { timeout: 20_000, interval: 50 }

async function tellsWhoFollows(one: Node, two: Node): Promise<void> {
  const ada = await NodeSession.begin(one, 'ada')
  const stream = await ada.listen(two)
  await expect.poll(() => stream.received, LATER).toContain('id: ')
  expect(await ada.ask(one, 'resources/subscribe', { uri: NOTE })).toMatchObject({ result: {} })
  const told = async (): Promise<number> => {
    await call(one, 'tell', { args: { uris: [NOTE] } })
    return countOf(stream, UPDATED)
  }
  await expect.poll(told, LATER).toBeGreaterThan(0)
  expect(await ada.end(one)).toBe(204)
  await stream.ended
}

async function goesOnWithWhatWasAsked(one: Node, two: Node): Promise<void> {
  const second = await call(two, 'order', answerTo(await call(one, 'order'), { name: 'Ada' }))
  expect(saidBy(await call(one, 'order', answerTo(second, { age: 36 })))).toMatch(/^Ada 36 pays 7, charged by /)
}

async function goesOnWithWhatMayNotRunAgain(one: Node, two: Node): Promise<void> {
  const second = await call(two, 'talk', answerTo(await call(one, 'talk'), { name: 'Bob' }))
  expect(saidBy(await call(two, 'talk', answerTo(second, { age: 7 })))).toBe('Bob 7, says one')
}

async function goesOnWithTheStreamOfACall(one: Node, two: Node): Promise<void> {
  const ada = await NodeSession.begin(one, 'eve')
  const stream = await ada.call(one, 'count', { id: 3 })
  await carries(stream, '"one"')
  const last = lastIdOf(stream)
  stream.socket.destroy()
  const back = await ada.listen(two, last)
  expect(back.status).toBe(200)
  one.pass('count')
  await expect.poll(() => back.received, LATER).toContain('counted on one')
  expect([countOf(back, '"one"'), countOf(back, '"two"')]).toEqual([0, 1])
}

describe.each(ENGINES)('nodes on %s that is 300 ms slower', (engine) => {
  test('give the same answers as on a fast one', async () => {
    const { serving, effects } = await faulty(engine, {
      portOf: (to) => slowWayTo(to, SLOWER_MS),
      settings: { timeoutMs: 5_000, heartbeatMs: 2_000 },
    })
    const [one, two] = [await serving('one'), await serving('two')]
    await Promise.all([
      tellsWhoFollows(one, two),
      goesOnWithWhatWasAsked(one, two),
      goesOnWithWhatMayNotRunAgain(one, two),
      goesOnWithTheStreamOfACall(one, two),
    ])
    expect(effects().filter((line) => line.startsWith('charged'))).toHaveLength(1)
    expect(effects().filter((line) => line.startsWith('talk'))).toHaveLength(1)
  }, 40_000)
})
