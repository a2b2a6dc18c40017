/** What happened, and how much it matters. */

/** The names of what a {@link Logger} is told. */
export type LoggedEventName =
  | 'session_opened'
  | 'session_ended'
  | 'session_evicted'
  | 'session_refused'
  | 'connect_refused'
  | 'stream_opened'
  | 'stream_cut'
  | 'pipe_full'
  | 'pipe_read'
  | 'callback_timed_out'
  | 'backplane_failed'
  | 'backplane_recovered'
  | 'drain_started'
  | 'drain_ended'

/**
 * Something that an operator may want to see. Its fields say of whom and how much, and never what: no message, argument or result,
 * no header, and of a session's id only its beginning.
 */
export interface LoggedEvent {
  readonly event: LoggedEventName
  /** The same in a sentence that never changes. */
  readonly message: string
  readonly [field: string]: unknown
}

/** Takes what happens, one object for each event: `pino()`, a logger of `winston`, and `console` are loggers. */
export interface Logger {
  /** For whoever looks for something. */
  debug(event: LoggedEvent): unknown
  /** What happens all the time. */
  info(event: LoggedEvent): unknown
  /** What somebody should know of. */
  warn(event: LoggedEvent): unknown
  /** What somebody has to mend. */
  error(event: LoggedEvent): unknown
}

const EVENTS: Readonly<Record<LoggedEventName, readonly [level: keyof Logger, message: string]>> = {
  session_opened: ['info', 'A session was opened'],
  session_ended: ['info', 'A session has ended'],
  session_evicted: ['warn', 'A session had to make room for another one'],
  session_refused: ['warn', 'There was no room for a session'],
  connect_refused: ['info', 'A caller was not let in'],
  stream_opened: ['debug', 'A stream was opened'],
  stream_cut: ['warn', 'A stream was cut: its client did not read it'],
  pipe_full: ['warn', 'The client does not read its pipe: what it is told is dropped'],
  pipe_read: ['info', 'The client reads its pipe again'],
  callback_timed_out: ['error', 'A callback did not settle in time'],
  backplane_failed: ['error', 'The backplane cannot be reached'],
  backplane_recovered: ['info', 'The backplane can be reached again'],
  drain_started: ['info', 'The server takes no new calls'],
  drain_ended: ['info', 'The server has closed'],
}

type Fields = Readonly<Record<string, unknown>>

/** The operator's log of a server: silent without a logger, and never in the way with one. */
export class OperatorLog {
  readonly #logger: Logger | undefined
  readonly #report: (error: unknown) => void

  constructor(logger: Logger | undefined, report: (error: unknown) => void) {
    this.#logger = logger
    this.#report = report
  }

  /** `fields` may be asked for only when somebody listens. */
  tell(event: LoggedEventName, fields?: Fields | (() => Fields)): void {
    if (this.#logger === undefined) return
    const [level, message] = EVENTS[event]
    try {
      this.#logger[level]({ event, message, ...(typeof fields === 'function' ? fields() : fields) })
    } catch (error) {
      this.#report(error)
    }
  }
}

/** As much of an id as tells sessions apart in a log: whoever knows all of it may use the session. */
export function shownId(id: string): string {
  return id.slice(0, Math.min(8, id.length >> 1))
}

/** @throws TypeError for an option `logger` that is none. */
export function assertLogger(owner: string, logger: unknown): void {
  if (logger === undefined) return
  const methods = (logger ?? {}) as Readonly<Record<string, unknown>>
  for (const level of ['debug', 'info', 'warn', 'error']) {
    if (typeof methods[level] === 'function') continue
    throw new TypeError(`${owner}: logger must have a method '${level}', as pino, winston and console have`)
  }
}
