import type { Backplane } from '../../backplane/backplane.js'
import { McpError } from '../../errors.js'
import { LONGEST_TIMER_MS } from '../../options.js'
import type { AskOptions } from '../../router/asked.js'
import { setOwn } from '../../router/json-value.js'
import { type Answer, missingCapabilities, type Question } from '../../router/question.js'
import type { CallSession } from '../call-session.js'
import type { Nodes } from '../nodes.js'
import { Chain, ContinuationMoved, handlerChanged, type Recorded } from './chain.js'
import type { ContinuationOptions } from './continuation-options.js'
import { digest } from './digest.js'
import { InputRequiredResult } from './input-required-result.js'
import { nodeDied, toFailed } from './moved.js'
import { type Parked, ParkedHandlers } from './parked.js'
import { UNSUPPORTED } from './requests.js'
import type { RoundLog } from './round-log.js'
import { type RoundStates, refuseState } from './round-states.js'
import type { NamedQuestion, Target, Thread } from './thread.js'

export interface RoundsOptions {
  readonly states: RoundStates
  readonly log: RoundLog
  readonly continuations: Required<ContinuationOptions>
  readonly clock: () => number
  readonly ids: () => string
  /** Milliseconds for which a state without a deadline is good. */
  readonly stateTtlMs: number
  readonly backplane: Backplane
  readonly nodes: Nodes
  readonly report: (error: unknown, session: CallSession | undefined) => void
}

const TIMEOUT = { action: 'timeout' } as const
/** Milliseconds for which a round that was moved on is known to have been, past its end. */
export const MARGIN_MS = 60_000

export interface ParkedThread extends Parked {
  readonly session: CallSession
  readonly thread: Thread
  readonly round: number
}

/** Sends the questions of handlers as rounds, and keeps the handlers until they are answered. */
export class OpenRounds {
  readonly parked: ParkedHandlers<ParkedThread>
  readonly #options: RoundsOptions

  constructor(options: RoundsOptions) {
    this.#options = options
    this.parked = new ParkedHandlers(options.continuations)
  }

  /** Resolves to the answers, in the order of the questions. */
  ask(
    session: CallSession,
    questions: readonly NamedQuestion[],
    { timeoutMs }: Required<AskOptions>,
  ): Promise<Answer<unknown>[]> {
    const { thread } = session
    if (thread === undefined) return Promise.resolve(questions.map(() => UNSUPPORTED))
    session.watchClient()
    const chain = this.chainOf(thread)
    const asked = questions.map(({ question, key }) => ({
      question,
      key: chain.nextKey(key, 'session.elicit'),
      named: key !== undefined,
      timeoutMs,
    }))
    const answers = asked.map((one) =>
      this.#askOne(session, thread, one).finally(() => chain.freeKey(one.named ? one.key : undefined)),
    )
    return Promise.all(answers)
  }

  chainOf(thread: Thread): Chain {
    thread.chain ??= new Chain(this.#options.ids())
    return thread.chain
  }

  async #askOne(session: CallSession, thread: Thread, asked: AskedQuestion): Promise<Answer<unknown>> {
    const { question, key } = asked
    const chain = this.chainOf(thread)
    const earlier = chain.take(key)
    if (earlier === undefined && !isSupported(session, question)) return UNSUPPORTED
    const recorded = earlier ?? this.#given(session, asked)
    if (recorded === undefined) return await this.#open(session, thread, asked)
    const mark = await digest(question.fingerprint)
    if (recorded.digest !== undefined && recorded.digest !== mark) throw this.fail(session, thread, handlerChanged())
    if (recorded.timedOut) return TIMEOUT
    const answer = await question.read(recorded.response)
    if (answer === undefined) {
      chain.recorded.delete(key)
      return await this.#open(session, thread, asked)
    }
    chain.recorded.set(key, { digest: mark, response: recorded.response })
    return answer
  }

  /** What a client has sent with its first call, knowing what it will be asked. */
  #given({ inputResponses, thread }: CallSession, { key, named }: AskedQuestion): Partial<Recorded> | undefined {
    if (!named || thread?.chain?.round !== 0 || inputResponses === undefined) return undefined
    return Object.hasOwn(inputResponses, key) ? { response: inputResponses[key] ?? undefined } : undefined
  }

  #open(session: CallSession, thread: Thread, { question, key, timeoutMs }: AskedQuestion): Promise<Answer<unknown>> {
    if (thread.phase === 'over') return Promise.resolve(UNSUPPORTED)
    if (session.reason !== undefined) return Promise.reject(session.reason)
    return new Promise((resolve, reject) => {
      const mark = digest(question.fingerprint)
      this.chainOf(thread).open.set(key, { question, digest: mark, timeoutMs, sent: false, resolve, reject })
      this.sendSoon(session, thread)
    })
  }

  /** What is asked in the same turn travels together. */
  sendSoon(session: CallSession, thread: Thread): void {
    if (thread.sending || thread.phase !== 'running') return
    thread.sending = true
    setTimeout(() => {
      this.#send(session, thread)
        .catch((error: unknown) => void this.fail(session, thread, error))
        .finally(() => {
          thread.sending = false
        })
    }, 0)
  }

  async #send(session: CallSession, thread: Thread): Promise<void> {
    const chain = this.chainOf(thread)
    if (session.reason !== undefined) return chain.rejectOpen(session.reason)
    if (thread.waiting === undefined) return chain.settleOpen(UNSUPPORTED)
    const { continuations, clock, nodes, states } = this.#options
    if (continuations.mode === 'replay' && !thread.target.replay) throw notReplayable(thread.target)
    const parks = continuations.mode === 'park'
    // Whoever gets the answer must be able to find this node.
    if (parks) await nodes.start()
    const asked = [...chain.open]
    const timeoutMs = Math.min(...asked.map(([, open]) => open.timeoutMs))
    const deadlineMs = clock() + timeoutMs
    const round = chain.round + 1
    const marks = await Promise.all(asked.map(async ([key, open]) => [key, await open.digest] as const))
    // From here on, what runs once is not in this state: it has to be recorded elsewhere.
    chain.round = round
    chain.deadlineMs = deadlineMs
    const requestState = await states.seal(session, {
      chain: chain.id,
      round,
      kind: 'inline',
      node: parks ? nodes.id : '',
      open: Object.fromEntries(marks),
      recorded: Object.fromEntries(chain.recorded),
      once: Object.fromEntries(chain.onceValues),
      resumption: thread.resumption,
      deadlineMs,
      singleUse: true,
    })
    if (thread.waiting === undefined) return chain.settleOpen(UNSUPPORTED)
    const inputRequests: Record<string, object> = {}
    for (const [key, open] of asked) {
      open.sent = true
      setOwn(inputRequests, key, inputRequest(session, open.question))
    }
    this.#park(session, thread, timeoutMs)
    thread.takeWaiting()?.resolve(new InputRequiredResult({ inputRequests, requestState }))
  }

  /** @throws McpError, retryable, when there is no room for a handler that may not run again. */
  #park(session: CallSession, thread: Thread, timeoutMs: number): void {
    const parked = this.#parkable(session, thread, timeoutMs)
    const { mode } = this.#options.continuations
    if (mode === 'park' && this.parked.add(parked)) {
      thread.phase = 'parked'
      session.pausing.pause()
      return
    }
    parked.release()
    if (parked.replay) return parked.abort(new ContinuationMoved())
    throw new McpError('INTERNAL_ERROR', 'Too many calls wait for their clients: try again later', {
      data: { reason: 'too_many_parked', retryable: true },
    })
  }

  #parkable(session: CallSession, thread: Thread, timeoutMs: number): ParkedThread {
    const chain = this.chainOf(thread)
    const parked: ParkedThread = {
      session,
      thread,
      round: chain.round,
      chain: chain.id,
      principal: session.principal,
      replay: thread.target.replay,
      release: () => clearTimeout(timer),
      abort: (reason) => {
        const isAnswered = thread.phase === 'parked'
        thread.phase = 'over'
        chain.rejectOpen(reason)
        session.expire(reason)
        if (isAnswered) session.close()
      },
    }
    const timeOut = (): void =>
      void this.#timeOut(parked).catch((error: unknown) => this.#options.report(error, session))
    const timer = setTimeout(timeOut, Math.min(timeoutMs, LONGEST_TIMER_MS))
    ;(timer as { unref?(): void }).unref?.()
    return parked
  }

  /** The handler goes on without an answer, unless somebody else was quicker; its client will be refused. */
  async #timeOut(parked: ParkedThread): Promise<void> {
    const { session, thread } = parked
    const chain = this.chainOf(thread)
    const { log } = this.#options
    const claim = await log.claim(parked, MARGIN_MS)
    if (claim === undefined) return this.parked.move(parked)
    const isHere = this.parked.take(parked)
    // Who comes too late at the same time waits for what comes of the round.
    await log.done(claim, toFailed(refuseState('expired'), ignore))
    if (!isHere) return
    thread.phase = 'over'
    session.close()
    await session.pausing.resume()
    chain.settleOpen(TIMEOUT)
    await thread.ended
  }

  /** A call that cannot go on: its request gets the error, and its handler is told. */
  fail(session: CallSession, thread: Thread, error: unknown): Error {
    const reason = error instanceof Error ? error : new Error('The call cannot go on', { cause: error })
    thread.finish()?.reject(reason)
    return this.#abort(session, thread, reason)
  }

  /** A call that goes on on another node: its client has to go there. */
  leave(session: CallSession, thread: Thread): void {
    thread.finish()?.reject(nodeDied())
    this.#abort(session, thread, new ContinuationMoved())
  }

  #abort(session: CallSession, thread: Thread, reason: Error): Error {
    session.expire(reason)
    this.chainOf(thread).rejectOpen(reason)
    return reason
  }
}

const ignore = (): void => undefined

interface AskedQuestion {
  readonly question: Question<unknown>
  readonly key: string
  /** Its asker gave it the key. */
  readonly named: boolean
  readonly timeoutMs: number
}

/** Whether the client's version has the question, and the client has declared that it can be asked. */
export function isSupported(session: CallSession, { method, params, requires }: Question<unknown>): boolean {
  const carried = session.client.codec.encodeQuestion(method, params, '') !== undefined
  return carried && missingCapabilities(requires, session.clientCapabilities) === undefined
}

export function inputRequest(session: CallSession, { method, params }: Question<unknown>): object {
  return { method, params: session.client.codec.encodeQuestion(method, params, '') }
}

function notReplayable({ kind, name }: Target): TypeError {
  return new TypeError(
    `${kind} '${name}' asks its client, but nothing waits on this server: put its effects before the question into session.once and say replay: true, ask by a step, or give createServer continuations: { mode: 'park' }`,
  )
}
