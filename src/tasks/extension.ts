import type { Awaitable } from '../awaitable.js'
import { McpError } from '../errors.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { Json } from '../protocol/model.js'
import type { OutcomeAnswer, OutcomeCall } from '../router/extension-rows.js'
import { field } from '../router/field.js'
import type { Session } from '../router/session.js'
import { Extension, type ExtensionHost } from '../server/extension.js'
import { isFinal, isTask, TASKS, type Task, toCreated, toDetailed } from './task.js'

/** Who keeps the tasks, for one server or for all. */
export interface TaskKeeper<Assigns extends object> {
  get(id: string, session: Session<Assigns>, host: ExtensionHost): Awaitable<Task | null | undefined>
  update?(task: Task, inputResponses: Json, where: Asking<Assigns>): Awaitable<void>
  cancel?(task: Task, where: Asking<Assigns>): Awaitable<void>
  authorizeSubscriptions?(
    ids: readonly string[],
    where: Asking<Assigns>,
  ): Awaitable<readonly string[] | null | undefined> | undefined
  /** What a tool has returned which is no task yet; undefined leaves it as it is. */
  answer?(value: unknown, call: OutcomeCall<Assigns, ExtensionHost>): Awaitable<OutcomeAnswer> | undefined
}

/** Who asks, and which server was asked. */
export interface Asking<Assigns extends object> {
  readonly session: Session<Assigns>
  readonly host: ExtensionHost
}

// Merged into the name that users merge theirs into: two names for one interface do not go together.
declare module '../index.js' {
  interface ExtensionToolOptions {
    /** Whether calls of the tool may, or must, be answered with a task. @default 'optional' */
    readonly task?: 'never' | 'optional' | 'required'
  }
}

const MODES = ['never', 'optional', 'required']
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
    'tasks/get': Extension.method({ params: TASK_ID, mirrors: 'taskId' }, async ({ taskId }, session, host) =>
      toDetailed(await this.#known(taskId, session as never, host)),
    ),
    'tasks/update': Extension.method({ params: TASK_ID, mirrors: 'taskId' }, async ({ taskId }, session, host) => {
      await this.#update(taskId, session as never, host)
      return {}
    }),
    'tasks/cancel': Extension.method({ params: TASK_ID, mirrors: 'taskId' }, async ({ taskId }, session, host) => {
      const task = await this.#known(taskId, session as never, host)
      if (!isFinal(task.status)) await this.#keeper.cancel?.(task, { session: session as never, host })
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
      answer: (value: Task, call) => {
        const { tool } = call
        if (tool.options['task'] === 'never')
          throw new TypeError(`tool '${tool.name}' answered with a task, but its option says task: 'never'`)
        return this.#keeper.answer?.(value, call) ?? { members: toCreated(value) }
      },
    },
  }
  readonly listens: NonNullable<Extension<Assigns>['listens']> = {
    taskIds: {
      authorize: (ids, session, host) =>
        this.#keeper.authorizeSubscriptions?.(ids, { session, host }) ?? this.#visible(ids, session, host),
      deliver: async (id, session, host) => {
        const task = await this.#find(id, session, host)
        return task && { method: 'notifications/tasks', params: toDetailed(task), last: isFinal(task.status) }
      },
    },
  }
  readonly #keeper: TaskKeeper<Assigns>

  /** @internal */
  constructor(keeper: TaskKeeper<Assigns>) {
    this.#keeper = keeper
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
  async #find(id: string, session: Session<Assigns>, host: ExtensionHost): Promise<Task | undefined> {
    try {
      return await this.#get(id, session, host)
    } catch (error) {
      if (McpError.is(error)) return undefined
      throw error
    }
  }

  async #get(id: string, session: Session<Assigns>, host: ExtensionHost): Promise<Task | undefined> {
    const task: unknown = await this.#keeper.get(id, session, host)
    if (task === null || task === undefined) return undefined
    if (isTask(task) && task.id === id) return task
    throw new TypeError('tasks, get: it must return the task of the id that it was given, made by Task.build, or null')
  }

  /** @throws McpError `INVALID_PARAMS` for a task that is not there for the caller. */
  async #known(id: string, session: Session<Assigns>, host: ExtensionHost): Promise<Task> {
    const task = await this.#get(id, session, host)
    if (task === undefined) throw new McpError('INVALID_PARAMS', 'There is no such task', { data: { taskId: id } })
    return task
  }

  async #visible(ids: readonly string[], session: Session<Assigns>, host: ExtensionHost): Promise<readonly string[]> {
    const found = await Promise.all(ids.map((id) => this.#find(id, session, host)))
    return ids.filter((_id, index) => found[index] !== undefined)
  }

  /** Answers to what is not asked are dropped, as the extension says; the call is acknowledged all the same. */
  async #update(id: string, session: Session<Assigns>, host: ExtensionHost): Promise<void> {
    const { inputResponses } = session.params
    if (!isObject(inputResponses)) throw new McpError('INVALID_PARAMS', 'params.inputResponses must be an object')
    const task = await this.#known(id, session, host)
    const open = Object.entries(inputResponses).filter(([key]) => Object.hasOwn(task.inputRequests ?? {}, key))
    if (open.length > 0) await this.#keeper.update?.(task, Object.fromEntries(open), { session, host })
  }
}

/** What `notifyUpdated` needs of a server. */
export interface TaskServer {
  /** As `Server` has it. */
  notifyListeners(filter: string, key: string): Promise<void>
}
