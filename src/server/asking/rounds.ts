import { type Awaitable, isPromise } from '../../awaitable.js'
import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Result } from '../../protocol/model.js'
import type { AskOptions } from '../../router/asked.js'
import { setOwn } from '../../router/json-value.js'
import type { Answer, Question } from '../../router/question.js'
import type { CallSession } from '../call-session.js'
import type { Exchange } from '../exchange.js'
import { Chain, ContinuationMoved, type Recorded } from './chain.js'
import { digest } from './digest.js'
import { InputRequiredResult } from './input-required-result.js'
import { type Moved, toFailed, toMoved, unwrap } from './moved.js'
import { inputRequest, MARGIN_MS, OpenRounds, type ParkedThread, type RoundsOptions } from './open-rounds.js'
import { type FollowUp, Relay } from './relay.js'
import type { Claim, RoundName } from './round-log.js'
import { type RoundState, refuseState } from './round-states.js'
import { type NamedQuestion, type Target, Thread } from './thread.js'

/** One request for a call: the session it came with, what it calls, and the way to run that from its first line. */
export interface RoundCall {
  readonly session: CallSession
  readonly target: Target
  readonly body: (session: CallSession) => Awaitable<Result>
}

type Responses = Readonly<Record<string, unknown>>

/**
 * Asks by rounds: the request is answered with questions, and the client calls again with the answers (2026-07-28
 * basic/patterns/mrtr). The handler waits where it runs; when that is gone it runs again, with all it was told.
 */
export class Rounds {
  readonly #options: RoundsOptions
  readonly #open: OpenRounds
  readonly #relay: Relay
  readonly #served = new Set<Served>()
  #aborted = false

  constructor(options: RoundsOptions) {
    this.#options = options
    this.#open = new OpenRounds(options)
    this.#relay = new Relay(options)
    options.nodes.on('follow-up', (followUp: FollowUp) => this.#takeOver(followUp))
    options.nodes.on('moved', (round: RoundName) => this.#moved(round))
  }

  /** Handlers that wait here. */
  get parked(): number {
    return this.#open.parked.size
  }

  /** Handlers that wait here, and those that were answered, whichever node has their requests. */
  get busy(): number {
    return this.#open.parked.size + this.#served.size
  }

  /** Those that may run elsewhere are let go. */
  drain(): void {
    this.#open.parked.moveAll()
  }

  /** Those that wait for the client of this exchange wait for nothing: it is gone. */
  clientGone(exchange: Exchange, reason: Error): void {
    this.#open.parked.abortAll(reason, ({ session }) => session.isOf(exchange))
  }

  abortAll(reason: Error): void {
    this.#aborted = true
    this.#open.parked.abortAll(reason)
    for (const { session, thread } of [...this.#served]) this.#open.fail(session, thread, reason)
  }

  /** Runs a call, or goes on with it. @throws McpError `INVALID_PARAMS` for a state or answers that cannot be taken. */
  run(call: RoundCall): Awaitable<Result> {
    const { requestState, inputResponses } = call.session.params
    if (requestState === undefined && inputResponses === undefined) return this.#start(call)
    if (inputResponses !== undefined && !isObject(inputResponses)) {
      throw new McpError('INVALID_PARAMS', 'params.inputResponses must be an object')
    }
    call.session.inputResponses = inputResponses
    return requestState === undefined ? this.#start(call) : this.#goOn(call, requestState)
  }

  /** The end of this request, and of its handler: what goes on begins anew, with the answers. */
  async end(session: CallSession, { questions, ...ending }: EndOfRound): Promise<InputRequiredResult> {
    const chain = this.#open.chainOf(session.thread as Thread)
    const round = chain.round + 1
    const inputRequests: Record<string, object> = {}
    const open: Record<string, string> = {}
    for (const [key, question] of Object.entries(questions)) {
      setOwn(inputRequests, key, inputRequest(session, question))
      setOwn(open, key, await digest(question.fingerprint))
    }
    chain.round = round
    const requestState = await this.#options.states.seal(session, {
      ...ending,
      chain: chain.id,
      round,
      node: this.#options.nodes.id,
      open,
      recorded: {},
      once: Object.fromEntries(chain.onceValues),
    })
    return new InputRequiredResult({ inputRequests, requestState })
  }

  chainOf(thread: Thread): Chain {
    return this.#open.chainOf(thread)
  }

  /** Resolves to the answers, in the order of the questions. */
  ask(
    session: CallSession,
    questions: readonly NamedQuestion[],
    options: Required<AskOptions>,
  ): Promise<Answer<unknown>[]> {
    return this.#open.ask(session, questions, options)
  }

  #start({ session, target, body }: RoundCall): Awaitable<Result> {
    session.thread ??= new Thread(target)
    const { thread } = session
    const result = body(session)
    if (isPromise(result)) return this.#wait(session, thread, result)
    thread.phase = 'over'
    return result
  }

  /** What the handler comes to is for the request that waits for it then. */
  #wait(session: CallSession, thread: Thread, result: PromiseLike<Result>): Promise<Result> {
    const next = thread.next()
    result.then(
      (value) => thread.end(result)?.resolve(value),
      (error: unknown) => {
        const waiting = thread.end(result)
        if (waiting !== undefined) waiting.reject(error)
        else if (thread.ended === undefined) this.#reportUnheard(session, error)
      },
    )
    return next
  }

  /** Nobody is told what comes after the time is up, but the operator; and nobody what the handler was told itself. */
  #reportUnheard(session: CallSession, error: unknown): void {
    if (error !== session.reason && !(error instanceof ContinuationMoved)) this.#options.report(error, session)
  }

  async #goOn(call: RoundCall, requestState: unknown): Promise<Result> {
    const { states, log, clock } = this.#options
    const { session } = call
    const state = await states.open(session, requestState)
    if (state.deadlineMs !== undefined && state.deadlineMs <= clock()) {
      this.#timeOutElsewhere(call, state).catch((error: unknown) => this.#options.report(error, session))
      throw refuseState('expired')
    }
    const elsewhere = state.kind === 'inline' ? await this.#relay.offer(session, state) : undefined
    if (elsewhere !== undefined) return elsewhere
    if (!state.singleUse) return await this.#move(call, state)
    const claim = await log.claim(state, this.#keptMs(state))
    return claim === undefined ? await this.#join(call, state) : await this.#moveOn(call, { state, claim })
  }

  /** For as long as its state is good, and a little longer. */
  #keptMs({ deadlineMs }: RoundState): number {
    const { clock, stateTtlMs } = this.#options
    return (deadlineMs === undefined ? stateTtlMs : Math.max(0, deadlineMs - clock())) + MARGIN_MS
  }

  /** Another node has got the answers for a handler that waits here. */
  async #takeOver(followUp: FollowUp): Promise<void> {
    const { state } = followUp
    const { log } = this.#options
    const parked = this.#open.parked.get(state.chain)
    const claim = parked?.round === state.round ? await log.claim(state, this.#keptMs(state)) : undefined
    if (parked === undefined || claim === undefined) return await this.#relay.decline(followUp)
    if (!this.#open.parked.take(parked)) {
      await log.giveBack(claim)
      return await this.#relay.decline(followUp)
    }
    const resume = (request: CallSession): Promise<Result> => this.#resume(parked, request, state)
    await this.#serve(parked, async () => {
      await this.#keep(claim, await this.#relay.take(followUp, parked.session, resume))
    })
  }

  /** What a server has aborted that goes away is no answer: its client may get one elsewhere. */
  async #keep(claim: Claim, moved: Moved): Promise<void> {
    const { log } = this.#options
    await (this.#aborted ? log.giveBack(claim) : log.done(claim, moved))
  }

  /** The round is ours, and what comes of it is kept. */
  async #moveOn(call: RoundCall, { state, claim }: Claimed): Promise<Result> {
    try {
      const result = await this.#move(call, state)
      await this.#keep(claim, toMoved(result))
      return result
    } catch (error) {
      // It is reported where the request ends.
      await this.#keep(claim, toFailed(error, ignore))
      throw error
    }
  }

  async #move(call: RoundCall, state: RoundState): Promise<Result> {
    const { session, target } = call
    const parked = this.#open.parked.get(state.chain)
    if (state.kind === 'inline') {
      if (parked?.round === state.round && this.#open.parked.take(parked))
        return await this.#serve(parked, () => this.#resume(parked, session, state))
      if (state.node !== '') await this.#options.log.tellMoved(state.node, state)
      if (!target.replay) throw refuseState('node_lost')
    }
    const thread = this.#restored(call, state, (key, digest) => {
      const response = ownMember(session.inputResponses, key)
      return response === undefined ? undefined : { digest, response }
    })
    session.thread = thread
    return await this.#serve({ session, thread, round: state.round }, async () => await this.#start(call))
  }

  /** Until it comes to something, what runs here can be told that it goes on elsewhere. */
  async #serve<Value>(served: Served, run: () => Promise<Value>): Promise<Value> {
    this.#served.add(served)
    try {
      return await run()
    } finally {
      this.#served.delete(served)
    }
  }

  /** Another node has moved a round on that this one has, or had. */
  #moved({ chain, round }: RoundName): void {
    const parked = this.#open.parked.get(chain)
    if (parked !== undefined && parked.round >= round) this.#open.parked.move(parked)
    for (const served of [...this.#served]) {
      if (served.thread.chain?.id !== chain || served.round < round) continue
      this.#open.leave(served.session, served.thread)
    }
  }

  /** The handler that waits here goes on. */
  async #resume({ session, thread }: ParkedThread, request: CallSession, state: RoundState): Promise<Result> {
    const chain = this.#open.chainOf(thread)
    thread.phase = 'running'
    session.follow(request)
    const next = thread.next()
    try {
      await session.pausing.resume()
      for (const key of Object.keys(state.open)) await chain.answer(key, ownMember(request.inputResponses, key))
      if (chain.open.size > 0) this.#open.sendSoon(session, thread)
    } catch (error) {
      this.#open.fail(session, thread, error)
    }
    return await next
  }

  /** A run of the handler that knows what an earlier one was told. */
  #restored(
    { session, target }: RoundCall,
    state: RoundState,
    record: (key: string, mark: string) => Recorded | undefined,
  ): Thread {
    const thread = new Thread(target)
    // Each use of a state that may be used again is a call of its own: what comes of one is not the answer to another.
    const chain = new Chain(state.singleUse ? state.chain : this.#options.ids())
    chain.round = state.round
    chain.deadlineMs = state.deadlineMs ?? this.#options.clock() + this.#options.stateTtlMs
    const recorded: Record<string, Recorded> = { ...state.recorded }
    if (state.kind === 'inline') {
      for (const [key, mark] of Object.entries(state.open)) {
        const known = record(key, mark)
        if (known !== undefined) setOwn(recorded, key, known)
      }
      thread.resumption = state.resumption
    } else {
      const { kind, step, open: marks } = state
      thread.resumption = { kind, state: state.state, step, marks, responses: session.inputResponses ?? {} }
    }
    if (thread.resumption !== undefined) session.inputResponses = thread.resumption.responses
    chain.restore(recorded, state.once)
    thread.chain = chain
    return thread
  }

  /** The time was up while the handler was nowhere: it is told now. */
  async #timeOutElsewhere(call: RoundCall, state: RoundState): Promise<void> {
    const { log } = this.#options
    if (!call.target.replay || state.kind !== 'inline') return
    const claim = await log.claim(state, MARGIN_MS)
    if (claim === undefined) return
    await log.done(claim, toFailed(refuseState('expired'), ignore))
    const { session } = call
    session.thread = this.#restored(call, state, (_key, digest) => ({ digest, timedOut: true }))
    session.thread.phase = 'over'
    await call.body(session)
  }

  /** Somebody else moves the round on; where that one is gone, and the handler may run again, it does so here. */
  async #join(call: RoundCall, state: RoundState): Promise<Result> {
    const { log } = this.#options
    for (;;) {
      const joined = await log.join(state, call.session.signal)
      if (joined === 'used') throw refuseState('used')
      if (joined !== 'lost') return unwrap(joined)
      if (!call.target.replay) throw refuseState('node_lost')
      const claim = await log.takeOver(state, this.#keptMs(state))
      if (claim !== undefined) return await this.#moveOn(call, { state, claim })
    }
  }
}

interface Claimed {
  readonly state: RoundState
  readonly claim: Claim
}

/** A run of a handler that was answered. */
interface Served {
  readonly session: CallSession
  readonly thread: Thread
  readonly round: number
}

/** What is asked at the end of a request, and what goes on with the answers. */
export interface EndOfRound {
  readonly kind: 'step' | 'returned' | 'urls'
  readonly step?: string
  readonly state: unknown
  readonly questions: Readonly<Record<string, Question<unknown>>>
  readonly singleUse: boolean
}

const ignore = (): void => undefined

function ownMember(members: Responses | undefined, key: string): unknown {
  return members !== undefined && Object.hasOwn(members, key) ? members[key] : undefined
}
