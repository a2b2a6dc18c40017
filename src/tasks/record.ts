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

interface Asked {
  readonly change: RecordChange
  resolve(record: TaskRecord | undefined): void
  reject(error: unknown): void
}

type Outcome = { readonly record: TaskRecord | undefined } | { readonly error: unknown }

/** The records of tasks in the store that the nodes share. */
export class TaskRecords {
  readonly #host: ExtensionHost
  readonly #keepMs: number
  /** Changes that wait until an earlier one of the same task is written. */
  readonly #asked = new Map<string, Asked[]>()

  constructor(host: ExtensionHost, keepMs: number) {
    this.#host = host
    this.#keepMs = keepMs
  }

  async create(record: TaskRecord): Promise<void> {
    const options = { ttlMs: this.#keepMs, ifRevision: null }
    await this.#host.store.set(keyOf(record.task.id), JSON.stringify(record), options)
  }

  async read(id: string): Promise<TaskRecord | undefined> {
    const stored = await this.#host.store.get(keyOf(id))
    return stored && parse(stored.value)
  }

  /**
   * The record as it is now, of which its followers are told; undefined when there is none, or `change` left it. Of several changes
   * at once each counts, on whatever node; those of this node are written together.
   */
  update(id: string, change: RecordChange): Promise<TaskRecord | undefined> {
    return new Promise((resolve, reject) => {
      const asked = { change, resolve, reject }
      const others = this.#asked.get(id)
      if (others !== undefined) others.push(asked)
      else void this.#writeAll(id, asked)
    })
  }

  async #writeAll(id: string, first: Asked): Promise<void> {
    for (let batch = [first]; batch.length > 0; batch = this.#asked.get(id) ?? []) {
      this.#asked.set(id, [])
      await this.#write(id, batch)
    }
    this.#asked.delete(id)
  }

  async #write(id: string, batch: readonly Asked[]): Promise<void> {
    let outcomes: readonly Outcome[] = []
    try {
      const written = await changeStored(this.#host.store, keyOf(id), {
        ttlMs: this.#keepMs,
        change: (value) => {
          const made = value === undefined ? undefined : changed(parse(value), batch)
          outcomes = made?.outcomes ?? []
          return made?.record && JSON.stringify(made.record)
        },
      })
      if (written) await this.#host.notifyListeners('taskIds', id).catch(this.#host.report)
    } catch (error) {
      outcomes = batch.map(() => ({ error }))
    }
    for (const [at, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[at]
      if (outcome !== undefined && 'error' in outcome) reject(outcome.error)
      else resolve(outcome?.record)
    }
  }

  /** A change that a task which is not over yet takes; it is kept for as long as a new one from here on. */
  step(record: TaskRecord, change: TaskChange): TaskRecord | undefined {
    if (isFinal(record.task.status)) return undefined
    const now = this.#host.now()
    const ttlMs = Math.max(0, now - Date.parse(record.task.createdAt)) + this.#keepMs
    const task = Task.change(record.task, { ttlMs, ...change }, now)
    return { ...record, task, answers: isFinal(task.status) ? {} : record.answers }
  }
}

/** What comes of changes in their order, and of each; no record when nothing has changed. */
function changed(
  record: TaskRecord,
  batch: readonly Asked[],
): { readonly record: TaskRecord | undefined; readonly outcomes: readonly Outcome[] } {
  let last: TaskRecord | undefined
  const outcomes = batch.map(({ change }): Outcome => {
    try {
      const next = change(last ?? record)
      last = next ?? last
      return { record: next }
    } catch (error) {
      return { error }
    }
  })
  return { record: last, outcomes }
}

function keyOf(id: string): string {
  return `${TASKS}:task:${id}`
}

function parse(text: string): TaskRecord {
  const { task, ...rest } = JSON.parse(text) as Omit<TaskRecord, 'task'> & { readonly task: TaskOptions }
  return { ...rest, task: Task.build(task) }
}
