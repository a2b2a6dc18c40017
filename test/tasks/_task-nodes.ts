import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { natsMissing, runNats, urlOf as urlOfNats } from '../engines/_nats.js'
import { redisMissing, runRedis, urlOf } from '../engines/_redis.js'
import { afterTest, eventsOf, type Json, modern, open, textOf } from '../http/_http.js'
import { until } from '../nodes/_calls.js'
import { NodeProcess } from '../nodes/_process.js'
import { bundled } from '../stdio/_child.js'
import { type Engine, runTaskNode, type TaskNodeSettings } from './_task-node.js'

export { until }

export const MISSING: Readonly<Record<Engine, boolean>> = { Redis: redisMissing, NATS: natsMissing }

let program = ''
const engines = new Map<Engine, { readonly url: string; end(): Promise<void> }>()
beforeAll(async () => {
  program = await bundled(`import { runTaskNode } from './test/tasks/_task-node.ts'\nvoid ${runTaskNode.name}()`)
})
afterAll(async () => {
  for (const engine of engines.values()) await engine.end()
})

/** One for all tests of a file. */
async function engineOf(name: Engine): Promise<string> {
  const running = engines.get(name)
  if (running !== undefined) return running.url
  const engine = name === 'Redis' ? await runRedis() : await runNats()
  const url = name === 'Redis' ? urlOf(engine) : urlOfNats(engine)
  engines.set(name, { url, end: () => engine.end() })
  return url
}

export interface TaskCluster {
  readonly nodes: readonly [TaskNode, TaskNode]
  /** What works have done, in order, on whatever node. */
  effects(): readonly string[]
}

/** Starts two nodes on an engine, which end with the test. */
export async function taskCluster(
  engine: Engine,
  options: Partial<Pick<TaskNodeSettings, 'leaseMs' | 'drainMs'>> = {},
): Promise<TaskCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-tasks-'))
  afterTest(() => rmSync(folder, { recursive: true, force: true }))
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  const settings = { engine, url: await engineOf(engine), effects, leaseMs: 1_000, drainMs: 2_000, ...options }
  const nodes = [new TaskNode({ ...settings, name: 'one' }), new TaskNode({ ...settings, name: 'two' })] as const
  for (const node of nodes) await node.says('port')
  return { nodes, effects: () => readFileSync(effects, 'utf8').split('\n').filter(Boolean) }
}

const META: Json = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
}

/** A process that serves tasks. */
export class TaskNode extends NodeProcess {
  constructor(settings: TaskNodeSettings) {
    super(program, settings)
  }

  /** The result, or the error as `{ code, … }`. */
  async request(method: string, params: Json, user = 'ada'): Promise<Json> {
    const response = await this.open(method, params, user)
    const text = await textOf(response)
    const streamed = response.headers['content-type']?.startsWith('text/event-stream') === true
    const { result, error } = (streamed ? eventsOf(text).at(-1) : JSON.parse(text)) as Record<'result' | 'error', Json>
    return result ?? error
  }

  open(method: string, params: Json, user = 'ada'): Promise<IncomingMessage> {
    const { taskId } = params
    const named = typeof taskId === 'string' ? { 'mcp-name': taskId } : {}
    return open(this.port, modern(method, params, { meta: META, headers: { authorization: user, ...named } }))
  }

  /** The id of the task that a tool has begun. */
  async begin(tool: string, args: Json = {}): Promise<string> {
    const created = await this.request('tools/call', { name: tool, arguments: args })
    if (typeof created['taskId'] !== 'string') throw new Error(`A task was expected: ${JSON.stringify(created)}`)
    return created['taskId']
  }

  get(taskId: string, user?: string): Promise<Json> {
    return this.request('tasks/get', { taskId }, user)
  }

  /** The task, once it is as it is expected to be. */
  async until(taskId: string, holds: (task: Json) => boolean): Promise<Json> {
    const deadline = Date.now() + 4_000
    for (;;) {
      const task = await this.get(taskId)
      if (holds(task)) return task
      if (Date.now() > deadline) throw new Error(`Another state was expected: ${JSON.stringify(task)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** What is told of these tasks from here on. */
  async follow(taskIds: readonly string[]): Promise<() => readonly Json[]> {
    const response = await this.open('subscriptions/listen', { notifications: { taskIds } })
    afterTest(() => void response.destroy())
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    response.on('error', () => undefined)
    const heard = (): readonly Json[] => eventsOf(text.slice(0, text.lastIndexOf('\n\n') + 2))
    await until(
      () => heard().length > 0,
      () => `an acknowledgement was expected: ${text}`,
    )
    return () =>
      heard()
        .filter(({ method }) => method === 'notifications/tasks')
        .map(({ params }) => params as Json)
  }
}

export const isOver = ({ status }: Json): boolean => status !== 'working' && status !== 'input_required'

/** The text of the result of a task. */
export function saidBy({ result }: Json): unknown {
  return (result as { content?: readonly Json[] } | undefined)?.content?.[0]?.['text']
}
