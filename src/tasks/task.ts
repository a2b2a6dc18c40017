import { McpError } from '../errors.js'
import { assertOptions, pick } from '../options.js'
import { STATELESS_NUMBERS } from '../protocol/error-numbers.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { Json } from '../protocol/model.js'
import { BUILT } from '../router/built.js'
import { isToolOutcome, type ToolOutcome, toolOutcome } from '../router/extension-outcome.js'
import type { Question } from '../router/question.js'
import { Extension } from '../server/extension.js'

export const TASKS = 'io.modelcontextprotocol/tasks'

/** Where a task is. The last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** What a task asks its client: a question of `Elicit` and its siblings, or its wire form. */
export type TaskInputRequest = Question<unknown> | WireRequest

/** A question as it is sent. */
export interface WireRequest {
  readonly method: string
  readonly params?: Json
}

/** Why a task has failed, as a JSON-RPC error. */
export interface TaskFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** What may change of a task. */
export interface TaskChange {
  readonly status?: TaskStatus
  /** For people: what is going on. */
  readonly statusMessage?: string | undefined
  /** Kept for so many milliseconds from its creation on; null: for ever. */
  readonly ttlMs?: number | null
  /** Milliseconds that a client should wait between two looks at it. */
  readonly pollIntervalMs?: number | undefined
  /** Needed where it is `input_required`: every question that is open. A key is used once in the life of a task. */
  readonly inputRequests?: Readonly<Record<string, TaskInputRequest>> | undefined
  /** Needed where it is `completed`: what the tool would have returned; a failure that the model reads is one too. */
  readonly result?: unknown
  /** Needed where it is `failed`. */
  readonly error?: McpError | TaskFailure | undefined
  readonly lastUpdatedAt?: Date | number | string
}

/** A task as it is kept somewhere. */
export interface TaskOptions extends TaskChange {
  /** Not to be guessed: `Task.id()` makes one. */
  readonly id: string
  readonly status: TaskStatus
  readonly createdAt: Date | number | string
}

const NEXT: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  working: ['working', 'input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['input_required', 'working', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
}
/** What belongs to one status only. */
const OWN = { inputRequests: 'input_required', result: 'completed', error: 'failed' } as const
const OPTIONS = [
  ...['id', 'status', 'createdAt', 'lastUpdatedAt', 'statusMessage', 'ttlMs', 'pollIntervalMs'],
  ...Object.keys(OWN),
]

export const isFinal = (status: TaskStatus): boolean => NEXT[status].length === 0

/**
 * A piece of work that goes on after its call was answered. A tool returns one; `get` gives one for its id. A value: what has
 * changed is another one, made by `Task.change`.
 */
export interface Task extends ToolOutcome {
  readonly id: string
  readonly status: TaskStatus
  readonly statusMessage?: string
  /** ISO 8601, as is `lastUpdatedAt`. */
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number | null
  readonly pollIntervalMs?: number
  readonly inputRequests?: Readonly<Record<string, WireRequest>>
  readonly result?: Json
  readonly error?: TaskFailure
}

/** Builders of tasks. */
export interface TaskBuilders {
  /** A task as it is kept somewhere. @throws TypeError for fields that do not go together. */
  build(options: TaskOptions): Task
  /** An id of 256 bits that nobody can guess, safe in URLs and headers. */
  id(): string
  /**
   * The task as it is from now on, `now` being its `lastUpdatedAt` unless the change has one.
   * @throws TypeError for a status that cannot follow, and for fields that do not go together.
   */
  change(task: Task, change: TaskChange, now?: Date | number | string): Task
}

/** Builders of tasks. */
export const Task: TaskBuilders = {
  build: (options) => {
    assertOptions('Task.build', options, OPTIONS)
    const { id, status, createdAt, lastUpdatedAt, ttlMs = null } = options
    const owner = `task '${String(id)}'`
    assertFields(owner, options)
    const facts = {
      id,
      status,
      ...pick(options, ['statusMessage', 'pollIntervalMs']),
      createdAt: isoOf(owner, 'createdAt', createdAt),
      lastUpdatedAt: isoOf(owner, 'lastUpdatedAt', lastUpdatedAt ?? createdAt),
      ttlMs,
      ...(options.inputRequests && { inputRequests: requestsOf(owner, options.inputRequests) }),
      ...(options.result !== undefined && { result: resultOf(options.result) }),
      ...(options.error && { error: failureOf(owner, options.error) }),
    }
    // A copy with another status has been checked by nobody: it keeps its mark, not its value, and is refused.
    return Object.freeze(Object.defineProperties({ ...facts }, marksOf(facts))) as Task
  },
  id: () => {
    const bytes = crypto.getRandomValues(new Uint8Array(32))
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  },
  change: (task, change, now = Date.now()) => {
    const { status = task.status } = change
    if (!NEXT[task.status].includes(status))
      throw new TypeError(`task '${task.id}': it is ${task.status}, and cannot be ${String(status)} any more`)
    const { inputRequests, result: _result, error: _error, ...kept } = task
    const open = status === 'input_required' && inputRequests !== undefined ? { inputRequests } : {}
    return Task.build({ ...kept, lastUpdatedAt: now, ...open, ...change, status })
  },
}

/** Whether `Task.id` could have made it. */
export const isTaskId = (id: string): boolean => /^[0-9a-f]{64}$/.test(id)

function marksOf(facts: object): PropertyDescriptorMap {
  const { [BUILT]: mark, extension, resultType, value } = toolOutcome(TASKS, 'task', facts)
  return {
    [BUILT]: { value: mark, enumerable: true },
    extension: { value: extension },
    resultType: { value: resultType },
    value: { value },
  }
}

/** Whether a value was made here, and not copied since. */
export function isTask(value: unknown): value is Task {
  return isToolOutcome(value) && value.extension === TASKS && isObject(value.value) && value.value['id'] !== undefined
}

type Facts = Omit<Task, keyof ToolOutcome>

/** What a call is answered with that made the task: nothing of its status but the word (Tasks, CreateTaskResult). */
export function toCreated({ id, inputRequests: _open, result: _result, error: _error, ...facts }: Facts): Json {
  return { taskId: id, ...facts }
}

/** The whole task, with what belongs to its status (Tasks, DetailedTask). @throws TypeError when that is not there. */
export function toDetailed(task: Facts): Json {
  assertFields(`task '${task.id}'`, task)
  const { id, ...facts } = task
  return { taskId: id, ...facts }
}

function assertFields(owner: string, options: TaskOptions): void {
  const { id, status, statusMessage, inputRequests } = options
  if (typeof id !== 'string' || id === '') throw new TypeError('Task.build: id must be a string that is not empty')
  if (!Object.hasOwn(NEXT, status))
    throw new TypeError(`${owner}: status must be one of ${Object.keys(NEXT).join(', ')}`)
  if (statusMessage !== undefined && typeof statusMessage !== 'string')
    throw new TypeError(`${owner}: statusMessage must be a string`)
  assertDurations(owner, options)
  for (const [member, of] of Object.entries(OWN) as [keyof typeof OWN, TaskStatus][]) {
    if ((options[member] !== undefined) === (status === of)) continue
    throw new TypeError(`${owner}: ${member} belongs to a task that is ${of}, and this one is ${status}`)
  }
  if (inputRequests !== undefined && (!isObject(inputRequests) || Object.keys(inputRequests).length === 0))
    throw new TypeError(`${owner}: inputRequests must have at least one question`)
}

function assertDurations(owner: string, { ttlMs = null, pollIntervalMs }: TaskOptions): void {
  if (ttlMs !== null && !(Number.isSafeInteger(ttlMs) && ttlMs >= 0))
    throw new TypeError(`${owner}: ttlMs must be a whole number of milliseconds from 0 on, or null`)
  if (pollIntervalMs !== undefined && !(Number.isSafeInteger(pollIntervalMs) && pollIntervalMs > 0))
    throw new TypeError(`${owner}: pollIntervalMs must be a whole number of milliseconds from 1 on`)
}

function isoOf(owner: string, member: string, value: unknown): string {
  const date = new Date(value as string)
  if (Number.isNaN(date.getTime())) throw new TypeError(`${owner}: ${member} must be a date`)
  return date.toISOString()
}

function requestsOf(owner: string, requests: Readonly<Record<string, TaskInputRequest>>): Record<string, WireRequest> {
  const entries = Object.entries(requests).map(([key, request]): [string, WireRequest] => {
    const { method, params } = request
    if (typeof method !== 'string') throw new TypeError(`${owner}: inputRequests.${key} must be a question`)
    return [key, params === undefined ? { method } : { method, params }]
  })
  return Object.fromEntries(entries)
}

/** What is kept somewhere is a result already; anything else is what a tool returns. */
function resultOf(value: unknown): Json {
  const whole = isObject(value) && Array.isArray(value['content']) ? value : Extension.toolResult(value)
  return JSON.parse(JSON.stringify(whole)) as Json
}

function failureOf(owner: string, error: McpError | TaskFailure): TaskFailure {
  const { message, data } = error
  const code = McpError.is(error) ? STATELESS_NUMBERS[error.code] : error.code
  if (!Number.isSafeInteger(code) || typeof message !== 'string')
    throw new TypeError(`${owner}: error must be an McpError or { code, message, data? }`)
  return data === undefined ? { code, message } : { code, message, data }
}
