import type { Awaitable } from '../awaitable.js'
import { assertCounts, assertOptions, assertTimes } from '../options.js'
import type { Json } from '../protocol/model.js'
import { type ToolOutcome, toolOutcome } from '../router/extension-outcome.js'
import type { OutcomeAnswer, OutcomeCall } from '../router/extension-rows.js'
import type { Session } from '../router/session.js'
import type { ExtensionHost } from '../server/extension.js'
import { type Asking, type TaskKeeper, Tasks } from './extension.js'
import { type RunnerOptions, type Started, TaskRunner } from './runner.js'
import { isTaskId, TASKS, Task, toCreated } from './task.js'
import { inCall, runWork, type TaskWork } from './work.js'

/** How an application that keeps its tasks itself answers for them. */
export interface TaskCallbacks<Assigns extends object = object> {
  /**
   * The task of this id, as it is now, where the caller may see it; null hides it. Throw `McpError('TASK_EXPIRED', …)` for one whose
   * time is over.
   */
  readonly get: (id: string, session: Session<Assigns>) => Awaitable<Task | null | undefined>
  /** Takes answers to questions of the task that are open; answers to others do not get here. @default drops them */
  readonly update?: (task: Task, inputResponses: Json, session: Session<Assigns>) => Awaitable<void>
  /** Asks the work to end, which it need not at once. Not called for a task that is over. @default the work goes on */
  readonly cancel?: (task: Task, session: Session<Assigns>) => Awaitable<void>
  /** Which of these tasks the caller may follow, in one question for all. @default those that `get` gives */
  readonly authorizeSubscriptions?: (
    ids: readonly string[],
    session: Session<Assigns>,
  ) => Awaitable<readonly string[] | null | undefined>
}

/** How tasks are kept in the store that the server's nodes share. */
export interface StoredTaskOptions {
  readonly store: true
  /** Milliseconds that a task is kept after it has changed. @default 86_400_000, a day */
  readonly ttlMs?: number
  /** Milliseconds that clients are told to wait between two looks. @default 1_000 */
  readonly pollIntervalMs?: number
  /** Milliseconds after which a node that says nothing is gone, and its tasks have failed. @default 10_000 */
  readonly leaseMs?: number
  /** Tasks that one node works on at once; one more call is refused, retryable. @default 1_000 */
  readonly maxRunning?: number
  /** The same of one caller, so that nobody takes what is there for all. Callers without a principal are not counted. @default 100 */
  readonly maxPerPrincipal?: number
}

const CALLBACKS = ['get', 'update', 'cancel', 'authorizeSubscriptions'] as const
const STORED = ['store', 'ttlMs', 'pollIntervalMs', 'leaseMs', 'maxRunning', 'maxPerPrincipal']
const DAY_MS = 86_400_000

/** Keeps tasks in the store of each server that runs the router. */
class StoreKeeper<Assigns extends object> implements TaskKeeper<Assigns> {
  readonly #runners = new WeakMap<ExtensionHost, TaskRunner>()
  readonly #options: RunnerOptions
  /** Set by the extension that uses it. */
  supported: (session: Session<Assigns>) => boolean = () => false

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  attach(host: ExtensionHost): void {
    this.#runners.set(host, new TaskRunner(host, this.#options))
  }

  async get(id: string, session: Session<Assigns>, host: ExtensionHost): Promise<Task | undefined> {
    return isTaskId(id) ? await this.#of(host).find(id, session as never) : undefined
  }

  update(task: Task, inputResponses: Json, { host }: Asking<Assigns>): Promise<void> {
    return this.#of(host).answer(task.id, inputResponses)
  }

  cancel(task: Task, { host }: Asking<Assigns>): Promise<void> {
    return this.#of(host).cancel(task.id)
  }

  answer(value: unknown, call: OutcomeCall<Assigns, ExtensionHost>): Promise<OutcomeAnswer> {
    if (isStarted(value)) return this.#start(value, call)
    throw new TypeError(`tool '${call.tool.name}' must answer with jobs.start: only such tasks are in the store`)
  }

  async #start(started: Started, call: OutcomeCall<Assigns, ExtensionHost>): Promise<OutcomeAnswer> {
    if (!this.supported(call.session)) {
      const value = await runWork(started.work, inCall(started.id, call.session as never))
      return { value }
    }
    return { members: toCreated(await this.#of(call.host).start(started, call as never)) }
  }

  #of(host: ExtensionHost): TaskRunner {
    const runner = this.#runners.get(host)
    if (runner === undefined) throw new TypeError('tasks: the extension is not attached to this server')
    return runner
  }
}

function isStarted(value: unknown): value is Started {
  return typeof (value as Partial<Started> | null)?.work === 'function'
}

/** Tasks that run on the server's nodes, and are kept in their store. Made by {@link tasks} with `store: true`. */
export class StoredTasks<Assigns extends object = object> extends Tasks<Assigns> {
  /** Called for each server that runs the router. */
  readonly attach: (host: ExtensionHost) => void

  /** @internal */
  constructor(keeper: StoreKeeper<Assigns>) {
    super(keeper)
    this.attach = (host) => keeper.attach(host)
    keeper.supported = (session) => this.supported(session)
  }

  /**
   * What a tool returns so that the call is answered with a task: `work` runs on this node, behind the answer. For a client
   * without tasks it runs inside of the call, and what it returns is what the tool returns.
   *
   * @example
   * router.tool('report', { task: 'optional' }, (params, session) =>
   *   jobs.start(session, async (task) => makeReport(params, task.signal)))
   */
  start(_session: Session<Assigns>, work: TaskWork): ToolOutcome {
    if (typeof work !== 'function') throw new TypeError('jobs.start: the work of the task must be a function')
    return toolOutcome(TASKS, 'task', { id: Task.id(), work } satisfies Started)
  }
}

/**
 * Makes the tasks extension: with `store: true`, tasks run on the server's nodes and are kept in their store; with callbacks, the
 * application keeps them, in a database or a queue.
 *
 * @throws TypeError for an option that is unknown or of the wrong kind.
 * @example
 * const jobs = tasks({ store: true })
 * createRouter({ name: 'reports', version: '1.0.0', extensions: [jobs] })
 */
export function tasks<Assigns extends object = object>(options: StoredTaskOptions): StoredTasks<Assigns>
export function tasks<Assigns extends object = object>(callbacks: TaskCallbacks<Assigns>): Tasks<Assigns>
export function tasks<Assigns extends object>(options: StoredTaskOptions | TaskCallbacks<Assigns>): Tasks<Assigns> {
  return 'store' in options ? inStore(options) : new Tasks(toKeeper(options))
}

function inStore<Assigns extends object>(options: StoredTaskOptions): StoredTasks<Assigns> {
  assertOptions('tasks', options, STORED)
  if (options.store !== true) throw new TypeError('tasks: store must be true; leave it out to keep tasks yourself')
  assertCounts('tasks', options, ['ttlMs', 'maxRunning', 'maxPerPrincipal'])
  assertTimes('tasks', options, ['pollIntervalMs', 'leaseMs'])
  const { ttlMs: keepMs = DAY_MS, pollIntervalMs = 1000, leaseMs = 10_000 } = options
  const { maxRunning = 1000, maxPerPrincipal = 100 } = options
  return new StoredTasks(new StoreKeeper({ keepMs, pollIntervalMs, leaseMs, maxRunning, maxPerPrincipal }))
}

function toKeeper<Assigns extends object>(callbacks: TaskCallbacks<Assigns>): TaskKeeper<Assigns> {
  assertOptions('tasks', callbacks, CALLBACKS)
  for (const name of CALLBACKS) {
    const given = callbacks[name]
    if (typeof given !== 'function' && (given !== undefined || name === 'get'))
      throw new TypeError(`tasks: ${name} must be a function`)
  }
  return {
    get: (id, session) => callbacks.get(id, session),
    update: (task, responses, { session }) => callbacks.update?.(task, responses, session),
    cancel: (task, { session }) => callbacks.cancel?.(task, session),
    authorizeSubscriptions: (ids, { session }) => callbacks.authorizeSubscriptions?.(ids, session),
  }
}
