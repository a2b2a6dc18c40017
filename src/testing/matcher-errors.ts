import { isRecord } from '../router/json-value.js'
import { RpcError } from './client.js'
import { fits, fitsMembers, type MatcherContext, type MatcherVerdict, show, verdict } from './matcher.js'
import type { ExpectedText } from './matcher-content.js'
import type { Members } from './members.js'

/** A JSON-RPC error, as far as it matters; a number is its code. */
export type ExpectedRpcError =
  | number
  | {
      readonly code?: number
      /** The word in `data.reason`. */
      readonly reason?: ExpectedText
      readonly message?: ExpectedText
      readonly data?: unknown
    }

/** A question to the user that a call cannot go on without, as far as it matters. */
export interface ExpectedElicitation {
  readonly mode?: 'form' | 'url'
  readonly message?: ExpectedText
  readonly url?: ExpectedText
}

export function beRpcError(
  context: MatcherContext,
  received: unknown,
  expected: ExpectedRpcError = {},
): MatcherVerdict {
  const members = typeof expected === 'number' ? { code: expected } : expected
  const actual = received instanceof RpcError ? errorMembers(received) : undefined
  const isAny = Object.keys(members).length === 0
  return verdict(
    {
      pass: actual !== undefined && fitsMembers(context, actual, members),
      wanted: isAny ? 'be a JSON-RPC error' : `be a JSON-RPC error with ${show(members)}`,
      found: [actual === undefined ? describe(received) : show(actual)],
      subject: 'it',
    },
    context,
  )
}

/** 2025-11-25 says it with an error, 2026-07-28 with a result that asks for input. */
const URL_ELICITATION_REQUIRED = -32042

export function requireElicitation(
  context: MatcherContext,
  received: unknown,
  expected: ExpectedElicitation = {},
): MatcherVerdict {
  const asked = elicitationsOf(received)
  return verdict(
    {
      pass: asked.some((params) => fitsElicitation(context, params, expected)),
      wanted: `require ${Object.keys(expected).length === 0 ? 'an elicitation' : `an elicitation with ${show(expected)}`}`,
      found: asked.length === 0 ? [describe(received)] : asked.map((params) => `elicitation ${show(params)}`),
      subject: 'the call',
    },
    context,
  )
}

function elicitationsOf(received: unknown): readonly Members[] {
  if (received instanceof RpcError) {
    const list = isRecord(received.data) ? received.data['elicitations'] : undefined
    return received.code === URL_ELICITATION_REQUIRED && Array.isArray(list) ? list : []
  }
  if (!isRecord(received)) {
    throw new TypeError('toRequireElicitation needs what a call gave or was rejected with. Await the call.')
  }
  const requests = received['resultType'] === 'input_required' ? received['inputRequests'] : undefined
  return Object.values(isRecord(requests) ? requests : {})
    .filter((request) => isRecord(request) && request['method'] === 'elicitation/create')
    .map((request) => (request as Members)['params'] as Members)
}

function fitsElicitation(context: MatcherContext, params: Members, { mode, ...rest }: ExpectedElicitation): boolean {
  // A form is what it is without a mode.
  return (mode === undefined || fits(context, params['mode'] ?? 'form', mode)) && fitsMembers(context, params, rest)
}

function errorMembers({ code, message, data }: RpcError): Members {
  const reason = isRecord(data) ? data['reason'] : undefined
  return { code, message, ...(data === undefined ? {} : { data }), ...(reason === undefined ? {} : { reason }) }
}

function describe(received: unknown): string {
  if (received instanceof RpcError) return `JSON-RPC error ${show(errorMembers(received))}`
  return received instanceof Error ? String(received) : show(received)
}
