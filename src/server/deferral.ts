import type { Awaitable } from '../awaitable.js'
import { McpError } from '../errors.js'
import { BUILT } from '../router/built.js'
import { type CallRef, type Deferred, isDeferred } from '../router/deferred.js'
import { CallTimedOut } from './call-over.js'
import type { Reply } from './packed.js'
import type { ReferredCall } from './referred-call.js'

/** An answer that a call waits for; it comes once, or not at all when the call is over before. */
export interface Deferral extends Deferred {
  readonly session: ReferredCall
  readonly answer: Promise<unknown>
  settle(reply: Reply): void
  /** Nobody has answered: the handler is told by its signal, the client by an error. */
  expire(ms: number): void
}

export function createDeferral(session: ReferredCall, ref: CallRef): Deferral {
  let settle: Deferral['settle'] = () => undefined
  const answer = new Promise<unknown>((resolve, reject) => {
    settle = (reply) => (reply.ok ? resolve(reply.result) : reject(reply.error))
  })
  // A handler may go another way than to return it.
  answer.catch(() => undefined)
  const deferral: Deferral & { toJSON(): never } = {
    [BUILT]: 'deferred',
    ref,
    session,
    answer,
    settle,
    expire: (ms) => {
      const message = `The answer to this call did not come within ${ms} ms`
      session.expire(new CallTimedOut(message))
      settle({ ok: false, error: new McpError('INTERNAL_ERROR', message, { data: { reason: 'defer_timeout' } }) })
    },
    // Inside of another result it would be taken for one.
    toJSON: () => {
      throw new TypeError(
        'What session.defer() gives is returned by itself, from the handler of a tool, prompt or resource: pass on its ref',
      )
    },
  }
  return deferral
}

/** What a handler returned, or else what it deferred to. @throws TypeError for what another call deferred to. */
export function whenAnswered(session: ReferredCall, returned: unknown): Awaitable<unknown> {
  if (!isDeferred(returned)) return returned
  const { session: own, answer } = returned as Deferral
  if (own === session) return answer
  throw new TypeError('A handler can return only what session.defer() of its own call gave')
}
