import type { Awaitable } from '../awaitable.js'
import { isStepReference, type StepReference } from './asked.js'
import { assertFunction, assertHandler, assertName, type Definition } from './definition.js'
import type { Answer, Question } from './question.js'
import type { Session } from './session.js'

/** How a step is declared. */
export interface StepOptions {
  /** False lets the answer to one question be used more than once. @default true */
  readonly singleUse?: boolean
}

/**
 * A question with what happens when it is answered. Nothing waits in between: the state travels with the client, sealed, and any
 * node goes on from there. Made by `router.step` or `defineFor().step`.
 */
export interface Step<State = unknown, Content = unknown, Assigns extends object = object>
  extends StepReference<State, Content>,
    Definition<Assigns> {
  readonly name: string
  readonly singleUse: boolean
  /** @internal */
  readonly question: (state: never) => Question<unknown>
  /** @internal */
  readonly handler: (answer: never, state: never, session: never) => unknown
}

/** What happens with the answer: gets the answer, the state as JSON gives it back, and the session of the call that brought it. */
export type StepHandler<State, Content, Assigns extends object> = (
  answer: Answer<Content>,
  state: State,
  session: Session<Assigns>,
) => Awaitable<unknown>

export interface StepParts {
  readonly question: unknown
  readonly handler: unknown
  readonly options?: StepOptions | undefined
}

/** @throws TypeError that names the step and the mend. */
export function defineStep(name: string, { question, handler, options = {} }: StepParts): Step<never, never, never> {
  assertName('step', name)
  const owner = `step '${name}'`
  assertFunction(`${owner}, the question`, question)
  assertHandler(owner, handler)
  const { singleUse = true } = options
  if (typeof singleUse !== 'boolean') throw new TypeError(`${owner}: singleUse must be true or false`)
  return {
    kind: 'step',
    name,
    singleUse,
    question: question as Step['question'],
    handler: handler as Step['handler'],
  }
}

export function isStep(value: unknown): value is Step<never, never, never> {
  return isStepReference(value) && typeof (value as Partial<Step>).handler === 'function'
}
