import { type BUILT, isBuilt } from './built.js'

/** Names a call whose answer comes later: JSON-safe, for a job queue or another process, and never for a client. */
export interface CallRef {
  readonly call: string
  /** The process that the call waits in. */
  readonly node: string
}

/** Names who wants to hear of a call's progress: JSON-safe, for a job queue or another process. */
export interface ProgressRef {
  readonly progress: string
  /** The process that the call runs in. */
  readonly node: string
}

/**
 * What a handler returns when its answer comes later, made by `session.defer()`: give `ref` to whoever has the answer, and
 * `server.respond(ref, result)` brings it.
 */
export interface Deferred {
  readonly [BUILT]: 'deferred'
  readonly ref: CallRef
}

export function isDeferred(value: unknown): value is Deferred {
  return isBuilt(value, 'deferred')
}

/** @throws TypeError when something defers that has to be there at once. */
export function assertNotDeferred(what: string, value: unknown): void {
  if (isDeferred(value)) throw new TypeError(`${what} cannot defer: only handlers of tools, prompts and resources can`)
}
