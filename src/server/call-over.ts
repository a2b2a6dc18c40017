/** What a deferred answer comes to that nobody waits for any more. */
export class CallOver extends Error {
  override readonly name = 'AbortError'
}

/** What `session.signal` is aborted with when a call has used up its time. */
export class CallTimedOut extends Error {
  override readonly name = 'TimeoutError'
}
