import type { Awaitable } from '../../awaitable.js'
import type { CreateMessageParams, CreateMessageResult, Root } from '../../protocol/sampling.js'
import {
  type Answers,
  type Asked,
  type Asking,
  type AskOptions,
  askStep,
  type ElicitOptions,
  isStepReference,
  type StepReference,
} from '../../router/asked.js'
import { Elicit } from '../../router/elicit.js'
import { type Answer, isQuestion, type Question } from '../../router/question.js'
import { Roots } from '../../router/roots.js'
import { Sample } from '../../router/sample.js'
import { Pausing } from '../pausing.js'
import type { Asker, Thread } from './thread.js'

/** The part of a call's session that asks its client. */
export abstract class AskingSession implements Asking {
  /** Its handler's run, once there is one that can ask. */
  thread: Thread | undefined
  inputResponses: Readonly<Record<string, unknown>> | undefined
  #pausing: Pausing | undefined

  protected abstract get asker(): Asker<object>

  get state(): unknown {
    return this.thread?.resumption?.state
  }

  /** The time of the call stands still while its client is asked. */
  get pausing(): Pausing {
    this.#pausing ??= new Pausing()
    return this.#pausing
  }

  elicit<Content>(question: Question<Content>, options?: ElicitOptions): Promise<Answer<Content>>
  elicit<State, Content>(step: StepReference<State, Content>, options: { readonly state: State }): Asked
  elicit(
    what: Question<unknown> | StepReference<never, never>,
    options: ElicitOptions & { readonly state?: unknown } = {},
  ): unknown {
    return isStepReference(what) ? askStep(what, options.state) : this.#askOne(what, options)
  }

  async elicitUrl(url: string | URL, message: string, options: ElicitOptions = {}): Promise<Answer<undefined>> {
    return await this.elicit(Elicit.url(url, message), options)
  }

  async sample(params: CreateMessageParams, options: ElicitOptions = {}): Promise<Answer<CreateMessageResult>> {
    return await this.elicit(Sample.message(params), options)
  }

  async roots(options: ElicitOptions = {}): Promise<Answer<readonly Root[]>> {
    return await this.elicit(Roots.list(), options)
  }

  async ask<const Questions extends Readonly<Record<string, Question<unknown>>>>(
    questions: Questions,
    options: AskOptions = {},
  ): Promise<Answers<Questions>> {
    const named = Object.entries(questions).map(([key, question]) => ({ question, key }))
    for (const { question, key } of named) assertQuestion(`session.ask, '${key}'`, question)
    const answers = await this.asker.ask(this, named, options)
    return Object.fromEntries(named.map(({ key }, at) => [key, answers[at]])) as Answers<Questions>
  }

  once<Value>(key: string, run: (idempotencyKey: string) => Awaitable<Value>): Promise<Value> {
    return this.asker.once(this, key, run)
  }

  async #askOne(question: Question<unknown>, { key, ...options }: ElicitOptions): Promise<Answer<unknown>> {
    assertQuestion('session.elicit', question)
    const [answer] = await this.asker.ask(this, [{ question, key }], options)
    return answer as Answer<unknown>
  }
}

function assertQuestion(what: string, question: unknown): void {
  if (!isQuestion(question))
    throw new TypeError(`${what}: make questions with Elicit.form, Elicit.url, Sample or Roots`)
}
