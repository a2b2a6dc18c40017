import type { Awaitable } from '../awaitable.js'
import type { Result } from '../protocol/model.js'
import type { Router } from '../router/router.js'
import type { Asking } from './asking/asking.js'
import type { CallHost } from './call-host.js'
import type { CallSession } from './call-session.js'
import type { ExtensionHost } from './extension.js'
import type { ExtensionBell } from './extension-bell.js'
import type { Limits } from './limits.js'
import type { Listeners } from './listeners.js'
import type { Listens } from './listens.js'
import type { Pages } from './pages.js'
import type { Telemetry } from './telemetry.js'

/** What an operation may use of the server. */
export interface ServerContext extends CallHost {
  readonly router: Router<never>
  readonly pages: Pages
  readonly limits: Limits
  readonly asking: Asking
  readonly listeners: Listeners
  readonly listens: Listens
  readonly telemetry: Telemetry
  /** What extensions see of the server. */
  readonly host: ExtensionHost
  readonly bell: ExtensionBell
  readonly callTimeoutMs: number | undefined
  readonly maxSubscriptions: number
  /** Tells of the server's end; returns the way to stop that. */
  onClose(listener: () => void): () => void
  /** What a callback of the application gives, in time. @throws McpError, retryable, when it does not settle. */
  settled<Value>(callback: string, value: PromiseLike<Value>): Promise<Value>
  /** Hands an error to the operator that a client does not see. */
  report(error: unknown, session: CallSession | undefined): void
}

/** Serves one operation: gives its result, or throws. */
export type OperationHandler = (context: ServerContext, session: CallSession) => Awaitable<Result>
