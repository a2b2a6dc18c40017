import type { CallSession } from '../call-session.js'
import type { Nodes } from '../nodes.js'
import type { ResolvedServerOptions } from '../server-options.js'
import { requestIdOf } from '../session-letters.js'
import { Asking, type AskingParts } from './asking.js'
import { Once } from './once.js'
import { RoundLog } from './round-log.js'
import { RoundStates } from './round-states.js'
import { Rounds } from './rounds.js'
import type { Secrets } from './secrets.js'

export interface CreateAskingParts extends Pick<AskingParts, 'streamOf' | 'pages' | 'warnings'> {
  readonly nodes: Nodes
  readonly secrets: Secrets
  readonly report: (error: unknown, session: CallSession | undefined) => void
}

/** All that asks clients, for one server. */
export function createAsking(options: ResolvedServerOptions, parts: CreateAskingParts): Asking {
  const { backplane, clock, continuations, requestStateTtlMs: stateTtlMs } = options
  const { nodes, secrets, streamOf, pages, warnings, report } = parts
  const { store } = backplane
  const ids = (): string => crypto.randomUUID()
  const states = new RoundStates({
    seal: () => secrets.seal(),
    known: () => secrets.known,
    store,
    clock,
    ids,
    ttlMs: stateTtlMs,
  })
  const log = new RoundLog({ backplane, nodes, ids, report: (error) => report(error, undefined) })
  const rounds = new Rounds({ states, log, continuations, clock, ids, stateTtlMs, backplane, nodes, report })
  const requestId = (): string => (nodes.shared ? requestIdOf(nodes.id) : ids())
  return new Asking({ rounds, once: new Once(store, clock), ids: requestId, streamOf, pages, warnings })
}
