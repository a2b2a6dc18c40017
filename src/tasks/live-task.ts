import { McpError, toFailure } from '../errors.js'
import type { Json } from '../protocol/model.js'
import { type Answer, missingCapabilities, type Question } from '../router/question.js'
import type { Session } from '../router/session.js'
import { elapsed } from './changing.js'
import type { RecordChange, TaskRecord, TaskRecords } from './record.js'
import { isFinal, type TaskChange, type WireRequest } from './task.js'
import { type RunningTask, runWork, TaskOver, type TaskWork } from './work.js'

export interface LiveTaskOptions {
  readonly id: string
  /** Who has made it. */
  readonly principal: string | null
  readonly records: TaskRecords
  readonly report: (error: unknown) => void
}

/** The call that has made a task, as far as its work needs it. */
export interface MakingCall {
  readonly session: Session
  readonly result: (value: unknown) => Promise<object>
}

interface Waiting {
  resolve(response: unknown): void
  reject(error: Error): void
}

/** Milliseconds between two writes of how far a task is; what comes meanwhile is told by the next one. */
const PROGRESS_MS = 100
/** Milliseconds between two tries to write how a task has ended, at first and at last. */
const RETRY_MS = { first: 1_000, last: 60_000 }
/** Of a result as JSON. Stores take a value of so many bytes, whatever the engine. */
const MAX_RESULT_CHARACTERS = 8_388_608

/** A task that this node works on. */
export class LiveTask {
  readonly id: string
  readonly principal: string | null
  /** Resolves when it has ended here. */
  readonly done: Promise<void>
  readonly #options: LiveTaskOptions
  readonly #controller = new AbortController()
  readonly #waiting = new Map<string, Waiting>()
  /** Answers that the work has, and that need not be kept any longer. */
  readonly #taken = new Set<string>()
  #leave = (): void => undefined
  /** It is in the store. */
  #runs = false
  #left = false
  #looking: Promise<void> | undefined
  #looksAgain = false
  #unopened: WireRequest[] = []
  #opening: Promise<number> | undefined
  #untold: string | undefined
  #resting: ReturnType<typeof setTimeout> | undefined

  constructor(options: LiveTaskOptions) {
    this.id = options.id
    this.principal = options.principal
    this.#options = options
    this.done = new Promise((resolve) => {
      this.#leave = resolve
    })
  }

  /** Runs the work, and writes down how it has ended. */
  async run(work: TaskWork, call: MakingCall, keepMs: number): Promise<void> {
    this.#runs = true
    const ending = await this.#ending(work, call)
    if (ending !== undefined) await this.#end(ending, keepMs)
  }

  /** The work is told to stop; what becomes of it concerns nobody. */
  stop(why: string): void {
    this.#controller.abort(new TaskOver(why))
    this.#settle()
  }

  /** Whether what becomes of the work concerns nobody any more. */
  get stopped(): boolean {
    return this.#controller.signal.aborted
  }

  /** Nothing is done for it any more. */
  leave(): void {
    this.#left = true
    if (this.#resting !== undefined) clearTimeout(this.#resting)
    this.#settle()
    this.#leave()
  }

  /** Looks at what others have made of it. One look serves all who want one meanwhile. */
  async look(): Promise<void> {
    if (!this.#runs) return
    this.#looksAgain = this.#looking !== undefined
    this.#looking ??= this.#lookOn()
    await this.#looking
  }

  async #lookOn(): Promise<void> {
    try {
      do {
        this.#looksAgain = false
        const record = await this.#options.records.read(this.id)
        if (record === undefined || isFinal(record.task.status)) this.stop('The task is over')
        else this.#take(record)
      } while (this.#looksAgain)
    } finally {
      this.#looking = undefined
    }
  }

  #take({ answers }: TaskRecord): void {
    for (const [key, { resolve }] of this.#waiting) {
      if (!Object.hasOwn(answers, key)) continue
      this.#waiting.delete(key)
      this.#taken.add(key)
      resolve(answers[key])
    }
  }

  /** Whoever waits for an answer does so in vain. */
  #settle(): void {
    for (const { reject } of this.#waiting.values()) reject(new TaskOver('The task is over'))
    this.#waiting.clear()
  }

  #update(change: RecordChange): Promise<TaskRecord | undefined> {
    return this.#options.records.update(this.id, (record) => {
      const next = change(record)
      if (next === undefined || this.#taken.size === 0) return next
      const answers = Object.entries(next.answers).filter(([key]) => !this.#taken.has(key))
      return { ...next, answers: Object.fromEntries(answers) }
    })
  }

  #change(change: TaskChange): Promise<TaskRecord | undefined> {
    return this.#update((record) => this.#options.records.step(record, change))
  }

  /** How the task ends; undefined when it has ended already. */
  async #ending(work: TaskWork, call: MakingCall): Promise<TaskChange | undefined> {
    const { signal } = this.#controller
    const { report } = this.#options
    try {
      const made = runWork(work, this.#seenBy(call.session)).then((value) => call.result(value))
      const result = toJson(await untilAborted(signal, made))
      const statusMessage = this.#untold
      return { status: 'completed', result, ...(statusMessage !== undefined && { statusMessage }) }
    } catch (error) {
      return signal.aborted ? undefined : failedBy(error, report)
    }
  }

  /** A store that cannot be reached now may be back before the task is past its time. */
  async #end(change: TaskChange, keepMs: number): Promise<void> {
    const { signal } = this.#controller
    let waitMs = RETRY_MS.first
    for (let waited = 0; waited < keepMs && !signal.aborted; waited += waitMs) {
      try {
        await this.#change(change)
        return
      } catch (error) {
        this.#options.report(error)
        await untilAborted(signal, elapsed(waitMs)).catch(() => undefined)
        waitMs = Math.min(2 * waitMs, RETRY_MS.last)
      }
    }
  }

  #seenBy(session: Session): RunningTask {
    return {
      id: this.id,
      signal: this.#controller.signal,
      progress: (progress, total, message) =>
        this.#progress(String(message ?? (total === undefined ? progress : `${progress} of ${total}`))),
      ask: (question) => {
        const answer = this.#ask(question, session)
        // Work that does not wait for it must not bring the process down when the task is over.
        answer.catch(() => undefined)
        return answer
      },
    }
  }

  async #progress(statusMessage: string): Promise<void> {
    this.#untold = statusMessage
    if (this.#resting !== undefined || this.#left || this.#controller.signal.aborted) return
    this.#resting = setTimeout(() => {
      this.#resting = undefined
      if (this.#untold !== undefined) void this.#progress(this.#untold)
    }, PROGRESS_MS)
    this.#untold = undefined
    await this.#change({ statusMessage }).catch(this.#options.report)
  }

  async #ask<Content>(question: Question<Content>, session: Session): Promise<Answer<Content>> {
    if (missingCapabilities(question.requires, session.clientCapabilities) !== undefined)
      return { action: 'unsupported' }
    for (;;) {
      const answer = await question.read(await this.#responseTo(question))
      if (answer !== undefined) return answer
    }
  }

  async #responseTo({ method, params }: Question<unknown>): Promise<unknown> {
    const key = await this.#open({ method, params })
    if (this.#left || this.#controller.signal.aborted) throw new TaskOver('The task is over')
    return await new Promise((resolve, reject) => {
      this.#waiting.set(key, { resolve, reject })
      // The answer may have been there before anybody waited for it.
      this.look().catch(this.#options.report)
    })
  }

  /** Gives the key of the question. Those that are asked at once are opened at once. */
  async #open(request: WireRequest): Promise<string> {
    const at = this.#unopened.push(request)
    this.#opening ??= Promise.resolve().then(() => this.#openAll())
    return `q${(await this.#opening) + at}`
  }

  /** Gives how many were asked before. */
  async #openAll(): Promise<number> {
    const requests = this.#unopened
    this.#unopened = []
    this.#opening = undefined
    let before = 0
    const opened = await this.#update((record) => {
      before = record.asked
      const added = requests.map((request, at) => [`q${before + at + 1}`, request])
      const inputRequests = { ...record.task.inputRequests, ...Object.fromEntries(added) }
      const next = this.#options.records.step(record, { status: 'input_required', inputRequests })
      return next && { ...next, asked: before + requests.length }
    })
    if (opened === undefined) throw new TaskOver('The task is over')
    return before
  }
}

/** @throws TypeError for what JSON cannot hold: it has to be found out where it can still be told. */
function toJson(result: object): Json {
  const text = JSON.stringify(result)
  if (text.length <= MAX_RESULT_CHARACTERS) return JSON.parse(text) as Json
  const cause = new RangeError(
    `a task has a result of ${text.length} characters, and ${MAX_RESULT_CHARACTERS} is the most`,
  )
  const data = { reason: 'result_too_large' }
  throw new McpError('INTERNAL_ERROR', 'The result of the task is too large', { data, cause })
}

function failedBy(thrown: unknown, report: (error: unknown) => void): TaskChange {
  const { code, message, data } = toFailure(thrown, report)
  try {
    JSON.stringify(data)
    return { status: 'failed', statusMessage: message, error: new McpError(code, message, { data }) }
  } catch (unserialisable) {
    report(unserialisable)
    return { status: 'failed', statusMessage: message, error: new McpError(code, message) }
  }
}

function untilAborted<Value>(signal: AbortSignal, value: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
