/** How handlers wait for their clients where a version asks in rounds. */
export interface ContinuationOptions {
  /**
   * `park`: the handler waits in the process, and runs again elsewhere only when that is gone. `replay`: nothing waits, it always
   * runs again, for hosts that cannot work between requests. @default 'park'
   */
  readonly mode?: 'park' | 'replay'
  /** Handlers that wait at once. @default 1_000 */
  readonly maxParked?: number
  /** Handlers that wait for one caller; callers without a name are not counted. @default 10 */
  readonly maxPerPrincipal?: number
}

/** Milliseconds that a client has to answer. */
export const ANSWER_MS = 300_000
