import type { Middleware } from './middleware.js'

/** What a tool may cost, and what runs around it. */
export interface ToolLimits<Assigns extends object = object> {
  /** Milliseconds that its handler may take: then `session.signal` is aborted and the model is told. @default none */
  readonly timeoutMs?: number
  /** Calls that run at once on this server; others wait for their turn. @default no limit */
  readonly maxConcurrency?: number
  /** Runs around each call of this tool, inside of the router's. */
  readonly middleware?: readonly Middleware<Assigns>[]
}

export const LIMITS: readonly string[] = ['timeoutMs', 'maxConcurrency', 'middleware']
