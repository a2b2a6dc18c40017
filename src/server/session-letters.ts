import type { PubSub } from '../backplane/pub-sub.js'
import type { Store } from '../backplane/store.js'
import type { RequestId, ResponseMessage } from '../protocol/jsonrpc.js'
import { CallClaims } from './call-claims.js'
import type { Elsewhere } from './client.js'
import type { LiveSession } from './live-session.js'
import type { Nodes } from './nodes.js'
import type { RunningCalls } from './running-calls.js'
import { StandingSubscription } from './standing-subscription.js'

export interface SessionLettersOptions {
  readonly nodes: Nodes
  readonly store: Store
  readonly pubSub: PubSub
  /** How long a session is known, in milliseconds. */
  readonly ttlMs: number
  /** The session of an id, while something of it is here. */
  readonly live: (session: string) => LiveSession | undefined
  /** Whether a request or a connection of the session is here. */
  readonly uses: (session: string) => boolean
  /** The node that has the stream of a session. */
  readonly ownerOf: (session: string) => Promise<string | undefined>
  /** A session has ended on another node. */
  readonly onEnded: (session: string) => void
  readonly report: (error: unknown) => void
}

interface ResponseLetter {
  readonly session: string
  readonly response: ResponseMessage
}

interface Cancelled {
  readonly session: string
  readonly requestId: RequestId
  readonly reason?: string | undefined
}

/** What has become of a session, for the node that has its stream. */
type Change = { readonly follows: readonly (readonly [uri: string, follows: boolean])[] } | { readonly ended: true }

interface ChangeLetter {
  readonly session: string
  readonly change: Change
}

/** Topic of calls that their clients have given up on another node than theirs. */
const CANCELLED = 'sessions/cancelled'
const SEPARATOR = '~'
/** Milliseconds in which a node says which sessions it uses. */
const USED_MS = 2_000
/** Milliseconds in which a node says that it knows of a change; after that it finds the letter when it looks. */
const KNOWS_MS = 2_000

/** The id of a request of ours: its answer may come to any node, and has to find this one. */
export function requestIdOf(node: string): string {
  return `${node}${SEPARATOR}${crypto.randomUUID()}`
}

/** What the client of a session says to one node of what another one has. */
export class SessionLetters implements Elsewhere {
  readonly #options: SessionLettersOptions
  readonly #claims: CallClaims
  readonly #hearsCancelled: StandingSubscription

  constructor(options: SessionLettersOptions) {
    const { nodes, store, pubSub, ttlMs, live, uses, onEnded, report } = options
    this.#options = options
    const calls = (session: string): RunningCalls | undefined => live(session)?.client.calls
    this.#claims = new CallClaims({ nodes, store, ttlMs, calls, report })
    nodes.on('response', ({ session, response }: ResponseLetter) => void live(session)?.client.take(response))
    nodes.on('sessions-used', (sessions: readonly string[]) => sessions.filter(uses))
    nodes.on('session-changed', ({ session, change }: ChangeLetter) => {
      if ('ended' in change) onEnded(session)
      else live(session)?.client.heard(change.follows)
    })
    const listener = (text: string): void => {
      const { session, requestId, reason } = JSON.parse(text) as Cancelled
      live(session)?.client.cancel(requestId, reason)
    }
    this.#hearsCancelled = new StandingSubscription({ pubSub, report, topic: CANCELLED, listener })
  }

  /** The name of the node comes from the client: nothing is written to one that is not there. */
  async answered(session: string, response: ResponseMessage): Promise<undefined> {
    const { nodes } = this.#options
    const { id } = response
    const node = typeof id === 'string' ? id.slice(0, Math.max(0, id.lastIndexOf(SEPARATOR))) : ''
    if (node === '' || node === nodes.id || !(await nodes.isAlive(node))) return
    await nodes.send(node, 'response', { session, response } satisfies ResponseLetter)
  }

  begins(session: string, id: RequestId): Promise<boolean> {
    return this.#claims.begins({ session, id })
  }

  /** Whoever has the call hears of it; a client cannot count on that (2025-11-25 basic/utilities/cancellation). */
  cancelled(session: string, requestId: RequestId, reason: string | undefined): void {
    const { pubSub, report } = this.#options
    pubSub.publish(CANCELLED, JSON.stringify({ session, requestId, reason } satisfies Cancelled)).catch(report)
  }

  /** Those of some sessions that another node has a request or a connection of. */
  async usedElsewhere(sessions: readonly string[]): Promise<readonly string[]> {
    return (await this.#options.nodes.askAll<string[]>({ type: 'sessions-used', body: sessions }, USED_MS)).flat()
  }

  /** What the session follows has changed, or it has ended: whoever has its stream has to know that before its client is answered. */
  async changed(session: string, change: Change): Promise<void> {
    const { nodes, ownerOf } = this.#options
    const owner = await ownerOf(session)
    if (owner === undefined || owner === nodes.id) return
    const body: ChangeLetter = { session, change }
    if (await nodes.isAlive(owner)) await nodes.ask(owner, { type: 'session-changed', body }, KNOWS_MS)
    // One that seems to be gone may be back in a moment.
    else await nodes.send(owner, 'session-changed', body)
  }

  close(): void {
    this.#claims.close()
    void this.#hearsCancelled.end()
  }
}
