import type { Json } from '../protocol/model.js'
import type { ExtensionHost } from '../server/extension.js'
import { changeStored } from './changing.js'
import { isFinal, TASKS, Task, type TaskChange, type TaskOptions } from './task.js'

/** A task with what its nodes have to know of it. */
export interface TaskRecord {
  readonly task: Task
  /** Whose it is. */
  readonly principal: string | null
  /** The node that works on it. */
  readonly node: string
  /** Questions that were asked so far: their keys are not used again. */
  readonly asked: number
  /** Answers that the work has not taken yet, by key. */
  readonly answers: Readonly<Record<string, Json>>
}

/** Gives the record as it is to be, or undefined to leave it. */
export type RecordChange = (record: TaskRecord) => TaskRecord | undefined

/** The records of tasks in the store that the nodes share. */
export class TaskRecords {
  readonly #host: ExtensionHost
  readonly #keepMs: number

  constructor(host: ExtensionHost, keepMs: number) {
    this.#host = host
    this.#keepMs = keepMs
  }

  async create(record: TaskRecord): Promise<void> {
    await this.#host.store.set(keyOf(record.task.id), JSON.stringify(record), { ttlMs: this.#keepMs, ifRevision: null })
  }

  async read(id: string): Promise<TaskRecord | undefined> {
    const stored = await this.#host.store.get(keyOf(id))
    return stored && parse(stored.value)
  }

  /** The record as it is now; undefined when there is none, or `change` left it. Of two changes at once both count. */
  async update(id: string, change: RecordChange): Promise<TaskRecord | undefined> {
    let next: TaskRecord | undefined
    await changeStored(this.#host.store, keyOf(id), {
      ttlMs: this.#keepMs,
      change: (value) => {
        next = value === undefined ? undefined : change(parse(value))
        return next && JSON.stringify(next)
      },
    })
    return next
  }

  /** A change that a task which is not over yet takes; it is kept for as long as a new one from here on. */
  step(record: TaskRecord, change: TaskChange): TaskRecord | undefined {
    if (isFinal(record.task.status)) return undefined
    const now = this.#host.now()
    const ttlMs = Math.max(0, now - Date.parse(record.task.createdAt)) + this.#keepMs
    return { ...record, task: Task.change(record.task, { ttlMs, ...change }, now) }
  }
}

function keyOf(id: string): string {
  return `${TASKS}:task:${id}`
}

function parse(text: string): TaskRecord {
  const { task, ...rest } = JSON.parse(text) as Omit<TaskRecord, 'task'> & { readonly task: TaskOptions }
  return { ...rest, task: Task.build(task) }
}
