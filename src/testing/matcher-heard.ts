import type { LogLevel, ProgressToken } from '../protocol/model.js'
import { fitsMembers, type MatcherContext, type MatcherVerdict, partsOf, show, verdict } from './matcher.js'
import type { ExpectedText } from './matcher-content.js'
import type { Members } from './members.js'

/** A progress notification, as far as it matters. */
export interface ExpectedProgress {
  readonly progress?: number
  readonly total?: number
  readonly message?: ExpectedText
  readonly progressToken?: ProgressToken
}

/** A log message to the client, as far as it matters. */
export interface ExpectedLog {
  readonly level?: LogLevel
  /** Any JSON value; an expression where it is text. */
  readonly data?: unknown
  readonly logger?: ExpectedText
}

/** What a client has heard, in words and on the wire. */
const KINDS = {
  progress: { matcher: 'toHaveSeenProgress', method: 'notifications/progress', noun: 'progress' },
  log: { matcher: 'toHaveSeenLog', method: 'notifications/message', noun: 'a log message' },
} as const

export function haveSeen(
  context: MatcherContext,
  received: unknown,
  { kind, expected = {} }: { readonly kind: keyof typeof KINDS; readonly expected?: object | undefined },
): MatcherVerdict {
  const { matcher, method, noun } = KINDS[kind]
  const notifications = partsOf(received, 'notifications', `${matcher} needs a client of connect`)
  const seen = notifications.filter((message) => message['method'] === method).map(({ params }) => params as Members)
  return verdict(
    {
      pass: seen.some((params) => fitsMembers(context, params, expected)),
      wanted: `have seen ${noun}${Object.keys(expected).length === 0 ? '' : ` with ${show(expected)}`}`,
      found: seen.map((params) => show(params)),
      subject: 'the client',
    },
    context,
  )
}
