import type { Backplane } from '../backplane/backplane.js'
import { memoryBackplane } from '../backplane/memory.js'
import { assertCounts, assertOptions, assertTimes } from '../options.js'
import type { Session } from '../router/session.js'
import type { ResumeOptions } from './stream-log.js'

/** How a server runs its router. */
export interface ServerOptions {
  /** What the nodes of one server share. @default memoryBackplane(), for one process */
  readonly backplane?: Backplane
  /**
   * Gets each error that a client does not see, once, with the session of the call that it cost.
   * @default prints it to the console's error stream
   */
  readonly onError?: (error: unknown, session: Session | undefined) => void
  /** False serves the versions that have sessions without issuing session ids. @default true */
  readonly sessions?: boolean
  /** How long a session may be unused, in milliseconds. @default 86_400_000, a day */
  readonly sessionTtlMs?: number
  /** Sessions that one node opens; the one that was idle longest makes room. @default 10_000 */
  readonly maxSessions?: number
  /** What is kept of streams for clients that come back. */
  readonly resume?: ResumeOptions
  /** `subscriptions/listen` streams of one caller; callers without a principal are not counted. @default 16 */
  readonly maxListens?: number
  /** Resources that one session follows, and that one `subscriptions/listen` names. @default 1_000 */
  readonly maxSubscriptions?: number
  /** Milliseconds that any call may take; see `timeoutMs` of a tool. @default none */
  readonly callTimeoutMs?: number
  /** Milliseconds that an answer may take which a handler has deferred. @default 300_000, five minutes */
  readonly deferMs?: number
  /** Milliseconds that running calls get when the server closes. @default 10_000 */
  readonly drainMs?: number
  /** The time in milliseconds. @default Date.now */
  readonly clock?: () => number
  /** Makes session ids: unguessable, visible ASCII. @default crypto.randomUUID */
  readonly ids?: () => string
}

const COUNTS = ['sessionTtlMs', 'maxSessions', 'maxListens', 'maxSubscriptions'] as const
const TIMES = ['callTimeoutMs', 'deferMs', 'drainMs'] as const
const OPTIONS = ['backplane', 'onError', 'sessions', 'resume', 'clock', 'ids', ...COUNTS, ...TIMES]
const DAY_MS = 86_400_000

export type ResolvedServerOptions = Required<Omit<ServerOptions, 'resume' | 'callTimeoutMs'>> & {
  readonly resume: Required<ResumeOptions>
  readonly callTimeoutMs: number | undefined
}

/** @throws TypeError for an option that is unknown or out of range. */
export function resolveServerOptions(options: ServerOptions): ResolvedServerOptions {
  assertOptions('createServer', options, OPTIONS)
  assertCounts('createServer', options, COUNTS)
  assertTimes('createServer', options, TIMES)
  assertCounts('createServer, resume', options.resume ?? {}, ['entries', 'bytes', 'ttlMs'])
  const clock = options.clock ?? Date.now
  return {
    backplane: options.backplane ?? memoryBackplane({ clock }),
    onError: options.onError ?? printError,
    sessions: options.sessions ?? true,
    sessionTtlMs: options.sessionTtlMs ?? DAY_MS,
    maxSessions: options.maxSessions ?? 10_000,
    resume: { entries: 1000, bytes: 4_194_304, ttlMs: 600_000, ...options.resume },
    maxListens: options.maxListens ?? 16,
    maxSubscriptions: options.maxSubscriptions ?? 1000,
    callTimeoutMs: options.callTimeoutMs,
    deferMs: options.deferMs ?? 300_000,
    drainMs: options.drainMs ?? 10_000,
    clock,
    ids: options.ids ?? (() => crypto.randomUUID()),
  }
}

export function printError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked for must still be seen by somebody
  console.error(error)
}
