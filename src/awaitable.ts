/** A value or the promise of one. */
export type Awaitable<Value> = Value | PromiseLike<Value>

/** For paths that must not pay for a promise when there is none. */
export function isPromise<Value>(value: Awaitable<Value>): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function'
}
