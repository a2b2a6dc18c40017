import { type Awaitable, andThen } from '../../awaitable.js'
import { McpError } from '../../errors.js'
import { LONGEST_TIMER_MS } from '../../options.js'
import type { ClientCapabilities, Result } from '../../protocol/model.js'
import { type Asked, type AskOptions, isAsked } from '../../router/asked.js'

import { isDeferred } from '../../router/deferred.js'
import type { UrlQuestion } from '../../router/elicit.js'

import {
  type Asks,
  type ElicitationRequired,
  type InputRequired,
  isAsks,
  isInputRequired,
} from '../../router/input-required.js'
import { setOwn } from '../../router/json-value.js'
import { type Answer, missingCapabilities, type Question } from '../../router/question.js'
import type { Step } from '../../router/step.js'
import { Tool } from '../../router/tool-result.js'
import type { CallSession } from '../call-session.js'
import { whenAnswered } from '../deferral.js'

import type { Warnings } from '../warnings.js'
import type { AskedPages } from './asked-pages.js'
import { ContinuationMoved, handlerChanged } from './chain.js'

import { ANSWER_MS } from './continuation-options.js'
import { digest } from './digest.js'
import type { Once } from './once.js'
import { isSupported } from './open-rounds.js'
import { askByRequest, clientFailed, readResponse, UNSUPPORTED, unanswered } from './requests.js'
import type { Rounds } from './rounds.js'
import { type Asker, type NamedQuestion, type Resumption, type Target, Thread } from './thread.js'

export interface AskingParts {
  readonly rounds: Rounds
  readonly once: Once
  /** Makes ids of requests of ours, by which their answers find this node. */
  readonly ids: () => string
  /** The way to the stream of a session that belongs to no call; undefined where there is none. */
  readonly streamOf: (sessionId: string) => Promise<((message: string) => Promise<void>) | undefined>
  readonly pages: AskedPages
  readonly warnings: Warnings
}

/** What runs a handler. */
export type RunHandler = () => unknown

/** Asks clients, in the way that their version has: by a request of ours, or by a round of the call. */
export class Asking implements Asker<CallSession> {
  readonly rounds: Rounds
  readonly #parts: AskingParts

  constructor(parts: AskingParts) {
    this.#parts = parts
    this.rounds = parts.rounds
  }

  /** Runs what can ask: `body` from its first line, or what was waiting for this request. */
  run(session: CallSession, target: Target, body: (session: CallSession) => Awaitable<Result>): Awaitable<Result> {
    if (session.client.codec.asks === 'round') return this.rounds.run({ session, target, body })
    session.thread ??= new Thread(target)
    return body(session)
  }

  /** Runs a handler, or the step that the client has answered; what it asks by returning it is asked. */
  handle(session: CallSession, run: RunHandler): unknown {
    const resumption = session.thread?.resumption
    const value = resumption === undefined ? run() : this.#resume(session, resumption, run)
    return andThen(value, (returned) => this.#settled(session, returned, run))
  }

  /** What is asked by returning it is asked; what comes later is waited for. */
  #settled(session: CallSession, value: unknown, run: RunHandler): unknown {
    if (isAsks(value)) return this.#ask(session, value, run)
    // The handler has done its part: its place is free, and its time does not count any more.
    if (isDeferred(value)) session.pausing.pause()
    return whenAnswered(session, value)
  }

  /** @throws TypeError for keys that are not told apart, or a time that no timer takes. */
  async ask(
    session: CallSession,
    questions: readonly NamedQuestion[],
    options: AskOptions,
  ): Promise<Answer<unknown>[]> {
    const { timeoutMs = ANSWER_MS } = options
    if (!(Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS)) {
      throw new TypeError(
        `session.elicit: timeoutMs must be a whole number from 1 to ${LONGEST_TIMER_MS}, not ${timeoutMs}`,
      )
    }
    for (const { question } of questions) this.#warn(question)
    if (session.client.codec.asks === 'round') return await this.rounds.ask(session, questions, { timeoutMs })
    const { thread } = session
    if (thread === undefined) return questions.map(() => UNSUPPORTED)
    const chain = this.rounds.chainOf(thread)
    const keys = questions.map(({ key }) => chain.nextKey(key, 'session.elicit'))
    const answers = questions.map(async ({ question }, at) => {
      const key = keys[at] as string
      chain.open.set(key, { question, digest: NO_DIGEST, timeoutMs, sent: true, resolve: ignore, reject: ignore })
      try {
        return await readResponse(question, await this.#request(session, question, timeoutMs))
      } finally {
        chain.open.delete(key)
        chain.freeKey(questions[at]?.key)
      }
    })
    return await Promise.all(answers)
  }

  async once<Value>(
    session: CallSession,
    key: string,
    run: (idempotencyKey: string) => Awaitable<Value>,
  ): Promise<Value> {
    if (session.reason instanceof ContinuationMoved) throw session.reason
    // A handler that cannot ask is run once, and nothing of it again.
    const chain = this.rounds.chainOf(session.thread ?? new Thread(NOTHING))
    return await this.#parts.once.run(chain, key, run)
  }

  async #request(
    session: CallSession,
    question: Question<unknown>,
    timeoutMs: number,
  ): Promise<Awaited<ReturnType<typeof askByRequest>>> {
    const own = session.canStream ? (message: string) => session.send(message) : undefined
    const send = own ?? (session.id === undefined ? undefined : await this.#parts.streamOf(session.id))
    if (send !== undefined && question.params['mode'] === 'url' && isSupported(session, question))
      this.#parts.pages.remember((question as UrlQuestion).elicitationId, session)
    return await askByRequest(session, { question, timeoutMs, id: this.#parts.ids(), send })
  }

  #warn({ method }: Question<unknown>): void {
    const mend = DEPRECATED[method]
    if (mend === undefined) return
    this.#parts.warnings.once(
      method,
      `${method} is deprecated by the specification: ${mend}. Clients that have it are still asked.`,
    )
  }

  async #ask(session: CallSession, asks: Asks, run: RunHandler): Promise<unknown> {
    const byRound = session.client.codec.asks === 'round'
    if (isAsked(asks))
      return byRound ? await this.#stepRound(session, asks) : await this.#stepRequest(session, asks, run)
    if (isInputRequired(asks)) {
      return byRound ? await this.#inputRound(session, asks) : await this.#inputRequests(session, asks, run)
    }
    return byRound ? await this.#urlRound(session, asks) : this.#urlsRequired(session, asks)
  }

  async #stepRound(session: CallSession, { step: { name }, state }: Asked): Promise<unknown> {
    const step = this.#stepOf(session, name)
    const question = step.question(jsonOf(state) as never)
    assertCan(session, [question])
    return await this.rounds.end(session, {
      kind: 'step',
      step: name,
      state: jsonOf(state),
      questions: { [name]: question },
      singleUse: step.singleUse,
    })
  }

  async #stepRequest(session: CallSession, { step: { name }, state }: Asked, run: RunHandler): Promise<unknown> {
    const step = this.#stepOf(session, name)
    const given = jsonOf(state)
    const question = step.question(given as never)
    assertCan(session, [question])
    const answer = await readResponse(question, await this.#request(session, question, ANSWER_MS))
    if (answer.action === 'unsupported') throw unsupported(question.requires)
    session.thread?.chain?.begin()
    const value = await step.handler(answer as never, given as never, session as never)
    return await this.#settled(session, value, run)
  }

  #stepOf({ thread }: CallSession, name: string): Step<never, never, never> {
    const step = thread?.target.steps.get(name)
    if (step === undefined) {
      throw new TypeError(
        `step '${name}' is not on the router of '${thread?.target.name}': register it with router.add`,
      )
    }
    return step
  }

  async #inputRound(session: CallSession, { requests, state }: InputRequired): Promise<unknown> {
    assertCan(session, Object.values(requests))
    for (const question of Object.values(requests)) this.#warn(question)
    return await this.rounds.end(session, {
      kind: 'returned',
      state: jsonOf(state),
      questions: requests,
      singleUse: true,
    })
  }

  /** The same by requests: the handler runs again with what came back. */
  async #inputRequests(session: CallSession, { requests, state }: InputRequired, run: RunHandler): Promise<unknown> {
    assertCan(session, Object.values(requests))
    for (const question of Object.values(requests)) this.#warn(question)
    const responses: Record<string, unknown> = {}
    const asked = Object.entries(requests).map(async ([key, question]) => {
      const response = await this.#request(session, question, ANSWER_MS)
      if (response === 'unsupported') throw unsupported(question.requires)
      if (response === 'timeout') throw unanswered()
      if (response.error !== undefined) throw clientFailed(response.error)
      setOwn(responses, key, response.result)
    })
    await Promise.all(asked)
    session.inputResponses = responses
    const { thread } = session
    if (thread !== undefined) thread.resumption = { kind: 'returned', state: jsonOf(state), marks: {}, responses }
    thread?.chain?.begin()
    const value = await run()
    return await this.#settled(session, value, run)
  }

  async #urlRound(session: CallSession, { urls }: ElicitationRequired): Promise<unknown> {
    assertCan(session, urls)
    const questions = Object.fromEntries(urls.map((question, at) => [`elicitation-${at}`, question]))
    const state = { elicitation_ids: urls.map(({ elicitationId }) => elicitationId) }
    return await this.rounds.end(session, { kind: 'urls', state, questions, singleUse: true })
  }

  /** 2025-11-25 client/elicitation, URL Elicitation Required Error. */
  #urlsRequired(session: CallSession, { urls }: ElicitationRequired): never {
    assertCan(session, urls)
    for (const { elicitationId } of urls) this.#parts.pages.remember(elicitationId, session)
    const elicitations = urls.map((question) =>
      session.client.codec.encodeQuestion(question.method, question.params, question.elicitationId),
    )
    const data = { elicitations }
    throw new McpError('URL_ELICITATION_REQUIRED', 'The user has to open a page first', { data })
  }

  async #resume(session: CallSession, resumption: Resumption, run: RunHandler): Promise<unknown> {
    if (resumption.kind === 'step') return await this.#runStep(session, resumption)
    if (resumption.kind === 'urls') {
      const actions = actionsOf(resumption)
      if (actions.some((action) => action === 'decline' || action === 'cancel')) return declined(session)
      // What was not answered is asked again: by the handler, which knows nothing of this round then.
      if (actions.some((action) => action !== 'accept') && session.thread) session.thread.resumption = undefined
    }
    return await run()
  }

  async #runStep(session: CallSession, { step: name = '', state, marks, responses }: Resumption): Promise<unknown> {
    const step = session.thread?.target.steps.get(name)
    if (step === undefined) throw handlerChanged()
    const question = step.question(state as never)
    if ((await digest(question.fingerprint)) !== marks[name]) throw handlerChanged()
    const answer = Object.hasOwn(responses, name) ? await question.read(responses[name]) : undefined
    // What does not fit is asked again.
    if (answer === undefined) return await this.#stepRound(session, { step, state } as never)
    return await step.handler(answer as never, state as never, session as never)
  }
}

/** Questions that the specification wants to be rid of, with what to do instead. */
const DEPRECATED: Readonly<Record<string, string>> = {
  'sampling/createMessage': "call a model's own API",
  'roots/list': 'take a path or a URI as an argument of the tool',
}

const NO_DIGEST = Promise.resolve('')
const ignore = (): void => undefined
const NOTHING: Target = { kind: 'tool', name: '', replay: false, steps: new Map() }

/** What JSON makes of a value: it is the same whether it travelled or not. */
function jsonOf(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)
}

/** What the user chose for each page. */
function actionsOf({ marks, responses }: Resumption): unknown[] {
  return Object.keys(marks).map((key) => {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined
    return (response as { action?: unknown } | null | undefined)?.action
  })
}

function declined(session: CallSession): unknown {
  const message = 'The user did not agree to open the page that this needs'
  if (session.thread?.target.kind === 'tool') return Tool.error(message)
  throw new McpError('INVALID_PARAMS', message)
}

/** 2026-07-28 basic/patterns/mrtr: nothing is asked that the client has not declared. @throws McpError that says what is missing. */
function assertCan(session: CallSession, questions: readonly Question<unknown>[]): void {
  for (const { method, params, requires } of questions) {
    const missing = missingCapabilities(requires, session.clientCapabilities)
    if (missing !== undefined) throw unsupported(missing)
    if (session.client.codec.encodeQuestion(method, params, '') === undefined) throw unsupported(requires)
  }
}

function unsupported(requiredCapabilities: ClientCapabilities): McpError {
  const message = `The client cannot be asked what this needs: ${Object.keys(requiredCapabilities).join(', ')}`
  return new McpError('MISSING_CLIENT_CAPABILITY', message, { data: { requiredCapabilities } })
}
