import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { carries, NOTE, UPDATED } from '../nodes/_following.js'
import { answerTo, call, type Node, NodeSession, refusedBy, saidBy } from '../nodes/_nodes.js'
import { ENGINES, type Faulty, faulty } from './_faults.js'

const APART_MS = 30_000
const TTL_MS = 2_000
const ADA = { name: 'Ada' }

interface Apart extends Faulty {
  /** Half a minute ahead. */
  readonly early: Node
  /** Half a minute behind. */
  readonly late: Node
}

describe.each(ENGINES)('nodes on %s whose clocks are a minute apart', (engine) => {
  const apart = async (): Promise<Apart> => {
    const nodes = await faulty(engine, { settings: { timeoutMs: 2_000, sessionTtlMs: TTL_MS } })
    const early = await nodes.serving('early', { aheadMs: APART_MS })
    const late = await nodes.serving('late', { aheadMs: -APART_MS })
    return { ...nodes, early, late }
  }

  test('see each other, and what the other has written, for as long as it is there', async () => {
    const { early, late } = await apart()
    for (const [one, other] of [
      [early, late],
      [late, early],
    ] as const) {
      const ada = await NodeSession.begin(one, 'ada')
      const stream = await ada.listen(other)
      await carries(stream, 'id: ')
      await ada.ask(one, 'resources/subscribe', { uri: NOTE })
      expect(saidBy(await call(one, 'tell', { args: { uris: [NOTE] } }))).toBe('1')
      await carries(stream, UPDATED)
      expect(await ada.end(one)).toBe(204)
    }
  })

  test('end a session when its time is over', async () => {
    const { early, late } = await apart()
    const nodes = [early, late] as const
    const sessions = await Promise.all(nodes.map((node) => NodeSession.begin(node, 'ada')))
    await sleep(TTL_MS / 2)
    for (const [at, session] of sessions.entries()) {
      expect(await session.ask(nodes[1 - at] as Node, 'tools/list', {})).toMatchObject({ result: {} })
    }
    await sleep(TTL_MS * 1.25 + 200)
    for (const [at, session] of sessions.entries()) {
      const refused = await session.ask(nodes[1 - at] as Node, 'tools/list', {})
      expect(refused).toMatchObject({ error: { data: { reason: 'session_unknown' } } })
    }
  })

  test('take an answer that is in time, and no other, when the node that has asked is gone', async () => {
    const { early, late, serving } = await apart()
    const args = { ms: 2_000 }
    const inTime = await call(late, 'deadline', { args })
    await late.signal('SIGKILL')
    expect(saidBy(await call(early, 'deadline', { ...answerTo(inTime, ADA), args }))).toBe('accept')
    const again = await serving('late', { aheadMs: -APART_MS })
    const tooLate = await call(early, 'deadline', { args: { ms: 300 } })
    await early.signal('SIGKILL')
    await sleep(500)
    const refused = await call(again, 'deadline', { ...answerTo(tooLate, ADA), args: { ms: 300 } })
    expect(refusedBy(refused)).toEqual({ code: -32602, reason: 'expired' })
  })
})
