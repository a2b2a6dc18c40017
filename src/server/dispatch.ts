import { type Awaitable, isPromise } from '../awaitable.js'
import { type Failure, toFailure } from '../errors.js'
import { type Codec, encodeFailure, type Method } from '../protocol/codec.js'
import { errorMessage, type RequestId, type RequestMessage, resultMessage } from '../protocol/jsonrpc.js'
import type { Result } from '../protocol/model.js'
import { runInside } from '../router/middleware.js'
import { CallSession } from './call-session.js'
import type { Caller } from './client.js'
import type { ServerContext } from './context.js'
import type { Exchange } from './exchange.js'
import { OPERATIONS } from './operations/table.js'
import { infoFor } from './told.js'

/** A message to send back, and the failure that it tells of. */
export interface Answer {
  readonly body: string
  readonly failure: Failure | undefined
}

/** The answer to a request that could not be served, or not even be read. */
export function refuse(codec: Codec, id: RequestId | undefined, failure: Failure): Answer {
  const written = id === undefined ? codec.unknownId : JSON.stringify(id)
  return { body: errorMessage(written, encodeFailure(codec, failure)), failure }
}

/** The way of a request through the server: find the operation, run it inside the middleware, encode what it gives. */
export class Dispatcher {
  readonly #context: ServerContext
  readonly #serverInfo: string

  constructor(context: ServerContext) {
    this.#context = context
    this.#serverInfo = JSON.stringify(context.router.info)
  }

  /** The answer, at once where nothing had to be waited for; undefined when the client has cancelled the call. */
  serve(request: RequestMessage, caller: Caller, exchange: Exchange): Awaitable<Answer | undefined> {
    const { client } = caller
    const method = client.codec.methods.get(request.method)
    if (method === undefined) {
      return refuse(client.codec, request.id, {
        code: 'METHOD_NOT_FOUND',
        message: `Method not found: ${request.method}`,
      })
    }
    if (client.calls?.has(request.id)) {
      return refuse(client.codec, request.id, {
        code: 'INVALID_REQUEST',
        message: 'This id is in use by a running request',
      })
    }
    const session = this.#session(request, caller, exchange)
    client.calls?.set(request.id, session)
    try {
      const result = this.#run(method, session)
      return isPromise(result) ? this.#later(method, session, result) : this.#finish(method, session, result)
    } catch (error) {
      return this.#fail(session, error)
    }
  }

  #session(request: RequestMessage, caller: Caller, exchange: Exchange): CallSession {
    const session: CallSession = new CallSession({
      catalogue: this.#context.router.catalogue,
      request,
      ...caller,
      exchange,
      report: (error) => this.#context.report(error, session),
    })
    return session
  }

  #run(method: Method, session: CallSession): Awaitable<Result> {
    const operation = OPERATIONS[method.operation]
    const chain = this.#context.router.middleware
    if (chain.length === 0) return operation(this.#context, session)
    return runInside(chain, session as never, () => operation(this.#context, session))
  }

  /** A cancelled call is over for everyone but its handler, however long that takes. */
  #later(method: Method, session: CallSession, result: PromiseLike<Result>): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      session.onCancel(() => {
        session.client.calls?.delete(session.requestId)
        resolve(undefined)
      })
      result.then(
        (value) => resolve(session.cancelled ? undefined : this.#finish(method, session, value)),
        (error: unknown) => resolve(session.cancelled ? undefined : this.#fail(session, error)),
      )
    })
  }

  #finish(method: Method, session: CallSession, result: Result): Answer {
    try {
      const json = session.client.codec.encodeResult(method, result, this.#infoFor(session))
      this.#end(session)
      return { body: resultMessage(session.requestId, json), failure: undefined }
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
    session.finish()
    session.client.calls?.delete(session.requestId)
  }
}
