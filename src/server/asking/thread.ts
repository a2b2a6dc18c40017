import type { Awaitable } from '../../awaitable.js'
import type { Result } from '../../protocol/model.js'
import type { AskOptions } from '../../router/asked.js'
import type { Answer, Question } from '../../router/question.js'
import type { Step } from '../../router/step.js'
import type { Chain } from './chain.js'

/** What is called, as far as asking is concerned. */
export interface Target {
  readonly kind: 'tool' | 'prompt' | 'resource'
  readonly name: string
  /** Its handler may run again from its first line. */
  readonly replay: boolean
  /** Steps of its router, by name. */
  readonly steps: ReadonlyMap<string, Step<never, never, never>>
}

/** The request that gets what the handler comes to next: its result, or a round of questions. */
export interface Waiting {
  resolve(result: Result): void
  reject(error: unknown): void
}

/** A question under the name that its asker gave it. */
export interface NamedQuestion {
  readonly question: Question<unknown>
  readonly key: string | undefined
}

/** Where a call goes on that was asked something. */
export interface Resumption {
  readonly kind: 'step' | 'returned' | 'urls'
  /** The application's own. */
  readonly state: unknown
  readonly step?: string | undefined
  /** Marks of what was asked, by key. */
  readonly marks: Readonly<Record<string, string>>
  /** What the client answered, as it came. */
  readonly responses: Readonly<Record<string, unknown>>
}

/** One run of a handler, from its first line to its end, while its requests come and go. */
export class Thread {
  readonly target: Target
  chain: Chain | undefined
  waiting: Waiting | undefined
  resumption: Resumption | undefined
  /** `over`: nobody will be told what it comes to, and nobody can be asked. */
  phase: 'running' | 'parked' | 'over' = 'running'
  /** A round is about to be sent. */
  sending = false
  /** What the handler came to while nobody waited for it, since it did not wait for the answer to its question. */
  ended: Promise<Result> | undefined

  constructor(target: Target) {
    this.target = target
  }

  /** What the handler comes to next. */
  next(): Promise<Result> {
    if (this.ended !== undefined) return this.ended
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject }
    })
  }

  /** The handler's run is over for everybody else; gives the request that is to be told of its end. */
  finish(): Waiting | undefined {
    this.phase = 'over'
    return this.takeWaiting()
  }

  /** The handler has come to its end; where its client has a question of it, the answer to that gets what it came to. */
  end(result: PromiseLike<Result>): Waiting | undefined {
    if (this.phase === 'parked') {
      this.ended = Promise.resolve(result)
      this.ended.catch(() => undefined)
    }
    return this.finish()
  }

  /** The request that waits for what comes next; it gets it once. */
  takeWaiting(): Waiting | undefined {
    const { waiting } = this
    this.waiting = undefined
    return waiting
  }
}

/** What a session needs to ask; the session comes along, so that one object serves all. */
export interface Asker<Session> {
  ask(session: Session, questions: readonly NamedQuestion[], options: AskOptions): Promise<Answer<unknown>[]>
  once<Value>(session: Session, key: string, run: (idempotencyKey: string) => Awaitable<Value>): Promise<Value>
}
