import type { Backplane } from '../../backplane/backplane.js'
import type { RequestMessage } from '../../protocol/jsonrpc.js'
import type { ClientCapabilities, Implementation, LogLevel, Result } from '../../protocol/model.js'
import type { Access, AllowLists } from '../../router/access.js'
import type { CallSession } from '../call-session.js'
import { Client } from '../client.js'
import type { Exchange } from '../exchange.js'
import { appendTo, LOOK_MS, LogFollower } from '../log-follower.js'
import type { Nodes } from '../nodes.js'
import { type Moved, nodeDied, toFailed, toldTooMuch, toMoved, unwrap } from './moved.js'
import type { RoundState } from './round-states.js'

export interface RelayOptions {
  readonly backplane: Backplane
  readonly nodes: Nodes
  readonly ids: () => string
  readonly report: (error: unknown, session: CallSession | undefined) => void
}

/** A request that has come to another node than the one where its handler waits, as JSON. */
export interface FollowUp {
  readonly relay: string
  readonly state: RoundState
  readonly request: RequestMessage
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
  readonly logLevel: LogLevel | undefined
  readonly allowed: AllowLists
  readonly canStream: boolean
  readonly inputResponses: Readonly<Record<string, unknown>> | undefined
}

/** What the handler's node tells: that it goes on, what is for the client's stream, and what came of it. */
type Told = { readonly taken: boolean } | { readonly message: string } | { readonly moved: Moved }

/** Milliseconds in which a node has to say that it goes on. */
const TAKEN_MS = 1_000
const BOUNDS = { ttlMs: 60_000, maxEntries: 10_000, maxBytes: 67_108_864 }

/** Goes on with a handler that waits on another node: the request stays here, and what the handler tells comes here. */
export class Relay {
  readonly #options: RelayOptions
  /** Requests that were taken over from other nodes. */
  readonly #taken = new Map<string, CallSession>()
  /** What is being told of each. */
  readonly #telling = new Map<string, Promise<void>>()

  constructor(options: RelayOptions) {
    this.#options = options
    options.nodes.on('hang-up', (relay: string) => this.#taken.get(relay)?.cancel('The client hung up'))
  }

  /** What the handler comes to; undefined when its node does not go on with it. @throws McpError of the handler. */
  async offer(session: CallSession, state: RoundState): Promise<Result | undefined> {
    const { nodes, backplane, ids, report } = this.#options
    if (state.node === nodes.id || !(await nodes.isAlive(state.node))) return undefined
    const relay = ids()
    const follower = await LogFollower.open(backplane, logOf(relay))
    try {
      const taken = await this.#isTaken(follower, session, { relay, state })
      // Nothing is begun for a client that has hung up meanwhile.
      session.signal.throwIfAborted()
      return taken ? await this.#follow(follower, session, state.node) : undefined
    } catch (error) {
      if (session.reason !== undefined) {
        await nodes.send(state.node, 'hang-up', relay).catch((failure: unknown) => report(failure, session))
      }
      throw error
    } finally {
      await follower.close()
    }
  }

  async #isTaken(
    follower: LogFollower,
    session: CallSession,
    { relay, state }: { readonly relay: string; readonly state: RoundState },
  ): Promise<boolean> {
    const { client, access } = session
    const followUp: FollowUp = {
      relay,
      state,
      request: session.request,
      info: client.info,
      capabilities: client.capabilities,
      logLevel: client.logLevel,
      allowed: access.allowLists,
      canStream: session.canStream,
      inputResponses: session.inputResponses,
    }
    await this.#options.nodes.send(state.node, 'follow-up', followUp)
    // A hang-up is told to who has taken the request: that has to be known first.
    const first = await follower.next(TAKEN_MS, new AbortController().signal)
    return first !== undefined && (JSON.parse(first) as { taken?: boolean }).taken === true
  }

  async #follow(follower: LogFollower, session: CallSession, node: string): Promise<Result> {
    const { nodes } = this.#options
    const lookMs = Math.min(LOOK_MS, nodes.lookMs)
    for (;;) {
      const entry = await follower.next(lookMs, session.signal)
      if (follower.missed) throw toldTooMuch()
      if (entry === undefined) {
        if (!(await nodes.isAlive(node))) throw nodeDied()
        continue
      }
      const told = JSON.parse(entry) as Told
      if ('moved' in told) return unwrap(told.moved)
      if ('message' in told) await session.send(told.message)
    }
  }

  /** The handler waits here, and goes on; `moveOn` gets its request. Never rejects. */
  async take(
    followUp: FollowUp,
    waiting: CallSession,
    moveOn: (request: CallSession) => Promise<Result>,
  ): Promise<Moved> {
    const { report } = this.#options
    const request = this.#requestOf(followUp, waiting)
    this.#taken.set(followUp.relay, request)
    await this.#tell(followUp, { taken: true })
    let moved: Moved
    try {
      moved = toMoved(await moveOn(request))
    } catch (error) {
      moved = toFailed(error, (thrown) => report(thrown, request))
    }
    request.close()
    this.#taken.delete(followUp.relay)
    await this.#tell(followUp, { moved })
    return moved
  }

  async decline(followUp: FollowUp): Promise<void> {
    await this.#tell(followUp, { taken: false })
  }

  /** The same caller, by the word of the node that let it in; what was assigned stays what it was here. */
  #requestOf(followUp: FollowUp, waiting: CallSession): CallSession {
    const { info, capabilities, logLevel, allowed, request, canStream, inputResponses } = followUp
    const client = new Client(waiting.client.codec, { info, capabilities, logLevel, reachable: true })
    const access: Access = waiting.access.fork()
    access.allowLists = allowed
    const exchange: Exchange = { canStream, send: (message) => this.#tell(followUp, { message }) }
    const session = waiting.sibling({ request, client, access, exchange })
    session.inputResponses = inputResponses
    return session
  }

  /** One thing after the other, and what came of it last. Never rejects. */
  #tell({ relay }: FollowUp, told: Told): Promise<void> {
    const { backplane, report } = this.#options
    const append = (): Promise<void> => appendTo(backplane, logOf(relay), { value: JSON.stringify(told), ...BOUNDS })
    const telling = (this.#telling.get(relay) ?? Promise.resolve())
      .then(append)
      .catch((error: unknown) => report(error, undefined))
      .finally(() => {
        if (this.#telling.get(relay) === telling) this.#telling.delete(relay)
      })
    this.#telling.set(relay, telling)
    return telling
  }
}

const logOf = (relay: string): string => `relay/${relay}`
