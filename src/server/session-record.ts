import type { ClientCapabilities, Implementation, LogLevel } from '../protocol/model.js'
import type { ProtocolVersion } from '../protocol/versions.js'

/** What is kept of a session between two requests, as JSON. */
export interface SessionRecord {
  readonly version: ProtocolVersion
  readonly info?: Implementation | undefined
  readonly capabilities: ClientCapabilities
  readonly logLevel?: LogLevel | undefined
  readonly principal: string | null
  readonly subscriptions: readonly string[]
  /** When this was written: it is written again once a quarter of its time has gone. */
  readonly writtenMs: number
}

/** What the keys of sessions begin with. */
export const SESSION_KEYS = 'session/'
