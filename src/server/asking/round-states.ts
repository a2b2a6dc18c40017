import type { Store } from '../../backplane/store.js'
import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'
import { canonicalJson } from '../../router/json-value.js'
import type { Seal } from '../../seal/seal.js'
import type { CallSession } from '../call-session.js'
import type { Recorded } from './chain.js'
import { digest } from './digest.js'
import type { Resumption } from './thread.js'

/** Where a call stands while its client answers. */
export interface RoundState {
  readonly chain: string
  readonly round: number
  /** What goes on with the answers: the handler that waits, a step, or the handler from its first line. */
  readonly kind: 'inline' | 'step' | 'returned' | 'urls'
  /** The node where the handler waits, if it does. */
  readonly node: string
  /** Marks of the open questions, by key. */
  readonly open: Readonly<Record<string, string>>
  readonly recorded: Readonly<Record<string, Recorded>>
  readonly once: Readonly<Record<string, unknown>>
  /** After this the questions count as not answered; undefined where nothing waits. */
  readonly deadlineMs?: number
  readonly step?: string
  /** The application's own, of a step or of `Tool.inputRequired`. */
  readonly state?: unknown
  /** Where the handler went on from that asks now; undefined where it began at its first line. */
  readonly resumption?: Resumption | undefined
  readonly singleUse: boolean
}

/** Why a state is refused, in `data.reason`. */
export type StateRefusal = 'malformed' | 'expired' | 'bound' | 'used' | 'node_lost'

const REFUSALS: Readonly<Record<StateRefusal, string>> = {
  malformed: 'requestState is none that this server has made',
  expired: 'requestState has expired: call again without it',
  bound: 'requestState belongs to another request or another caller',
  used: 'requestState has been used already',
  node_lost: 'What was waiting for this answer is gone: call again without requestState',
}

export function refuseState(reason: StateRefusal): McpError {
  return new McpError('INVALID_PARAMS', REFUSALS[reason], { data: { reason } })
}

export interface RoundStatesOptions {
  /** @throws TypeError when there is no key, and none may be made. */
  readonly seal: () => Seal
  /** Undefined while nothing can have been sealed. */
  readonly known: () => Seal | undefined
  readonly store: Store
  readonly clock: () => number
  readonly ids: () => string
  readonly ttlMs: number
}

/**
 * Milliseconds past the end of its time in which a question can still be found to have timed out. Less than who moved its round
 * on is known for: or an answer that was taken could time out after that.
 */
const LATE_MS = 30_000

/** What is inside of the sealed text. */
interface Sealed {
  readonly binding: string
  readonly expiresMs: number
  readonly state?: RoundState
  /** Where the state is kept that is too long to travel. */
  readonly kept?: string
}

/** States of calls that wait for their clients: sealed for them to carry, and good for the very call that was asked. */
export class RoundStates {
  readonly #options: RoundStatesOptions

  constructor(options: RoundStatesOptions) {
    this.#options = options
  }

  /** @throws TypeError when the server has no key. */
  async seal(session: CallSession, state: RoundState): Promise<string> {
    const { clock, ttlMs, store, ids } = this.#options
    const binding = await bindingOf(session)
    const now = clock()
    const expiresMs = state.deadlineMs === undefined ? now + ttlMs : state.deadlineMs + LATE_MS
    const head = { binding, expiresMs }
    const seal = this.#options.seal()
    const travels = await seal.seal(JSON.stringify({ ...head, state } satisfies Sealed))
    if (travels !== undefined) return travels
    const kept = `round-state/${ids()}`
    await store.set(kept, JSON.stringify(state), { ttlMs: Math.max(1, expiresMs - now) })
    return (await seal.seal(JSON.stringify({ ...head, kept } satisfies Sealed))) as string
  }

  /** @throws McpError `INVALID_PARAMS` with the reason. */
  async open(session: CallSession, requestState: unknown): Promise<RoundState> {
    const opened = typeof requestState === 'string' ? await this.#options.known()?.open(requestState) : undefined
    if (opened === undefined) throw refuseState('malformed')
    const { binding, expiresMs, state, kept } = JSON.parse(opened) as Sealed
    if (binding !== (await bindingOf(session))) throw refuseState('bound')
    if (expiresMs <= this.#options.clock()) throw refuseState('expired')
    if (kept === undefined) return state as RoundState
    const found = await this.#options.store.get(kept)
    if (found === undefined) throw refuseState('expired')
    return JSON.parse(found.value) as RoundState
  }
}

/** The call that a state is good for: the same caller, the same target, the same arguments (2026-07-28 basic/patterns/mrtr). */
async function bindingOf({ call, params, principal }: CallSession): Promise<string> {
  const args = isObject(params['arguments']) ? params['arguments'] : {}
  return await digest(canonicalJson([call.method, call.name ?? '', principal, args]))
}
