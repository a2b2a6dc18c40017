import { type Awaitable, isPromise } from '../awaitable.js'
import { type Failure, McpError, toFailure } from '../errors.js'
import { type Codec, encodeFailure, type Method } from '../protocol/codec.js'
import { errorMessage, type RequestId, type RequestMessage, resultMessage } from '../protocol/jsonrpc.js'
import type { Body, Result } from '../protocol/model.js'
import { runInside } from '../router/middleware.js'
import type { Router } from '../router/router.js'
import { ID_IN_USE } from './call-claims.js'
import { CallTimedOut } from './call-over.js'
import { type CallEnd, CallSession } from './call-session.js'
import type { Caller } from './client.js'
import type { ServerContext } from './context.js'
import type { Exchange } from './exchange.js'
import { withinTime } from './limits.js'
import { OPERATIONS } from './operations/table.js'
import { SHUTTING_DOWN, shuttingDown } from './shutting-down.js'
import { infoFor } from './told.js'
import type { TrackedCall } from './tracker.js'

/** A message to send back, and the failure that it tells of. */
export interface Answer {
  readonly body: Body
  readonly failure: Failure | undefined
  /** How long the result may be kept, where the application says so. */
  readonly cache?: CacheHint | undefined
}

export interface CacheHint {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** The answer to a request that could not be served, or not even be read. */
export function refuse(codec: Codec, id: RequestId | undefined, failure: Failure): Answer {
  const written = id === undefined ? codec.unknownId : JSON.stringify(id)
  return { body: errorMessage(written, encodeFailure(codec, failure)), failure }
}

/** A method of the version, or of an extension that exists in it. */
export function methodOf(router: Router<never>, codec: Codec, name: string): Method | undefined {
  return codec.methods.get(name) ?? router.extensions.method(codec, name)?.method
}

function cacheOf(method: Method, result: Result): CacheHint | undefined {
  const { ttlMs, cacheScope } = result as Partial<CacheHint>
  return method.cacheable && ttlMs !== undefined && cacheScope !== undefined ? { ttlMs, cacheScope } : undefined
}

/** Milliseconds between two looks at what still runs. */
const DRAIN_CHECK_MS = 20

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** @throws McpError when the call has used up its time. */
async function inTime(ms: number, session: CallSession, run: () => Awaitable<Result>): Promise<Result> {
  try {
    return await withinTime(ms, session, run)
  } catch (error) {
    if (!(error instanceof CallTimedOut)) throw error
    throw new McpError('INTERNAL_ERROR', error.message, { data: { reason: 'timeout' } })
  }
}

/** What all calls that wait have in common. */
interface Waits {
  readonly running: Set<CallSession>
  fail(session: CallSession, error: unknown): Answer
}

/** A call whose answer is not there yet. */
class WaitingCall implements CallEnd {
  readonly #session: CallSession
  readonly #resolve: (answer: Answer | undefined) => void
  readonly #waits: Waits

  constructor(session: CallSession, resolve: (answer: Answer | undefined) => void, waits: Waits) {
    this.#session = session
    this.#resolve = resolve
    this.#waits = waits
    waits.running.add(session)
    session.onEnd(this)
  }

  settle(answer: Answer | undefined): void {
    this.#waits.running.delete(this.#session)
    this.#resolve(answer)
  }

  cancelled(): void {
    this.#session.client.calls?.delete(this.#session.requestId)
    this.settle(undefined)
  }

  aborted(error: Error): void {
    this.settle(this.#waits.fail(this.#session, error))
  }
}

/** The way of a request through the server: find the operation, run it inside the middleware, encode what it gives. */
export class Dispatcher {
  readonly #context: ServerContext
  readonly #serverInfo: string
  readonly #running = new Set<CallSession>()
  readonly #waits: Waits = { running: this.#running, fail: (session, error) => this.#fail(session, error) }
  #draining = false

  constructor(context: ServerContext) {
    this.#context = context
    this.#serverInfo = JSON.stringify(context.router.info)
  }

  /** The answer, at once where nothing had to be waited for; undefined when the client has cancelled the call. */
  serve(request: RequestMessage, caller: Caller, exchange: Exchange): Awaitable<Answer | undefined> {
    const { client } = caller
    const method = methodOf(this.#context.router, client.codec, request.method)
    if (method === undefined) {
      return refuse(client.codec, request.id, {
        code: 'METHOD_NOT_FOUND',
        message: `Method not found: ${request.method}`,
      })
    }
    if (this.#draining && !this.#goesOn(request)) return refuse(client.codec, request.id, SHUTTING_DOWN)
    if (client.calls?.has(request.id)) return refuse(client.codec, request.id, ID_IN_USE)
    const session = this.#session(request, caller, exchange)
    client.calls?.set(request.id, session)
    try {
      const alone = client.begins(request.id)
      const result = alone === undefined ? this.#run(method, session) : this.#runAlone(alone, method, session)
      return isPromise(result) ? this.#later(method, session, result) : this.#finish(method, session, result)
    } catch (error) {
      return this.#fail(session, error)
    }
  }

  /** Handlers that wait here for their clients, and cannot go on elsewhere, get their time too. */
  #goesOn({ params }: RequestMessage): boolean {
    return params['requestState'] !== undefined && this.#context.asking.rounds.parked > 0
  }

  #session(request: RequestMessage, caller: Caller, exchange: Exchange): CallSession {
    const { catalogue } = this.#context.router
    return new CallSession({ catalogue, request, ...caller, exchange, host: this.#context })
  }

  /** @throws McpError when another node runs a call by the same id. */
  async #runAlone(alone: Promise<boolean>, method: Method, session: CallSession): Promise<Result> {
    if (!(await alone)) throw new McpError(ID_IN_USE.code, ID_IN_USE.message)
    // Its client may have given it up meanwhile.
    return session.closed ? {} : await this.#run(method, session)
  }

  #run(method: Method, session: CallSession): Awaitable<Result> {
    const { router, callTimeoutMs, telemetry } = this.#context
    const operation = (): Awaitable<Result> => OPERATIONS[method.operation](this.#context, session)
    const timed =
      callTimeoutMs === undefined || method.open ? operation : () => inTime(callTimeoutMs, session, operation)
    const run = (): Awaitable<Result> =>
      router.middleware.length === 0 ? timed() : runInside(router.middleware, session as never, timed)
    if (!telemetry.traces('dispatch')) return run()
    const { params, trace } = session
    return telemetry.span('dispatch', { session, method: session.call.method, params, trace }, async () => await run())
  }

  /** A call that was cancelled or aborted is over for everyone but its handler, however long that takes. */
  #later(method: Method, session: CallSession, result: PromiseLike<Result>): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const waiting = new WaitingCall(session, resolve, this.#waits)
      result.then(
        (value) => waiting.settle(session.closed ? undefined : this.#finish(method, session, value)),
        (error: unknown) => waiting.settle(session.closed ? undefined : this.#fail(session, error)),
      )
    })
  }

  /** How many calls wait for their answer. */
  get running(): number {
    return this.#running.size
  }

  /** Calls that run. */
  tracked(): Omit<TrackedCall, 'node'>[] {
    return [...this.#running].map(({ call, id: sessionId, principal }) => ({ ...call, sessionId, principal }))
  }

  /** No new calls from here on; those that run may finish, and are aborted when `ms` have passed. Resolves to how many were. */
  async drain(ms: number): Promise<number> {
    this.#draining = true
    const { rounds } = this.#context.asking
    rounds.drain()
    const deadline = Date.now() + ms
    for (;;) {
      // What is open by itself ends first, also what begins only now.
      for (const session of [...this.#running]) session.open?.end()
      if (this.#running.size + rounds.busy === 0 || Date.now() >= deadline) break
      await elapsed(Math.min(DRAIN_CHECK_MS, ms))
    }
    const left = [...this.#running]
    const aborted = left.length + rounds.parked
    for (const session of left) session.abort(shuttingDown())
    rounds.abortAll(shuttingDown())
    return aborted
  }

  #finish(method: Method, session: CallSession, result: Result): Answer {
    try {
      const json = session.client.codec.encodeResult(method, result, this.#infoFor(session))
      this.#end(session)
      return { body: resultMessage(session.requestId, json), failure: undefined, cache: cacheOf(method, result) }
    } catch (error) {
      return this.#fail(session, error)
    }
  }

  /** The server's name as JSON, which is the same for all unless a callback makes it. */
  #infoFor(session: CallSession): string | undefined {
    if (this.#context.router.options.serverInfo === undefined) return this.#serverInfo
    const info = session.client.codec.stateless ? infoFor(this.#context, session) : undefined
    return info && JSON.stringify(info)
  }

  #fail(session: CallSession, error: unknown): Answer {
    this.#end(session)
    const failure = toFailure(error, (thrown) => this.#context.report(thrown, session))
    const { codec } = session.client
    try {
      return refuse(codec, session.requestId, failure)
    } catch (unserialisable) {
      this.#context.report(unserialisable, session)
      return refuse(codec, session.requestId, { code: failure.code, message: failure.message })
    }
  }

  #end(session: CallSession): void {
    session.close()
    session.client.calls?.delete(session.requestId)
  }
}
