import type { Store } from '../backplane/store.js'
import type { RequestId } from '../protocol/jsonrpc.js'
import type { Implementation } from '../protocol/model.js'
import type { Nodes } from './nodes.js'
import { SESSION_KEYS, type SessionRecord } from './session-record.js'

/** A session that clients may go on with, whatever node they come to. */
export interface TrackedSession {
  readonly id: string
  readonly protocolVersion: string
  readonly principal: string | null
  readonly clientInfo: Implementation | undefined
  /** URIs of the resources that it follows. */
  readonly subscriptions: readonly string[]
}

/** A stream of a session: its own, or that of a call. */
export interface TrackedStream {
  readonly node: string
  readonly sessionId: string
  readonly of: 'session' | 'call'
  /** A client is connected to it. */
  readonly connected: boolean
}

/** A request that is being served. */
export interface TrackedCall {
  readonly node: string
  readonly id: RequestId
  readonly method: string
  readonly name: string | undefined
  readonly sessionId: string | undefined
  readonly principal: string | null
}

/** Somebody who hears what happens outside of calls. */
export interface TrackedListener {
  readonly node: string
  readonly principal: string | null
  readonly sessionId: string | undefined
  readonly resources: readonly string[]
}

type OfNode<Tracked extends { readonly node: string }> = Omit<Tracked, 'node'>

/** What is on this node. */
export interface Here {
  streams(): OfNode<TrackedStream>[]
  calls(): OfNode<TrackedCall>[]
  listeners(): OfNode<TrackedListener>[]
}

/** Milliseconds in which a node has to say what it has; one that is gone is waited for no longer. */
const TRACK_MS = 2_000

/**
 * What there is on all nodes: sessions, streams, running calls and listeners. A node that is gone is out of it once three of its
 * signs of life are missing, fifteen seconds unless `heartbeatMs` says otherwise.
 */
export class Tracker {
  readonly #nodes: Nodes
  readonly #store: Store
  readonly #here: Here

  /** @internal */
  constructor(nodes: Nodes, store: Store, here: Here) {
    this.#nodes = nodes
    this.#store = store
    this.#here = here
    nodes.on('track', (what: keyof Here) => here[what]())
  }

  /** The sessions that are kept, of all nodes together. */
  async *sessions(): AsyncGenerator<TrackedSession> {
    for await (const key of this.#store.list(SESSION_KEYS)) {
      const found = await this.#store.get(key)
      if (found === undefined) continue
      const { version, principal, info, subscriptions } = JSON.parse(found.value) as SessionRecord
      const id = key.slice(SESSION_KEYS.length)
      yield { id, protocolVersion: version, principal, clientInfo: info, subscriptions }
    }
  }

  /** Streams of sessions, and of their calls. */
  streams(): AsyncGenerator<TrackedStream> {
    return this.#all('streams')
  }

  /** Requests that are being served. */
  calls(): AsyncGenerator<TrackedCall> {
    return this.#all('calls')
  }

  /** Who hears what happens outside of calls: sessions with a stream, and `subscriptions/listen`. */
  listeners(): AsyncGenerator<TrackedListener> {
    return this.#all('listeners')
  }

  async *#all<Tracked>(what: keyof Here): AsyncGenerator<Tracked> {
    const of = (node: string, items: readonly object[]): Tracked[] =>
      items.map((item) => ({ node, ...item }) as Tracked)
    yield* of(this.#nodes.id, this.#here[what]())
    const there = await this.#nodes.askEach<object[]>({ type: 'track', body: what }, TRACK_MS)
    for (const [node, items] of there) yield* of(node, items)
  }
}
