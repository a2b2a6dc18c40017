/** A value or the promise of one. */
export type Awaitable<Value> = Value | PromiseLike<Value>

/** For paths that must not pay for a promise when there is none. */
export function isPromise<Value>(value: Awaitable<Value>): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function'
}

/** Goes on at once with what is there already, so that a call without promises is answered in the turn that asked. */
export function andThen<Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
): Awaitable<Next> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value)
}
