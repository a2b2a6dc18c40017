import type { Kind } from '../router/catalogue.js'
import type { Authorizing } from './authorize.js'
import { type Listener, Listeners } from './listeners.js'
import type { Nodes } from './nodes.js'
import type { ToldBefore } from './stream-owners.js'

/** Milliseconds in which a node says how many of its listeners it has told. */
const TOLD_MS = 2_000
/** Milliseconds for which a node knows what it has told, for a session that goes on with its stream on another one. */
const REMEMBERED_MS = 20_000

type Told = { readonly list: Kind } | { readonly resources: readonly string[] }

interface Notice {
  readonly id: string
  readonly told: Told
}

/** What the application tells: to those who listen here, and on every other node. */
export class Notices {
  readonly #nodes: Nodes
  readonly #listeners: Listeners
  readonly #authorizing: () => Authorizing
  readonly #recent = new Map<string, { readonly told: Told; readonly atMs: number }>()
  /** What has not come here yet, and who was told it on another node. */
  readonly #coming = new Map<string, { readonly known: Set<Listener>; readonly atMs: number }>()
  /** What is being told. */
  readonly #telling = new Set<Promise<unknown>>()

  constructor(nodes: Nodes, listeners: Listeners, authorizing: () => Authorizing) {
    this.#nodes = nodes
    this.#listeners = listeners
    this.#authorizing = authorizing
    nodes.on('notice', (notice: Notice) => this.#take(notice))
  }

  /** A list has changed. Resolves to how many were told, of those whose node has said so in time. */
  listChanged(list: Kind): Promise<number> {
    return this.#tell({ list })
  }

  /** Resources have changed: each follower is asked about once, for all of them. Resolves like {@link listChanged}. */
  resourcesUpdated(resources: readonly string[]): Promise<number> {
    return this.#tell({ resources })
  }

  /** What was told here a moment ago. */
  get recent(): readonly string[] {
    return [...this.#recent.keys()]
  }

  /** Resolves when whatever is being told here has been told. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#telling)
  }

  /**
   * Tells one that begins to listen here what was told while it was on its way from another node, once. That one may have begun a
   * moment ago: what was told before it had the stream is no news.
   */
  async catchUp(listener: Listener, { ids, sinceMs }: ToldBefore): Promise<void> {
    const recent = [...this.#recent]
    for (const id of ids) if (!this.#recent.has(id)) this.#expect(id, listener)
    const one = new Listeners()
    one.add(listener)
    for (const [id, { told, atMs }] of recent) {
      if (atMs >= sinceMs && !ids.includes(id)) await this.#tellAll(one, told)
    }
  }

  #expect(id: string, listener: Listener): void {
    const coming = this.#coming.get(id) ?? { known: new Set(), atMs: Date.now() }
    coming.known.add(listener)
    this.#coming.set(id, coming)
  }

  async #tell(told: Told): Promise<number> {
    const { shared } = this.#nodes
    if (!shared) return await this.#tellAll(this.#listeners, told)
    const notice: Notice = { id: crypto.randomUUID(), told }
    const here = this.#take(notice)
    const there = await this.#nodes.askAll<number>({ type: 'notice', body: notice }, TOLD_MS)
    return there.reduce((sum, count) => sum + count, await here)
  }

  #take({ id, told }: Notice): Promise<number> {
    const now = Date.now()
    forget(this.#recent, now - REMEMBERED_MS)
    forget(this.#coming, now - REMEMBERED_MS)
    this.#recent.set(id, { told, atMs: now })
    const telling = this.#tellAll(this.#listeners, told, this.#coming.get(id)?.known)
    this.#coming.delete(id)
    this.#telling.add(telling)
    const done = (): boolean => this.#telling.delete(telling)
    telling.then(done, done)
    return telling
  }

  async #tellAll(listeners: Listeners, told: Told, know?: ReadonlySet<Listener>): Promise<number> {
    if ('list' in told) return listeners.listChanged(told.list, undefined, know)
    return await listeners.resourcesUpdated(this.#authorizing(), told.resources, know)
  }
}

/** The oldest are first. */
function forget(all: Map<string, { readonly atMs: number }>, beforeMs: number): void {
  for (const [id, { atMs }] of all) {
    if (atMs >= beforeMs) return
    all.delete(id)
  }
}
