import { appendFileSync } from 'node:fs'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { type Backplane, createRouter, createServer, Elicit, field, type Router } from 'phantom-mcp'
import { natsBackplane } from 'phantom-mcp/nats'
import { serve } from 'phantom-mcp/node'
import { redisBackplane } from 'phantom-mcp/redis'
import { type StoredTasks, tasks } from 'phantom-mcp/tasks'
import { openGates } from '../nodes/_node.js'

export type Engine = 'Redis' | 'NATS'

/** What a node is told when it is started, as JSON in `NODE_SETTINGS`. */
export interface TaskNodeSettings {
  readonly name: string
  readonly engine: Engine
  readonly url: string
  /** The file of what the works have done, a line each. */
  readonly effects: string
  readonly leaseMs: number
  readonly drainMs: number
}

const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })

/** A node with tasks in its store, in a process of its own. A line on stdin opens the gate of that name. */
export async function runTaskNode(): Promise<void> {
  const settings = JSON.parse(process.env['NODE_SETTINGS'] ?? '') as TaskNodeSettings
  const { leaseMs, drainMs } = settings
  const jobs = tasks({ store: true, leaseMs, pollIntervalMs: 100, maxPerPrincipal: 1_000 })
  const router = createRouter({
    name: 'task-nodes',
    version: '1.0.0',
    secretKeyBase: 'a secret that all nodes of the test have in common, and that is long enough',
    extensions: [jobs],
    connect: (session, { headers }) => session.assign({ user: headers.get('authorization') }),
    principal: ({ assigns }) => assigns.user,
  }) as unknown as Router
  addJobs(router, jobs, settings)
  const { backplane, end } = await open(settings)
  const server = createServer(router, { backplane, drainMs })
  const { port, close } = await serve(server, { port: 0, signals: false })
  process.once('SIGTERM', async () => {
    await close()
    await backplane.close?.()
    await end()
    process.exit(0)
  })
  console.log(`port ${port}`)
}

async function open({ engine, url }: TaskNodeSettings): Promise<{ backplane: Backplane; end(): Promise<void> | void }> {
  if (engine === 'Redis') {
    const client = new Redis(url)
    return { backplane: redisBackplane(client), end: () => client.disconnect() }
  }
  const connection = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50 })
  return { backplane: natsBackplane(connection), end: () => connection.close() }
}

function addJobs(router: Router, jobs: StoredTasks, { name, effects }: TaskNodeSettings): void {
  const passing = openGates()
  router.tool('wait', { task: 'required' }, (_params, session) =>
    jobs.start(session, async (task) => {
      task.signal.addEventListener('abort', () => console.log(`aborted ${task.id}`))
      await task.progress(1, 2, 'waiting')
      console.log('waiting')
      await passing('wait')
      return `done by ${name}`
    }),
  )
  router.tool('ask', { task: 'required' }, (_params, session) =>
    jobs.start(session, async (task) => {
      const answers = await Promise.all([task.ask(NAME), task.ask(NAME)])
      const names = answers.map((answer) => (answer.action === 'accept' ? answer.content.name : answer.action))
      return `${names.join()} heard by ${name}`
    }),
  )
  router.tool('sleep', { task: 'required', input: { ms: field.integer({ required: true }) } }, ({ ms }, session) =>
    jobs.start(session, async () => {
      await elapsed(ms)
      return `slept on ${name}`
    }),
  )
  router.tool('batch', { task: 'required', input: { ms: field.integer({ required: true }) } }, ({ ms }, session) =>
    jobs.start(session, async (task) => {
      await passing('batch')
      await elapsed(ms)
      appendFileSync(effects, `${task.id} on ${name}\n`)
      return `worked on by ${name}`
    }),
  )
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
