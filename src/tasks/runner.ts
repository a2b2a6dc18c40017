import { McpError, toFailure } from '../errors.js'
import type { OutcomeCall } from '../router/extension-rows.js'
import { type Answer, missingCapabilities, type Question } from '../router/question.js'
import type { Session } from '../router/session.js'
import type { ExtensionHost } from '../server/extension.js'
import { Reaper } from './reaper.js'
import { type RecordChange, type TaskRecord, TaskRecords } from './record.js'
import { Roster } from './roster.js'
import { isFinal, TASKS, Task, type TaskChange } from './task.js'
import { type RunningTask, TaskOver, type TaskWork } from './work.js'
import { WorkingNode } from './working-node.js'

export interface RunnerOptions {
  readonly keepMs: number
  readonly pollIntervalMs: number
  readonly leaseMs: number
  readonly maxRunning: number
}

interface Running {
  readonly controller: AbortController
  /** Looks whether an answer has come, or the task is over. */
  readonly looks: Set<() => void>
  readonly done: Promise<void>
  readonly end: () => void
}

export interface Started {
  readonly id: string
  readonly work: TaskWork
}

type AnyCall = OutcomeCall<object, ExtensionHost>

const TOPIC = `${TASKS}:changed`
/** A doorbell may be missed: whoever waits looks by himself now and then. */
const LOOK_MS = 5000
/** Milliseconds between two tries to write how a task has ended. */
const RETRY_MS = 1000

/** The tasks that one node works on, and what it knows of those of others. */
export class TaskRunner {
  readonly #host: ExtensionHost
  readonly #options: RunnerOptions
  readonly #records: TaskRecords
  readonly #node: WorkingNode
  readonly #reaper: Reaper
  readonly #running = new Map<string, Running>()
  #heard: Promise<unknown> | undefined
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
      onReturn: () => [...this.#running.values()].forEach(this.#look),
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
    this.#assertRoom()
    const running = createRunning()
    this.#running.set(id, running)
    const now = this.#host.now()
    const { keepMs: ttlMs, pollIntervalMs } = this.#options
    const task = Task.build({ id, status: 'working', createdAt: now, ttlMs, pollIntervalMs })
    const { principal } = call.session
    try {
      await Promise.all([this.#node.hold(), this.#listen()])
      await this.#records.create({ task, principal, node: this.#node.id, asked: 0, answers: {} })
    } catch (error) {
      this.#forget(id)
      throw error
    }
    void this.#run(work, call, { id, running }).finally(() => this.#forget(id))
    return task
  }

  #assertRoom(): void {
    if (this.#closing) throw shuttingDown()
    if (this.#running.size < this.#options.maxRunning) return
    const data = { reason: 'too_many_tasks', retryable: true }
    throw new McpError('INTERNAL_ERROR', 'There are too many tasks: try again later', { data })
  }

  /** The task where it is the caller's; one whose node is gone has failed. */
  async find(id: string, session: Session): Promise<Task | undefined> {
    const record = await this.#records.read(id)
    if (record === undefined || record.principal !== session.principal) return undefined
    if (isFinal(record.task.status) || (await this.#isWorkedOn(record))) return record.task
    const lost = await this.#update(id, (now) => this.#records.step(now, lostChange()))
    return (lost ?? (await this.#records.read(id)))?.task
  }

  /** Ends a task of a node that is gone. That may have ended it itself, and have gone before it could tell. */
  async #endLost(id: string, node: string): Promise<void> {
    const changed = await this.#update(id, (record) =>
      record.node === node ? this.#records.step(record, lostChange()) : undefined,
    )
    if (changed === undefined) await this.#host.notifyListeners('taskIds', id)
    else await this.#ringWork(id)
  }

  async cancel(id: string): Promise<void> {
    await this.#change(id, { status: 'cancelled' })
    await this.#ringWork(id)
  }

  /** Takes the answers to what is open; the work goes on when nothing is. */
  async answer(id: string, given: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#update(id, (record) => {
      const open = { ...record.task.inputRequests }
      const answers = { ...record.answers }
      for (const [key, value] of Object.entries(given)) {
        if (!Object.hasOwn(open, key)) continue
        delete open[key]
        answers[key] = (value ?? null) as TaskRecord['answers'][string]
      }
      const asksOn = Object.keys(open).length > 0
      const next = this.#records.step(
        record,
        asksOn ? { status: 'input_required', inputRequests: open } : { status: 'working' },
      )
      return next && { ...next, answers }
    })
    await this.#ringWork(id)
  }

  /** The work looks for itself when it does not hear this. */
  async #ringWork(id: string): Promise<void> {
    await this.#host.pubSub.publish(TOPIC, id).catch(this.#host.report)
  }

  /** There is no time left for what still runs. @throws when that could not be written: then the node is not struck off. */
  async #giveUp(): Promise<void> {
    const error = shuttingDown()
    const { message: statusMessage } = error
    const given = [...this.#running].map(async ([id, { controller }]) => {
      try {
        await this.#change(id, { status: 'failed', statusMessage, error })
      } finally {
        controller.abort(new TaskOver(statusMessage))
      }
    })
    const failed = (await Promise.allSettled(given)).find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #isWorkedOn({ node, task }: TaskRecord): Promise<boolean> {
    return node === this.#node.id ? this.#running.has(task.id) : !(await this.#reaper.isGone(node))
  }

  #listen(): Promise<unknown> {
    this.#heard ??= this.#host.pubSub.subscribe(TOPIC, (id) => this.#look(this.#running.get(id)))
    this.#heard.catch(() => (this.#heard = undefined))
    return this.#heard
  }

  readonly #look = (running: Running | undefined): void => {
    for (const look of [...(running?.looks ?? [])]) look()
  }

  #forget(id: string): void {
    this.#running.get(id)?.end()
    this.#running.delete(id)
    if (this.#running.size === 0) this.#node.rest()
  }

  async #run(
    work: TaskWork,
    call: AnyCall,
    { id, running }: { readonly id: string; readonly running: Running },
  ): Promise<void> {
    const { signal } = running.controller
    const look = (): void => void this.#stopWhenOver(id, running).catch(this.#host.report)
    running.looks.add(look)
    const timer = setInterval(look, LOOK_MS)
    try {
      const task: RunningTask = {
        id,
        signal,
        progress: this.#progressOf(id, running),
        ask: (question) => this.#ask(question, call.session, { id, running }),
      }
      await this.#end(id, await this.#ending(work, task, call))
    } finally {
      clearInterval(timer)
      running.looks.clear()
    }
  }

  /** How the task ends; undefined when it has ended already, and what became of the work concerns nobody. */
  async #ending(work: TaskWork, task: RunningTask, call: AnyCall): Promise<TaskChange | undefined> {
    try {
      const value = await untilAborted(task.signal, (async () => await work(task))())
      const result = await call.result(value)
      // What JSON cannot hold has to be found out here, where it can still be told.
      return { status: 'completed', result: JSON.parse(JSON.stringify(result)) }
    } catch (error) {
      if (task.signal.aborted) return undefined
      const failure = toFailure(error, this.#host.report)
      return {
        status: 'failed',
        statusMessage: failure.message,
        error: new McpError(failure.code, failure.message, failure),
      }
    }
  }

  /** A store that cannot be reached now may be back before the task is past its time. */
  async #end(id: string, change: TaskChange | undefined): Promise<void> {
    if (change === undefined) return
    for (let waited = 0; waited < this.#options.keepMs; waited += RETRY_MS) {
      try {
        await this.#change(id, change)
        return
      } catch (error) {
        this.#host.report(error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  async #stopWhenOver(id: string, { controller }: Running): Promise<void> {
    const record = await this.#records.read(id)
    if (record === undefined || isFinal(record.task.status)) controller.abort(new TaskOver('The task is over'))
  }

  #progressOf(id: string, running: Running): RunningTask['progress'] {
    let next: string | undefined
    let writing = false
    return async (progress, total, message) => {
      next = message ?? (total === undefined ? String(progress) : `${progress} of ${total}`)
      if (writing || running.controller.signal.aborted) return
      writing = true
      try {
        while (next !== undefined) {
          const statusMessage: string = next
          next = undefined
          await this.#change(id, { statusMessage })
        }
      } catch (error) {
        this.#host.report(error)
      } finally {
        writing = false
      }
    }
  }

  async #ask<Content>(
    question: Question<Content>,
    session: Session,
    { id, running }: { readonly id: string; readonly running: Running },
  ): Promise<Answer<Content>> {
    if (missingCapabilities(question.requires, session.clientCapabilities) !== undefined)
      return { action: 'unsupported' }
    for (;;) {
      const response = await this.#answerTo(question, { id, running })
      const answer = await question.read(response)
      if (answer !== undefined) return answer
    }
  }

  async #answerTo(
    question: Question<unknown>,
    { id, running }: { readonly id: string; readonly running: Running },
  ): Promise<unknown> {
    let key = ''
    const request = { method: question.method, params: question.params }
    await this.#update(id, (record) => {
      key = `q${record.asked + 1}`
      const inputRequests = { ...record.task.inputRequests, [key]: request }
      const next = this.#records.step(record, { status: 'input_required', inputRequests })
      return next && { ...next, asked: record.asked + 1 }
    })
    return await this.#wait(running, async () => {
      const record = await this.#records.read(id)
      return record !== undefined && Object.hasOwn(record.answers, key) ? { value: record.answers[key] } : undefined
    })
  }

  /** Looks when the doorbell rings, and now and then. */
  #wait<Value>(
    { looks, controller: { signal } }: Running,
    look: () => Promise<{ value: Value } | undefined>,
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        looks.delete(again)
        clearInterval(timer)
        signal.removeEventListener('abort', abort)
      }
      const abort = (): void => {
        stop()
        reject(signal.reason as Error)
      }
      const again = (): void => {
        look().then((found) => {
          if (found === undefined) return
          stop()
          resolve(found.value)
        }, this.#host.report)
      }
      const timer = setInterval(again, LOOK_MS)
      looks.add(again)
      signal.addEventListener('abort', abort)
      if (signal.aborted) abort()
      else again()
    })
  }

  async #change(id: string, change: TaskChange): Promise<TaskRecord | undefined> {
    return await this.#update(id, (record) => this.#records.step(record, change))
  }

  async #update(id: string, change: RecordChange): Promise<TaskRecord | undefined> {
    const changed = await this.#records.update(id, change)
    if (changed !== undefined) await this.#host.notifyListeners('taskIds', id).catch(this.#host.report)
    return changed
  }
}

function createRunning(): Running {
  let end = (): void => undefined
  const done = new Promise<void>((resolve) => {
    end = resolve
  })
  return { controller: new AbortController(), looks: new Set(), done, end }
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

function untilAborted<Value>(signal: AbortSignal, value: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
