import { McpError } from '../errors.js'
import type { OperatorLog } from './operator-log.js'

/** Something of ours or of the application's did not settle, and was not waited for any longer. */
class NotSettled extends Error {
  override readonly name = 'TimeoutError'
}

/** The same, or a rejection with {@link NotSettled} once `ms` have passed. */
export function settledWithin<Value>(what: string, ms: number, value: PromiseLike<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NotSettled(`${what} did not settle within ${ms} ms`)), ms)
    value.then(
      (settled) => {
        clearTimeout(timer)
        resolve(settled)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/**
 * Waits for callbacks of the application, and tells the operator of one that does not settle.
 *
 * @throws McpError, retryable, in its place: the same request may succeed a little later.
 */
export function settledBy(
  ms: number,
  log: OperatorLog,
): <Value>(callback: string, value: PromiseLike<Value>) => Promise<Value> {
  return async (callback, value) => {
    try {
      return await settledWithin(callback, ms, value)
    } catch (cause) {
      if (!(cause instanceof NotSettled)) throw cause
      log.tell('callback_timed_out', { callback })
      const data = { reason: 'callback_timeout', retryable: true }
      throw new McpError('INTERNAL_ERROR', 'The server cannot tell at the moment: try again', { data, cause })
    }
  }
}

/** Whether it tells of a callback that did not settle. */
export function isCallbackTimeout(error: unknown): boolean {
  return error instanceof McpError && error.cause instanceof NotSettled
}
