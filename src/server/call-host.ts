import type { Asker } from './asking/thread.js'
import type { CallRefs } from './call-refs.js'
import type { Warnings } from './warnings.js'

/** What a call uses of the server that runs it. */
export interface CallHost {
  readonly refs: CallRefs
  readonly asking: Asker<object>
  readonly warnings: Warnings
  readonly ids: () => string
  /** Takes what a handler does wrong without failing for it. */
  report(error: unknown, session: object | undefined): void
}
