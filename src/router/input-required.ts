import { type Asked, assertJson, isAsked } from './asked.js'
import { BUILT, isBuilt } from './built.js'
import type { UrlQuestion } from './elicit.js'
import { isQuestion, type Question } from './question.js'

/** What `Tool.inputRequired` takes. */
export interface InputRequiredOptions {
  /** Questions by the names under which `session.inputResponses` has what the client sent. */
  readonly requests?: Readonly<Record<string, Question<unknown>>>
  /** Any JSON value; `session.state` has it when the handler runs again. The client sees it sealed. */
  readonly state?: unknown
}

/** Made by `Tool.inputRequired`: the client is asked, and the handler runs again, from its first line, with what it answered. */
export interface InputRequired {
  readonly [BUILT]: 'input-required'
  readonly requests: Readonly<Record<string, Question<unknown>>>
  readonly state: unknown
}

/** Made by `Tool.elicitationRequired`: the user has to open these pages before the call can be served. */
export interface ElicitationRequired {
  readonly [BUILT]: 'elicitation-required'
  readonly urls: readonly UrlQuestion[]
}

/** What any handler may return that asks the client before it can answer. */
export type Asks = Asked | InputRequired | ElicitationRequired

/** @throws TypeError when there is neither a question nor a state, or a question was not made by a builder. */
export function inputRequired({ requests = {}, state }: InputRequiredOptions): InputRequired {
  const entries = Object.entries(requests)
  for (const [key, question] of entries) {
    if (isQuestion(question)) continue
    throw new TypeError(`Tool.inputRequired: '${key}' is no question: make it with Elicit, Sample or Roots`)
  }
  if (entries.length === 0 && state === undefined) {
    throw new TypeError('Tool.inputRequired: it needs requests, a state, or both')
  }
  assertJson('Tool.inputRequired', state)
  return { [BUILT]: 'input-required', requests, state }
}

/** @throws TypeError for an empty list, or what `Elicit.url` did not make. */
export function elicitationRequired(urls: readonly UrlQuestion[]): ElicitationRequired {
  const fits = Array.isArray(urls) && urls.length > 0 && urls.every(isUrlQuestion)
  if (!fits) throw new TypeError('Tool.elicitationRequired: it needs a list of what Elicit.url makes')
  return { [BUILT]: 'elicitation-required', urls }
}

const isUrlQuestion = (value: unknown): boolean => isQuestion(value) && value.params['mode'] === 'url'

export function isAsks(value: unknown): value is Asks {
  return isAsked(value) || isInputRequired(value) || isElicitationRequired(value)
}

export function isInputRequired(value: unknown): value is InputRequired {
  return isBuilt(value, 'input-required')
}

function isElicitationRequired(value: unknown): value is ElicitationRequired {
  return isBuilt(value, 'elicitation-required')
}
