import { describe, expect, test } from 'vitest'
import type { Json } from '../http/_http.js'
import { isOver, MISSING, saidBy, type TaskNode, taskCluster, until } from './_task-nodes.js'

const COUNT = 1_000
const GONE_MS = 20_000

/** Runs so many at once, and gives what each has given. */
async function each<Item, Result>(items: readonly Item[], run: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  const left = items.entries()
  const worker = async (): Promise<void> => {
    for (const [at, item] of left) results[at] = await run(item)
  }
  await Promise.all(Array.from({ length: 40 }, worker))
  return results
}

const reasonOf = ({ error }: Json): unknown => (error as { data?: Json } | undefined)?.data?.['reason']
const secondsSince = (began: number): string => ((Date.now() - began) / 1_000).toFixed(1)

/** From one look at all of them to the next, until none is worked on. */
async function allOver(node: TaskNode, ids: readonly string[]): Promise<readonly Json[]> {
  for (const deadline = Date.now() + GONE_MS; ; ) {
    const tasks = await each(ids, (id) => node.get(id))
    const running = tasks.filter((task) => !isOver(task)).length
    if (running === 0) return tasks
    if (Date.now() > deadline) throw new Error(`${running} tasks are worked on, ${GONE_MS} ms after the node has gone`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

describe('a thousand tasks on two nodes, one of which is killed', () => {
  const left = MISSING.Redis ? ' (left out: Redis is not installed)' : ''
  test.skipIf(MISSING.Redis)(`end once each, completed or lost${left}`, { timeout: 60_000 }, async () => {
    const { nodes, effects } = await taskCluster('Redis', { leaseMs: 10_000 })
    const [one, two] = nodes
    const began = Date.now()
    const starts = Array.from({ length: COUNT }, (_, at) => ({ node: at % 2 === 0 ? one : two, ms: at * 4 }))
    const ids = await each(starts, ({ node, ms }) => node.begin('batch', { ms }))
    const createdIn = secondsSince(began)
    const told = await two.follow(ids)
    for (const node of nodes) node.pass('batch')
    await until(
      () => effects().filter((effect) => effect.endsWith('on one')).length >= COUNT / 10,
      () => `the end of ${COUNT / 10} tasks was expected: ${effects().length}`,
    )
    await one.signal('SIGKILL')
    const killed = Date.now()
    const tasks = await allOver(two, ids)
    const overIn = secondsSince(killed)

    const completed = tasks.filter(({ status }) => status === 'completed')
    const lost = tasks.filter((task) => task['status'] === 'failed' && reasonOf(task) === 'node_lost')
    expect(completed.length + lost.length).toBe(COUNT)
    expect(lost.length).toBeGreaterThan(0)
    expect(tasks.filter((_task, at) => at % 2 === 1).map(saidBy)).toEqual(Array(COUNT / 2).fill('worked on by two'))

    await until(
      () => told().filter(isOver).length >= COUNT,
      () => `${COUNT} ends were expected, not ${told().filter(isOver).length}`,
    )
    const ends = told().filter(isOver)
    expect(ends).toHaveLength(COUNT)
    expect(new Set(ends.map(({ taskId }) => taskId)).size).toBe(COUNT)
    const statusOf = new Map(tasks.map(({ taskId, status }) => [taskId, status]))
    for (const { taskId, status } of ends) expect(status).toBe(statusOf.get(taskId))
    const done = effects().map((effect) => effect.split(' ')[0])
    expect(new Set(done).size).toBe(done.length)
    for (const { taskId } of completed) expect(done).toContain(taskId)
    console.log(
      `${COUNT} tasks on two nodes, one killed: created in ${createdIn} s, ${completed.length} completed, ${lost.length} lost, ` +
        `none worked on after ${overIn} s, each end told once`,
    )
  })
})
