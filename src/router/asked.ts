import type { Awaitable } from '../awaitable.js'
import type { CreateMessageParams, CreateMessageResult, Root } from '../protocol/sampling.js'
import { BUILT, isBuilt } from './built.js'
import type { Answer, Question } from './question.js'

/** A step by its name and the types of its state and its answer; see `router.step`. */
export interface StepReference<State, Content> {
  readonly kind: 'step'
  readonly name: string
  /** Holds the types of state and answer; never called. */
  readonly '~step'?: (state: State, content: Content) => void
}

/** What a handler returns that asks by a step: made by `session.elicit(step, { state })`. */
export interface Asked {
  readonly [BUILT]: 'asked'
  readonly step: StepReference<never, never>
  readonly state: unknown
}

export function isStepReference(value: unknown): value is StepReference<never, never> {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'step'
}

export function isAsked(value: unknown): value is Asked {
  return isBuilt(value, 'asked')
}

/** @throws TypeError for a state that JSON cannot hold: it travels with the client. */
export function askStep(step: StepReference<never, never>, state: unknown): Asked {
  assertJson(`session.elicit, step '${step.name}'`, state)
  return { [BUILT]: 'asked', step, state }
}

/** @throws TypeError for a value that JSON cannot hold; undefined is none. */
export function assertJson(owner: string, state: unknown): void {
  if (state !== undefined && JSON.stringify(state) === undefined) {
    throw new TypeError(`${owner}: the state must be a value that JSON can hold`)
  }
}

/** How a question is asked while the handler waits. */
export interface AskOptions {
  /** Milliseconds that the client has; the shortest of those asked together counts. @default 300_000, five minutes */
  readonly timeoutMs?: number
}

/** How one question is asked. */
export interface ElicitOptions extends AskOptions {
  /** Its name: needed where two are open at once, and good where code changes between deployments. @default q1, q2, … */
  readonly key?: string
}

/** The answers to several questions, by their names. */
export type Answers<Questions> = {
  readonly [Key in keyof Questions]: Questions[Key] extends Question<infer Content> ? Answer<Content> : never
}

/** The ways to ask the client, the same in every protocol version. */
export interface Asking {
  /**
   * Asks, and waits for the answer: five minutes unless told otherwise. Refusals, time-outs and clients that cannot be asked are
   * answers too, never exceptions.
   *
   * @throws TypeError for a second question without a key while one is open.
   */
  elicit<Content>(question: Question<Content>, options?: ElicitOptions): Promise<Answer<Content>>
  /**
   * Asks by a step: return what this gives. Nothing waits for the answer; the step's handler gets it, on whatever node it comes
   * to, with the state, which travels sealed with the client.
   */
  elicit<State, Content>(step: StepReference<State, Content>, options: { readonly state: State }): Asked
  /**
   * Asks the user to open a page; `accept` says that they agreed to, and no more. The same as `elicit(Elicit.url(url, message))`.
   *
   * @throws TypeError unless it is an http or https URL.
   */
  elicitUrl(url: string | URL, message: string, options?: ElicitOptions): Promise<Answer<undefined>>
  /**
   * Asks the client's model. The same as `elicit(Sample.message(params))`.
   *
   * @deprecated By the specification, with 2026-07-28: call a model's own API. Clients that have it are still asked.
   */
  sample(params: CreateMessageParams, options?: ElicitOptions): Promise<Answer<CreateMessageResult>>
  /**
   * Asks for the client's roots. The same as `elicit(Roots.list())`.
   *
   * @deprecated By the specification, with 2026-07-28. Clients that have them are still asked.
   */
  roots(options?: ElicitOptions): Promise<Answer<readonly Root[]>>
  /** Asks several questions at once, by name, and waits for all answers. */
  ask<const Questions extends Readonly<Record<string, Question<unknown>>>>(
    questions: Questions,
    options?: AskOptions,
  ): Promise<Answers<Questions>>
  /**
   * Runs a part of the handler once, however often the handler runs: a handler that asks may run again from its first line after
   * its node has gone. The value is JSON, and what JSON makes of it is what comes back, the first time too. A throw is not
   * kept. Give the idempotency key to whatever must not happen twice: a crash between the effect and its record runs the
   * part again with the same key.
   *
   * @throws TypeError for a value that JSON cannot hold.
   */
  once<Value>(key: string, run: (idempotencyKey: string) => Awaitable<Value>): Promise<Value>
  /** What the client sent with this call for questions of `Tool.inputRequired`, as it came; undefined where it sent nothing. */
  readonly inputResponses: Readonly<Record<string, unknown>> | undefined
  /** What `Tool.inputRequired` was given as its state, when the handler runs again for it. */
  readonly state: unknown
}
