import {
  type Backplane,
  createRouter,
  Elicit,
  field,
  type Json,
  type Question,
  type Router,
  type Store,
} from 'phantom-mcp'
import { type RunningTask, type StoredTaskOptions, type StoredTasks, tasks } from 'phantom-mcp/tasks'
import type { TestClient } from 'phantom-mcp/testing'
import { expect } from 'vitest'
import type { SetupOptions } from '../_setup.js'
import { DECLARED, named } from './_tasks.js'

export const FORM: Question<{ readonly name: string }> = Elicit.form({
  message: 'Your name?',
  fields: { name: field.string({ required: true, minLength: 2 }) },
})
export const CAPABILITIES: Json = { ...DECLARED, elicitation: {} }
export const OPTIONS: Pick<SetupOptions, 'capabilities' | 'headers'> = { capabilities: CAPABILITIES, headers: named }

export interface StoredApp {
  readonly jobs: StoredTasks
  readonly router: Router
  /** What the tools `job` and `must` do, by the name that they are called with. */
  readonly works: Map<string, (task: RunningTask) => unknown>
  /** Ids of tasks whose signal was aborted. */
  readonly aborted: string[]
}

/** An application whose tasks are in the store. */
export function storedApp(options: Partial<StoredTaskOptions> = {}): StoredApp {
  const jobs = tasks({ store: true, ...options })
  const router = createRouter({
    name: 'test',
    version: '1.0.0',
    extensions: [jobs],
    secretKeyBase: 'the same secret on each node, of sixty-four characters and a few more',
  })
  const works = new Map<string, (task: RunningTask) => unknown>()
  const aborted: string[] = []
  for (const [name, mode] of [
    ['job', 'optional'],
    ['must', 'required'],
  ] as const) {
    router.tool(name, { task: mode, input: { work: field.string({ required: true }) } }, ({ work }, session) =>
      jobs.start(session, (task) => {
        task.signal.addEventListener('abort', () => aborted.push(task.id))
        return works.get(work)?.(task)
      }),
    )
  }
  router.tool('typed', { output: { total: field.integer({ required: true }) } }, (_params, session) =>
    jobs.start(session, () => ({ total: 'many' })),
  )
  return { jobs, router, works, aborted }
}

export const membersOf = ({ _meta, ...members }: Json): Json => members

export const get = (client: TestClient, taskId: unknown): Promise<Json> => client.request('tasks/get', { taskId })

/** The id of a task that does this work. */
export async function begin(client: TestClient, work: string): Promise<string> {
  const result = await client.callTool('job', { work })
  expect(result).toMatchObject({ resultType: 'task', status: 'working' })
  return String(result['taskId'])
}

/** The task, once it is over. */
export async function ended(client: TestClient, id: string): Promise<Json> {
  await expect
    .poll(async () => (await get(client, id))['status'], { timeout: 4000 })
    .not.toMatch(/working|input_required/)
  return membersOf(await get(client, id))
}

/** Follows tasks from here on. */
export async function follow(client: TestClient, taskIds: readonly string[]): Promise<void> {
  const call = { method: 'subscriptions/listen', params: { notifications: { taskIds } } }
  client.requestAs('listen', call).catch(() => undefined)
  const acknowledged = 'notifications/subscriptions/acknowledged'
  await expect.poll(() => client.notified(acknowledged)[0]?.['notifications']).toEqual({ taskIds })
}

export type StoreCall = readonly [method: keyof Store, ...given: unknown[]]

export interface Watched {
  readonly backplane: Backplane
  /** The calls of the store, those that were refused too. */
  readonly calls: StoreCall[]
  /** Where it gives an error, the store rejects with it. */
  refuse: (...call: StoreCall) => Error | undefined
}

/** A node's way to a backplane, seen and interrupted by the test. */
export function watched({ store, pubSub }: Backplane): Watched {
  const calls: StoreCall[] = []
  const watching: { refuse: Watched['refuse'] } = { refuse: () => undefined }
  const seen = <Method extends (...given: never[]) => Promise<unknown>>(name: keyof Store, method: Method): Method =>
    (async (...given) => {
      calls.push([name, ...given])
      const refused = watching.refuse(name, ...given)
      if (refused !== undefined) throw refused
      return await method(...given)
    }) as Method
  const own: Store = {
    get: seen('get', (key) => store.get(key)),
    set: seen('set', (key, value, options) => store.set(key, value, options)),
    delete: seen('delete', (key, revision) => store.delete(key, revision)),
    claim: seen('claim', (key, owner, ttlMs) => store.claim(key, owner, ttlMs)),
    release: seen('release', (key, owner) => store.release(key, owner)),
    list: (prefix) => {
      calls.push(['list', prefix])
      return store.list(prefix)
    },
    append: seen('append', (log, value, options) => store.append(log, value, options)),
    readAfter: seen('readAfter', (log, id, limit) => store.readAfter(log, id, limit)),
    drop: seen('drop', (log) => store.drop(log)),
  }
  return Object.assign(watching, { backplane: { store: own, pubSub }, calls })
}

/** The keys of tasks that are in the store. */
export async function keysOf(store: Store): Promise<string[]> {
  const keys: string[] = []
  for await (const key of store.list('io.modelcontextprotocol/tasks')) keys.push(key.split(':')[1] ?? '')
  return keys.sort()
}
