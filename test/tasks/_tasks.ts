import { createRouter, Elicit, field, type Json, type Router } from 'phantom-mcp'
import { Task, type TaskCallbacks, type Tasks, tasks } from 'phantom-mcp/tasks'

export const STATELESS = '2026-07-28'
export const DECLARED: { readonly extensions: Readonly<Record<string, Json>> } = {
  extensions: { 'io.modelcontextprotocol/tasks': {} },
}
export const CREATED = '2026-07-28T10:00:00.000Z'

export interface App {
  readonly jobs: Tasks
  readonly router: Router
  /** What the application keeps, by id. */
  readonly kept: Map<string, Task>
  /** Ids that nobody may see. */
  readonly hidden: Set<string>
  readonly updates: unknown[]
  readonly cancelled: string[]
}

/** The header that repeats the id, as a client of 2026-07-28 sends it. */
export const named = (message: Json): Record<string, string> => {
  const id = (message['params'] as Json | undefined)?.['taskId']
  return typeof id === 'string' ? { 'mcp-name': id } : {}
}

/** An application that keeps its tasks in a map. */
export function createApp(more: Partial<TaskCallbacks> = {}): App {
  const kept = new Map<string, Task>()
  const hidden = new Set<string>()
  const updates: unknown[] = []
  const cancelled: string[] = []
  const jobs = tasks({
    get: (id) => (hidden.has(id) ? null : kept.get(id)),
    update: (task, responses) => void updates.push([task.id, responses]),
    cancel: (task) => void cancelled.push(task.id),
    ...more,
  })
  const router = createRouter({ name: 'test', version: '1.0.0', extensions: [jobs] })
  const start = (): Task => {
    const task = Task.build({ id: 'job', status: 'working', createdAt: CREATED, ttlMs: 60_000, pollIntervalMs: 500 })
    kept.set(task.id, task)
    return task
  }
  router.tool('report', {}, (_params, session) => (jobs.supported(session) ? start() : 'done at once'))
  router.tool('always', { output: { total: field.number({ required: true }) } }, () => start())
  router.tool('must', { task: 'required' }, () => start())
  router.tool('never', { task: 'never' }, () => start())
  router.tool('copied', {}, () => ({ ...start(), status: 'completed' as const }))
  return { jobs, router, kept, hidden, updates, cancelled }
}

/** A task in each status. */
export function inStatus(status: Task['status'], id = 'job'): Task {
  const own = {
    working: {},
    cancelled: {},
    input_required: {
      inputRequests: {
        name: Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } }),
        roots: { method: 'roots/list' },
      },
    },
    completed: { result: 'the report' },
    failed: { error: { code: -32603, message: 'Broken' } },
  }
  return Task.build({ id, status, createdAt: CREATED, ...own[status] })
}
