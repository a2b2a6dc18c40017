import type { Backplane } from '../backplane/backplane.js'
import { memoryBackplane } from '../backplane/memory.js'
import { assertCounts, assertOptions, assertTimes, pick } from '../options.js'
import type { Session } from '../router/session.js'
import type { ContinuationOptions } from './asking/continuation-options.js'
import { assertLogger, type Logger } from './operator-log.js'
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
  /** The operator's log: sessions, streams, refusals, the backplane and the end of the server. @default none */
  readonly logger?: Logger
  /** False serves the versions that have sessions without issuing session ids. @default true */
  readonly sessions?: boolean
  /** How long the answer to a question of a step may take, in milliseconds. @default 86_400_000, a day */
  readonly requestStateTtlMs?: number
  /** How handlers wait while their clients are asked. */
  readonly continuations?: ContinuationOptions
  /** Milliseconds between two signs of life to the other nodes; after three missed ones a node counts as gone. @default 5_000 */
  readonly heartbeatMs?: number
  /** A name for this node, for people: letters, digits, `_`, `-` and `.`. @default none */
  readonly nodeId?: string
  /** How long a session may be unused, in milliseconds. @default 86_400_000, a day */
  readonly sessionTtlMs?: number
  /** Sessions that one node opens; the one that was idle longest makes room. @default 10_000 */
  readonly maxSessions?: number
  /** Sessions of one caller among them; the caller's own makes room. Callers without a principal are not counted. @default 1_000 */
  readonly maxSessionsPerPrincipal?: number
  /** What is kept of streams for clients that come back. */
  readonly resume?: ResumeOptions
  /** `subscriptions/listen` streams of one caller; callers without a principal are not counted. @default 16 */
  readonly maxListens?: number
  /** Resources that one session follows, and that one `subscriptions/listen` names. @default 1_000 */
  readonly maxSubscriptions?: number
  /** Milliseconds that any call may take; see `timeoutMs` of a tool. @default none */
  readonly callTimeoutMs?: number
  /**
   * Milliseconds that `connect`, `terminate`, `authorizeResourceSubscriptions` and the backplane may take to settle; what waits for
   * them is told to try again. @default 30_000
   */
  readonly callbackTimeoutMs?: number
  /** Milliseconds that an answer may take which a handler has deferred. @default 300_000, five minutes */
  readonly deferMs?: number
  /** Milliseconds that running calls get when the server closes. @default 10_000 */
  readonly drainMs?: number
  /** The time in milliseconds. @default the time of the backplane, where it tells one, or Date.now */
  readonly clock?: () => number
  /** Makes session ids: unguessable, visible ASCII. @default crypto.randomUUID */
  readonly ids?: () => string
}

const COUNTS = [
  'requestStateTtlMs',
  'sessionTtlMs',
  'maxSessions',
  'maxSessionsPerPrincipal',
  'maxListens',
  'maxSubscriptions',
] as const
const TIMES = ['callTimeoutMs', 'callbackTimeoutMs', 'deferMs', 'drainMs', 'heartbeatMs'] as const
const OPTIONS = [
  'backplane',
  'onError',
  'logger',
  'sessions',
  'resume',
  'clock',
  'ids',
  'continuations',
  'nodeId',
  ...COUNTS,
  ...TIMES,
]
const DAY_MS = 86_400_000
const DEFAULTS = {
  sessions: true as boolean,
  requestStateTtlMs: DAY_MS,
  sessionTtlMs: DAY_MS,
  maxSessions: 10_000,
  maxSessionsPerPrincipal: 1_000,
  maxListens: 16,
  maxSubscriptions: 1_000,
  callbackTimeoutMs: 30_000,
  deferMs: 300_000,
  drainMs: 10_000,
  heartbeatMs: 5_000,
}

export type ResolvedServerOptions = Required<
  Omit<ServerOptions, 'resume' | 'callTimeoutMs' | 'continuations' | 'nodeId' | 'logger'>
> & {
  /** Whether the clock is one that was given. */
  readonly ownClock: boolean
  readonly nodeId: string | undefined
  readonly continuations: Required<ContinuationOptions>
  readonly logger: Logger | undefined
  readonly resume: Required<ResumeOptions>
  readonly callTimeoutMs: number | undefined
}

/** @throws TypeError for an option that is unknown or out of range. */
export function resolveServerOptions(options: ServerOptions): ResolvedServerOptions {
  assertOptions('createServer', options, OPTIONS)
  assertLogger('createServer', options.logger)
  assertCounts('createServer', options, COUNTS)
  assertTimes('createServer', options, TIMES)
  assertCounts('createServer, resume', options.resume ?? {}, ['entries', 'bytes', 'ttlMs'])
  const clock = options.clock ?? Date.now
  return {
    backplane: options.backplane ?? memoryBackplane({ clock }),
    onError: options.onError ?? printError,
    logger: options.logger,
    ...DEFAULTS,
    ...pick(options, Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]),
    continuations: resolveContinuations(options.continuations),
    resume: { entries: 1000, bytes: 4_194_304, ttlMs: 600_000, ...options.resume },
    callTimeoutMs: options.callTimeoutMs,
    nodeId: options.nodeId === undefined ? undefined : nodeName(options.nodeId),
    clock,
    ownClock: options.clock !== undefined,
    ids: options.ids ?? (() => crypto.randomUUID()),
  }
}

function nodeName(name: unknown): string {
  if (typeof name === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(name)) return name
  throw new TypeError(
    `createServer: nodeId must be 1 to 64 letters, digits, '_', '-' or '.', not ${JSON.stringify(name)}`,
  )
}

const MODES = ['park', 'replay'] as const

function resolveContinuations(options: ContinuationOptions = {}): Required<ContinuationOptions> {
  assertOptions('createServer, continuations', options, ['mode', 'maxParked', 'maxPerPrincipal'])
  assertCounts('createServer, continuations', options, ['maxParked', 'maxPerPrincipal'])
  const { mode = 'park', maxParked = 1000, maxPerPrincipal = 10 } = options
  if (!MODES.includes(mode)) {
    throw new TypeError(`createServer, continuations: mode must be one of ${MODES.join(', ')}, not ${String(mode)}`)
  }
  return { mode, maxParked, maxPerPrincipal }
}

export function printError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked for must still be seen by somebody
  console.error(error)
}
