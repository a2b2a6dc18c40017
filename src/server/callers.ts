import { Access } from '../router/access.js'
import { isRefusal, type Refusal } from '../router/refusal.js'
import type { ConnectRequest } from '../router/session.js'
import { connectCaller } from './connect.js'
import type { ServerContext } from './context.js'
import type { OperatorLog } from './operator-log.js'
import { isCallbackTimeout } from './settled-within.js'

/** What the application is asked and told of its callers. */
export class Callers {
  readonly #context: ServerContext
  readonly #log: OperatorLog

  constructor(context: ServerContext, log: OperatorLog) {
    this.#context = context
    this.#log = log
  }

  /** True when the application wants to know of callers; otherwise nothing is asked and nothing waited for. */
  get wanted(): boolean {
    const { connect, disconnect, terminate } = this.#context.router.options
    return connect !== undefined || disconnect !== undefined || terminate !== undefined
  }

  /**
   * Undefined when the application failed to say who is calling; that is reported.
   *
   * @throws McpError, retryable, when it did not say so in time.
   */
  async connect(request: ConnectRequest, sessionId: string | undefined): Promise<Access | Refusal | undefined> {
    const { router, telemetry, settled, report } = this.#context
    try {
      const caller = await settled('connect', connectCaller(router.options, request, sessionId))
      if (!isRefusal(caller)) telemetry.tell('connect', { session: caller, request })
      else this.#log.tell('connect_refused', { status: caller.status, reason: caller.reason, remote: request.remote })
      return caller
    } catch (error) {
      if (isCallbackTimeout(error)) throw error
      report(error, undefined)
      return undefined
    }
  }

  /** An exchange or connection of this caller is over. */
  disconnected(access: Access): void {
    const { router, telemetry, report } = this.#context
    const { disconnect } = router.options
    const failed = (error: unknown): void => report(error, undefined)
    Promise.resolve(access)
      .then((session) => disconnect?.(session as never))
      .catch(failed)
      .then((returned) => telemetry.tell('disconnect', { session: returned instanceof Access ? returned : access }))
      .catch(failed)
  }

  /** The client has ended its session; true when the application says that it was there. */
  async terminated(access: Access): Promise<boolean> {
    const { router, telemetry, settled, report } = this.#context
    let ok = false
    try {
      const ended: unknown = await settled('terminate', Promise.resolve(router.options.terminate?.(access as never)))
      ok = (ended as { ok?: boolean } | undefined)?.ok === true
    } catch (error) {
      report(error, undefined)
    }
    telemetry.tell('terminate', { session: access, ok })
    return ok
  }
}
