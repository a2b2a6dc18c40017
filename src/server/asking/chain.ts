import { McpError } from '../../errors.js'
import type { Answer, Question } from '../../router/question.js'

/** What `session.signal` is aborted with, and what open questions are rejected with, when a call goes on somewhere else. */
export class ContinuationMoved extends Error {
  override readonly name = 'ContinuationMoved'

  constructor() {
    super('This call goes on in another run of its handler: stop here')
  }
}

/** What was answered, as the client sent it, with the mark of what was asked. */
export interface Recorded {
  readonly digest: string
  readonly response?: unknown
  /** There was none in time. */
  readonly timedOut?: true
}

/** A question that has no answer yet. */
export interface OpenQuestion {
  readonly question: Question<unknown>
  readonly digest: Promise<string>
  readonly timeoutMs: number
  /** A client has it. */
  sent: boolean
  resolve(answer: Answer<unknown>): void
  reject(error: Error): void
}

/** One call with all its rounds of questions: what was asked, answered, and done once. */
export class Chain {
  readonly id: string
  /** Rounds that were sent. */
  round = 0
  /** When the last round that was sent is over, in milliseconds. */
  deadlineMs = 0
  readonly recorded: Map<string, Recorded> = new Map()
  readonly open: Map<string, OpenQuestion> = new Map()
  /** Values of `session.once`, as JSON gives them back. */
  readonly once: Map<string, Promise<unknown>> = new Map()
  readonly onceValues: Map<string, unknown> = new Map()
  /** Keys of recorded answers that the handler has not asked for again: until then it runs what it ran before. */
  readonly #ahead = new Set<string>()
  /** Keys of this run of the handler. */
  readonly #asked = new Set<string>()
  #anonymous = 0
  #anonymousOpen = false

  constructor(id: string) {
    this.id = id
  }

  /** A handler begins that has asked nothing yet. */
  begin(): void {
    this.#asked.clear()
    this.#anonymous = 0
    this.#anonymousOpen = false
  }

  /** Takes what an earlier run of the handler was told. */
  restore(recorded: Readonly<Record<string, Recorded>>, once: Readonly<Record<string, unknown>>): void {
    for (const [key, answer] of Object.entries(recorded)) {
      this.recorded.set(key, answer)
      this.#ahead.add(key)
    }
    for (const [key, value] of Object.entries(once)) this.keep(key, value)
  }

  keep(key: string, value: unknown): void {
    this.onceValues.set(key, value)
    this.once.set(key, Promise.resolve(value))
  }

  /** Whether the handler has not come to where it was before. */
  get replaying(): boolean {
    return this.#ahead.size > 0
  }

  /** The recorded answer of a question; from here on it counts as asked again. */
  take(key: string): Recorded | undefined {
    this.#ahead.delete(key)
    return this.recorded.get(key)
  }

  /**
   * The key of a question, its own or the next in the order of asking.
   *
   * @throws TypeError for a key that is open or was asked already, and for two open questions that the order alone tells apart.
   */
  nextKey(given: string | undefined, what: string): string {
    if (given === undefined) {
      if (this.#anonymousOpen) {
        throw new TypeError(
          `${what}: a question without a key is open already; give both a key, or ask them together with session.ask({ … })`,
        )
      }
      this.#anonymousOpen = true
      this.#anonymous++
      return this.#keyOnce(`q${this.#anonymous}`, what)
    }
    if (typeof given !== 'string' || given === '' || given.length > MAX_KEY) {
      throw new TypeError(`${what}: key must be a string of 1 to ${MAX_KEY} characters`)
    }
    return this.#keyOnce(given, what)
  }

  /** An answer that is kept belongs to one question. */
  #keyOnce(key: string, what: string): string {
    if (this.#asked.has(key)) {
      throw new TypeError(
        `${what}: the question '${key}' was asked already; give each question of a call a key of its own`,
      )
    }
    this.#asked.add(key)
    return key
  }

  /** A question without a key of its own has its answer: another one may be asked. */
  freeKey(given: string | undefined): void {
    if (given === undefined) this.#anonymousOpen = false
  }

  /** Takes what a client answered; what does not fit stays open. */
  async answer(key: string, response: unknown): Promise<void> {
    const open = this.open.get(key)
    const answer = response === undefined ? undefined : await open?.question.read(response)
    if (open === undefined || answer === undefined) return
    this.recorded.set(key, { digest: await open.digest, response })
    this.open.delete(key)
    open.resolve(answer)
  }

  /** All that is open ends alike. */
  settleOpen(answer: Answer<unknown>): void {
    for (const question of [...this.open.values()]) question.resolve(answer)
    this.open.clear()
  }

  /** Nobody will answer what is open. */
  rejectOpen(error: Error): void {
    for (const question of [...this.open.values()]) question.reject(error)
    this.open.clear()
  }
}

const MAX_KEY = 128

/** Fails a call whose handler does not ask what it asked in an earlier run. */
export function handlerChanged(): McpError {
  const data = { reason: 'handler_changed' }
  return new McpError('INVALID_PARAMS', 'The tool has changed since it asked: call it again', { data })
}
