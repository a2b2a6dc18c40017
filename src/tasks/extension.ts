import type { Awaitable } from '../awaitable.js'
import { McpError } from '../errors.js'
import { assertOptions } from '../options.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { Json } from '../protocol/model.js'
import { field } from '../router/field.js'
import type { Session } from '../router/session.js'
import { Extension } from '../server/extension.js'
import { isFinal, isTask, TASKS, type Task, toCreated, toDetailed } from './task.js'

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

// Merged into the name that users merge theirs into: two names for one interface do not go together.
declare module '../index.js' {
  interface ExtensionToolOptions {
    /** Whether calls of the tool may, or must, be answered with a task. @default 'optional' */
    readonly task?: 'never' | 'optional' | 'required'
  }
}

const MODES = ['never', 'optional', 'required']
const CALLBACKS = ['get', 'update', 'cancel', 'authorizeSubscriptions'] as const
const TASK_ID = { taskId: field.string({ required: true }) } as const
const REQUIRED = { extensions: { [TASKS]: {} } }

/**
 * The extension `io.modelcontextprotocol/tasks` (2026-07-28): calls that are answered before their work is done. Made by
 * {@link tasks}; give it to `createRouter({ extensions })`.
 */
export class Tasks<Assigns extends object = object> implements Extension<Assigns> {
  readonly id: string = TASKS
  readonly versions: readonly '2026-07-28'[] = ['2026-07-28']
  readonly requires: NonNullable<Extension['requires']> = REQUIRED
  readonly methods: NonNullable<Extension<Assigns>['methods']> = {
    'tasks/get': Extension.method({ params: TASK_ID, mirrors: 'taskId' }, async ({ taskId }, session) =>
      toDetailed(await this.#known(taskId, session as never)),
    ),
    'tasks/update': Extension.method({ params: TASK_ID, mirrors: 'taskId' }, async ({ taskId }, session) => {
      await this.#update(taskId, session as never)
      return {}
    }),
    'tasks/cancel': Extension.method({ params: TASK_ID, mirrors: 'taskId' }, async ({ taskId }, session) => {
      const task = await this.#known(taskId, session as never)
      if (!isFinal(task.status)) await this.#callbacks.cancel?.(task, session as never)
      return {}
    }),
  }
  readonly toolOptions: NonNullable<Extension<Assigns>['toolOptions']> = {
    task: {
      assert: (value, owner) => {
        if (!MODES.includes(value as string)) throw new TypeError(`${owner} must be one of ${MODES.join(', ')}`)
      },
      admit: (value, session) => {
        if (value !== 'required' || this.supported(session)) return
        const data = { requiredCapabilities: REQUIRED }
        throw new McpError('MISSING_CLIENT_CAPABILITY', 'This tool answers with a task only', { data })
      },
    },
  }
  readonly outcomes: NonNullable<Extension<Assigns>['outcomes']> = {
    task: {
      answer: (task: Task, { tool }) => {
        if (tool.options['task'] !== 'never') return { members: toCreated(task) }
        throw new TypeError(`tool '${tool.name}' answered with a task, but its option says task: 'never'`)
      },
    },
  }
  readonly listens: NonNullable<Extension<Assigns>['listens']> = {
    taskIds: {
      authorize: (ids, session) =>
        this.#callbacks.authorizeSubscriptions?.(ids, session) ?? this.#visible(ids, session),
      deliver: async (id, session) => {
        const task = await this.#find(id, session)
        return task && { method: 'notifications/tasks', params: toDetailed(task), last: isFinal(task.status) }
      },
    },
  }
  readonly #callbacks: TaskCallbacks<Assigns>

  /** @internal */
  constructor(callbacks: TaskCallbacks<Assigns>) {
    assertOptions('tasks', callbacks, CALLBACKS)
    for (const name of CALLBACKS) {
      const given = callbacks[name]
      if (typeof given !== 'function' && (given !== undefined || name === 'get'))
        throw new TypeError(`tasks: ${name} must be a function`)
    }
    this.#callbacks = callbacks
  }

  /** Whether this call may be answered with a task: the client says so with each request. */
  supported(session: Session<Assigns>): boolean {
    return Extension.supported(this, session)
  }

  /**
   * Tells whoever follows the task, on every node: `get` is asked for each of them, so that they are told what it is now, and
   * only if they may still see it.
   */
  async notifyUpdated(server: TaskServer, task: Task | string): Promise<void> {
    await server.notifyListeners('taskIds', typeof task === 'string' ? task : task.id)
  }

  /** Undefined for what is not there for the caller, and for what is over its time. */
  async #find(id: string, session: Session<Assigns>): Promise<Task | undefined> {
    try {
      return await this.#get(id, session)
    } catch (error) {
      if (McpError.is(error)) return undefined
      throw error
    }
  }

  async #get(id: string, session: Session<Assigns>): Promise<Task | undefined> {
    const task: unknown = await this.#callbacks.get(id, session)
    if (task === null || task === undefined) return undefined
    if (isTask(task) && task.id === id) return task
    throw new TypeError('tasks, get: it must return the task of the id that it was given, made by Task.build, or null')
  }

  /** @throws McpError `INVALID_PARAMS` for a task that is not there for the caller. */
  async #known(id: string, session: Session<Assigns>): Promise<Task> {
    const task = await this.#get(id, session)
    if (task === undefined) throw new McpError('INVALID_PARAMS', 'There is no such task', { data: { taskId: id } })
    return task
  }

  async #visible(ids: readonly string[], session: Session<Assigns>): Promise<readonly string[]> {
    const found = await Promise.all(ids.map((id) => this.#find(id, session)))
    return ids.filter((_id, index) => found[index] !== undefined)
  }

  /** Answers to what is not asked are dropped, as the extension says; the call is acknowledged all the same. */
  async #update(id: string, session: Session<Assigns>): Promise<void> {
    const { inputResponses } = session.params
    if (!isObject(inputResponses)) throw new McpError('INVALID_PARAMS', 'params.inputResponses must be an object')
    const task = await this.#known(id, session)
    const open = Object.entries(inputResponses).filter(([key]) => Object.hasOwn(task.inputRequests ?? {}, key))
    if (open.length > 0) await this.#callbacks.update?.(task, Object.fromEntries(open), session)
  }
}

/** What `notifyUpdated` needs of a server. */
export interface TaskServer {
  /** As `Server` has it. */
  notifyListeners(filter: string, key: string): Promise<void>
}

/**
 * Makes the tasks extension for an application that keeps its tasks itself, in a database or a queue.
 *
 * @throws TypeError for an option that is unknown or no function.
 * @example
 * const jobs = tasks({ get: (id) => reports.task(id), cancel: (task) => reports.stop(task.id) })
 * createRouter({ name: 'reports', version: '1.0.0', extensions: [jobs] })
 */
export function tasks<Assigns extends object = object>(callbacks: TaskCallbacks<Assigns>): Tasks<Assigns> {
  return new Tasks(callbacks)
}
