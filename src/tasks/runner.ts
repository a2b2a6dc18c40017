import { McpError } from '../errors.js'
import type { OutcomeCall } from '../router/extension-rows.js'
import type { Session } from '../router/session.js'
import type { ExtensionHost } from '../server/extension.js'
import { LiveTask } from './live-task.js'
import { Reaper } from './reaper.js'
import { type TaskRecord, TaskRecords } from './record.js'
import { Roster } from './roster.js'
import { isFinal, TASKS, Task, type TaskChange } from './task.js'
import type { TaskWork } from './work.js'
import { WorkingNode } from './working-node.js'

export interface RunnerOptions {
  readonly keepMs: number
  readonly pollIntervalMs: number
  readonly leaseMs: number
  readonly maxRunning: number
  readonly maxPerPrincipal: number
}

export interface Started {
  readonly id: string
  readonly work: TaskWork
}

type AnyCall = OutcomeCall<object, ExtensionHost>

const TOPIC = `${TASKS}:changed`
/** A doorbell may be missed: whoever waits looks by himself now and then. */
const LOOK_MS = 5000
/** Tasks that are looked at at once. */
const AT_ONCE = 16
/** Bytes of answers that a task's work has not taken yet, or about so many. */
const MAX_ANSWERS = 4_194_304

/** The tasks that one node works on, and what it knows of those of others. */
export class TaskRunner {
  readonly #host: ExtensionHost
  readonly #options: RunnerOptions
  readonly #records: TaskRecords
  readonly #node: WorkingNode
  readonly #reaper: Reaper
  readonly #running = new Map<string, LiveTask>()
  #heard: Promise<unknown> | undefined
  #looks: ReturnType<typeof setInterval> | undefined
  #closing = false

  constructor(host: ExtensionHost, options: RunnerOptions) {
    this.#host = host
    this.#options = options
    this.#records = new TaskRecords(host, options.keepMs)
    const { leaseMs } = options
    // A list lasts for as long as any task on it.
    const keepMs = options.keepMs + 2 * leaseMs
    const roster = new Roster(host, keepMs)
    this.#node = new WorkingNode(host, {
      leaseMs,
      keepMs,
      roster,
      tasks: () => this.#running.keys(),
      onReturn: () => void this.#lookAtAll(),
    })
    this.#reaper = new Reaper(host, {
      node: this.#node.id,
      leaseMs,
      roster,
      end: (id, node) => this.#endLost(id, node),
    })
    host.onClose((signal) => this.#close(signal))
  }

  /** What runs may finish; what is left when the time is up is written down as failed. */
  async #close(signal: AbortSignal): Promise<void> {
    this.#closing = true
    await this.#reaper.stop().catch(this.#host.report)
    const givenUp = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(this.#giveUp()), { once: true })
    })
    await Promise.race([this.#finished(), givenUp])
    if (signal.aborted) await givenUp
    await this.#node.leave()
    const unsubscribe = await this.#heard?.catch(() => undefined)
    if (typeof unsubscribe === 'function') await unsubscribe()
  }

  async #finished(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  /** The task as it is kept; its work begins. @throws McpError `INTERNAL_ERROR`, retryable, when there is no room. */
  async start({ id, work }: Started, call: AnyCall): Promise<Task> {
    const { principal } = call.session
    this.#assertRoom(principal)
    const live = new LiveTask({ id, principal, records: this.#records, report: this.#host.report })
    this.#running.set(id, live)
    this.#looks ??= setInterval(() => void this.#lookAtAll(), LOOK_MS)
    const now = this.#host.now()
    const { keepMs: ttlMs, pollIntervalMs } = this.#options
    const task = Task.build({ id, status: 'working', createdAt: now, ttlMs, pollIntervalMs })
    try {
      await Promise.all([this.#node.hold(), this.#listen()])
      await this.#records.create({ task, principal, node: this.#node.id, asked: 0, answers: {} })
      if (live.stopped) {
        // There was no time left while it was written down.
        await this.#fail(id, shuttingDown())
        throw shuttingDown()
      }
    } catch (error) {
      this.#forget(live)
      throw error
    }
    void live.run(work, call, ttlMs).finally(() => this.#forget(live))
    return task
  }

  #assertRoom(principal: string | null): void {
    if (this.#closing) throw shuttingDown()
    const { maxRunning, maxPerPrincipal } = this.#options
    if (this.#running.size < maxRunning && this.#runningOf(principal) < maxPerPrincipal) return
    const data = { reason: 'too_many_tasks', retryable: true }
    throw new McpError('INTERNAL_ERROR', 'There are too many tasks: try again later', { data })
  }

  #runningOf(principal: string | null): number {
    if (principal === null) return 0
    return [...this.#running.values()].filter((live) => live.principal === principal).length
  }

  /** The task where it is the caller's; one whose node is gone has failed. */
  async find(id: string, session: Session): Promise<Task | undefined> {
    const record = await this.#records.read(id)
    if (record === undefined || record.principal !== session.principal) return undefined
    if (isFinal(record.task.status) || (await this.#isWorkedOn(record))) return record.task
    const lost = await this.#records.update(id, (now) => this.#records.step(now, lostChange()))
    return (lost ?? (await this.#records.read(id)))?.task
  }

  /** Ends a task of a node that is gone. That may have ended it itself, and have gone before it could tell. */
  async #endLost(id: string, node: string): Promise<void> {
    const changed = await this.#records.update(id, (record) =>
      record.node === node ? this.#records.step(record, lostChange()) : undefined,
    )
    if (changed === undefined) await this.#host.notifyListeners('taskIds', id)
    else await this.#ringWork(id)
  }

  async cancel(id: string): Promise<void> {
    await this.#records.update(id, (record) => this.#records.step(record, { status: 'cancelled' }))
    await this.#ringWork(id)
  }

  /**
   * Takes the answers to what is open; the work goes on when nothing is.
   *
   * @throws McpError `INVALID_PARAMS` when that were more than is kept for the work.
   */
  async answer(id: string, given: Readonly<Record<string, unknown>>): Promise<void> {
    const taken = await this.#records.update(id, (record) => {
      const { answers, open } = answered(record, given)
      if (Object.keys(answers).length === 0) return undefined
      const asksOn = Object.keys(open).length > 0
      const next = this.#records.step(
        record,
        asksOn ? { status: 'input_required', inputRequests: open } : { status: 'working' },
      )
      return next && { ...next, answers: bounded({ ...record.answers, ...answers }) }
    })
    if (taken !== undefined) await this.#ringWork(id)
  }

  /** The work looks for itself when it does not hear this. */
  async #ringWork(id: string): Promise<void> {
    await this.#host.pubSub.publish(TOPIC, id).catch(this.#host.report)
  }

  /** There is no time left for what still runs. @throws when that could not be written: then the node is not struck off. */
  async #giveUp(): Promise<void> {
    const error = shuttingDown()
    const given = [...this.#running].map(async ([id, live]) => {
      try {
        await this.#fail(id, error)
      } finally {
        live.stop(error.message)
      }
    })
    const failed = (await Promise.allSettled(given)).find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #fail(id: string, error: McpError): Promise<void> {
    const change = { status: 'failed', statusMessage: error.message, error } as const
    await this.#records.update(id, (record) => this.#records.step(record, change))
  }

  async #isWorkedOn({ node, task }: TaskRecord): Promise<boolean> {
    return node === this.#node.id ? this.#running.has(task.id) : !(await this.#reaper.isGone(node))
  }

  #listen(): Promise<unknown> {
    this.#heard ??= this.#host.pubSub.subscribe(TOPIC, (id) => {
      this.#running.get(id)?.look().catch(this.#host.report)
    })
    this.#heard.catch(() => (this.#heard = undefined))
    return this.#heard
  }

  /** A store that cannot be reached is not asked for each of them. */
  async #lookAtAll(): Promise<void> {
    const all = [...this.#running.values()]
    try {
      for (let from = 0; from < all.length; from += AT_ONCE)
        await Promise.all(all.slice(from, from + AT_ONCE).map((live) => live.look()))
    } catch (error) {
      this.#host.report(error)
    }
  }

  #forget(live: LiveTask): void {
    this.#running.delete(live.id)
    live.leave()
    if (this.#running.size > 0) return
    clearInterval(this.#looks)
    this.#looks = undefined
    this.#node.rest()
  }
}

type Answers = TaskRecord['answers']

/** Which answers are to what is open, and what is open still. */
function answered({ task }: TaskRecord, given: Readonly<Record<string, unknown>>) {
  const open = { ...task.inputRequests }
  const answers: Record<string, Answers[string]> = {}
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(open, key)) continue
    delete open[key]
    answers[key] = (value ?? null) as Answers[string]
  }
  return { open, answers }
}

function bounded(answers: Answers): Answers {
  if (JSON.stringify(answers).length <= MAX_ANSWERS) return answers
  const data = { reason: 'answers_too_large' }
  throw new McpError('INVALID_PARAMS', 'The answers are too large, or too many at once', { data })
}

function shuttingDown(): McpError {
  const data = { reason: 'shutting_down', retryable: true }
  return new McpError('INTERNAL_ERROR', 'The server is shutting down: try again', { data })
}

function lostChange(): TaskChange {
  const data = { reason: 'node_lost' }
  const error = new McpError('INTERNAL_ERROR', 'The node that worked on the task is gone', { data })
  return { status: 'failed', statusMessage: error.message, error }
}
