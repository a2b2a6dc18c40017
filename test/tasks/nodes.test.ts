import { describe, expect, test } from 'vitest'
import { isOver, MISSING, saidBy, taskCluster, until } from './_task-nodes.js'

const LOST = { status: 'failed', error: { code: -32603, data: { reason: 'node_lost' } } }
const name = (text: string): object => ({ action: 'accept', content: { name: text } })

describe.each(['Redis', 'NATS'] as const)('tasks in %s, on two nodes', (engine) => {
  const left = MISSING[engine] ? ` (left out: ${engine} is not installed)` : ''
  const scenario = (title: string, run: () => Promise<void>): void =>
    test.skipIf(MISSING[engine])(`${title}${left}`, run)

  scenario('are looked at and followed on the other one, until they are done', async () => {
    const { nodes } = await taskCluster(engine)
    const [one, two] = nodes
    const id = await one.begin('wait')
    expect(await two.get(id)).toMatchObject({ taskId: id, status: 'working' })
    const told = await two.follow([id])
    await two.until(id, ({ statusMessage }) => statusMessage === 'waiting')
    one.pass('wait')
    expect(saidBy(await two.until(id, isOver))).toBe('done by one')
    await until(
      () => told().at(-1)?.['status'] === 'completed',
      () => JSON.stringify(told()),
    )
    expect(saidBy(told().at(-1) ?? {})).toBe('done by one')
    expect(told().filter(isOver)).toHaveLength(1)
  })

  scenario('are answered on the other one, one question after the other', async () => {
    const { nodes } = await taskCluster(engine)
    const [one, two] = nodes
    const id = await one.begin('ask')
    const openOf = async (count: number): Promise<string[]> => {
      const open = (task: object): string[] => Object.keys((task as { inputRequests?: object }).inputRequests ?? {})
      return open(await two.until(id, (task) => open(task).length === count))
    }
    expect(await openOf(2)).toEqual(['q1', 'q2'])
    expect(await two.request('tasks/update', { taskId: id, inputResponses: { q2: name('Bo') } })).toMatchObject({
      resultType: 'complete',
    })
    expect(await openOf(1)).toEqual(['q1'])
    await two.request('tasks/update', { taskId: id, inputResponses: { q1: name('Ada') } })
    expect(saidBy(await two.until(id, isOver))).toBe('Ada,Bo heard by one')
  })

  scenario('are cancelled on the other one, and nobody else can', async () => {
    const { nodes } = await taskCluster(engine)
    const [one, two] = nodes
    const id = await one.begin('wait')
    await one.says('waiting')
    expect(await two.request('tasks/cancel', { taskId: id }, 'eve')).toMatchObject({ code: -32602 })
    expect(await two.get(id, 'eve')).toMatchObject({ code: -32602 })
    expect(await two.request('tasks/cancel', { taskId: id })).toMatchObject({ resultType: 'complete' })
    await one.says(`aborted ${id}`)
    expect(await one.get(id)).toMatchObject({ status: 'cancelled' })
  })

  scenario('fail when their node is killed, and their followers hear of it', async () => {
    const { nodes } = await taskCluster(engine)
    const [one, two] = nodes
    const ids = [await one.begin('wait'), await one.begin('ask')]
    const own = await two.begin('wait')
    const told = await two.follow([...ids, own])
    await one.signal('SIGKILL')
    await until(
      () => told().filter(isOver).length === 2,
      () => JSON.stringify(told()),
    )
    for (const id of ids) {
      expect(told().filter((task) => task['taskId'] === id && isOver(task))).toMatchObject([LOST])
      expect(await two.get(id)).toMatchObject(LOST)
    }
    expect(await two.get(own)).toMatchObject({ status: 'working' })
  })

  scenario('are finished by a node that ends, or fail when that takes too long', async () => {
    const { nodes } = await taskCluster(engine, { drainMs: 500, leaseMs: 30_000 })
    const [one, two] = nodes
    const late = await Promise.all(Array.from({ length: 60 }, (_, at) => one.begin(at % 2 === 0 ? 'wait' : 'ask')))
    const done = await one.begin('sleep', { ms: 300 })
    const told = await two.follow([done, ...late])
    await one.signal('SIGTERM')
    expect(one.process.exitCode).toBe(0)
    expect(saidBy(await two.get(done))).toBe('slept on one')
    for (const id of late)
      expect(await two.get(id)).toMatchObject({ status: 'failed', error: { data: { reason: 'shutting_down' } } })
    await until(
      () => told().filter(isOver).length === 61,
      () => `61 ends were expected, not ${told().filter(isOver).length}`,
    )
  })

  scenario('go on when their node stood still for less than a lease, and are lost when for longer', async () => {
    const { nodes } = await taskCluster(engine, { leaseMs: 600 })
    const [one, two] = nodes
    const id = await one.begin('wait')
    await one.says('waiting')
    one.stop()
    await new Promise((resolve) => setTimeout(resolve, 200))
    one.goOn()
    expect(await two.get(id)).toMatchObject({ status: 'working' })
    const told = await two.follow([id])
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(told().filter(isOver)).toEqual([])
    one.stop()
    await until(
      () => told().some(isOver),
      () => JSON.stringify(told()),
    )
    one.goOn()
    await one.says(`aborted ${id}`)
    one.pass('wait')
    expect(await one.get(id)).toMatchObject(LOST)
    expect(told().filter(isOver)).toMatchObject([LOST])
  })
})
