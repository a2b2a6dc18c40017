import type { Access } from '../router/access.js'
import type { Kind } from '../router/catalogue.js'
import { type Authorizing, authorizeResources } from './authorize.js'
import { followedUri } from './followed-uri.js'
import type { TrackedListener } from './tracker.js'

/** Someone who wants to hear what happens outside of any call: a listen stream, or a session with a stream. */
export interface Listener {
  readonly access: Access
  /** The lists whose changes are wanted. */
  readonly lists: ReadonlySet<Kind>
  /** The URIs of resources that are followed, canonical. */
  readonly resources: ReadonlySet<string>
  /** Sends a notification; does not throw. */
  tell(method: string, params: object): void
}

/** Follows no resource. */
export const NO_RESOURCES: ReadonlySet<string> = new Set()
const NOBODY: ReadonlySet<Listener> = new Set()
/** A session hears of every list; only who listens for one call chooses. */
export const ALL_LISTS: ReadonlySet<Kind> = new Set(['tool', 'prompt', 'resource'])

const LISTS: Readonly<
  Record<Kind, { readonly method: string; readonly visible: 'tools' | 'prompts' | 'resourceTemplates' }>
> = {
  tool: { method: 'notifications/tools/list_changed', visible: 'tools' },
  prompt: { method: 'notifications/prompts/list_changed', visible: 'prompts' },
  resource: { method: 'notifications/resources/list_changed', visible: 'resourceTemplates' },
}

/** Resolves to whether there was one that the listener may hear of. */
async function tellUpdated(authorizing: Authorizing, listener: Listener, uris: readonly string[]): Promise<boolean> {
  if (uris.length === 0) return false
  try {
    const allowed = await authorizeResources(authorizing, uris, listener.access)
    for (const uri of allowed) listener.tell('notifications/resources/updated', { uri })
    return allowed.length > 0
  } catch (error) {
    // One that cannot be asked about does not keep the others from being told.
    authorizing.report(error, undefined)
    return false
  }
}

/** A listener has missed what nobody knows any more: whatever it hears of may have changed. */
export async function tellMissed(authorizing: Authorizing, listener: Listener): Promise<void> {
  for (const kind of listener.lists) listener.tell(LISTS[kind].method, {})
  await tellUpdated(authorizing, listener, [...listener.resources])
}

/** Those who listen on this node. */
export class Listeners {
  readonly #all = new Set<Listener>()
  readonly #lists = new Map<string, ReadonlySet<Kind>>()

  get size(): number {
    return this.#all.size
  }

  tracked(): Omit<TrackedListener, 'node'>[] {
    return [...this.#all].map(({ access, resources }) => ({
      principal: access.principal,
      sessionId: access.id,
      resources: [...resources],
    }))
  }

  /** The set of these lists, one for all who want the same. */
  listsOf(kinds: readonly Kind[]): ReadonlySet<Kind> {
    const name = kinds.join()
    const known = this.#lists.get(name) ?? new Set(kinds)
    this.#lists.set(name, known)
    return known
  }

  /** All of them have missed what nobody knows any more. */
  async missed(authorizing: Authorizing): Promise<void> {
    await Promise.all([...this.#all].map((listener) => tellMissed(authorizing, listener)))
  }

  add(listener: Listener): void {
    this.#all.add(listener)
  }

  remove(listener: Listener): void {
    this.#all.delete(listener)
  }

  /**
   * A list has changed. Who sees a part of it hears only of names that are theirs; without names, who sees a part cannot be
   * concerned for sure, and is not told. Neither are those who `know`. Resolves to how many were told.
   */
  listChanged(kind: Kind, names?: readonly string[], know: ReadonlySet<Listener> = NOBODY): number {
    const { method, visible } = LISTS[kind]
    let told = 0
    for (const listener of this.#all) {
      if (know.has(listener)) continue
      const { access, lists } = listener
      const concerned = names?.some((name) => access.sees(visible, name)) ?? !access.limits(visible)
      if (!lists.has(kind) || !concerned) continue
      listener.tell(method, {})
      told++
    }
    return told
  }

  /** Resources have changed: each follower that does not `know` is asked about once, for all of them, and told of those still allowed. */
  async resourcesUpdated(
    authorizing: Authorizing,
    uris: readonly string[],
    know: ReadonlySet<Listener> = NOBODY,
  ): Promise<number> {
    const wanted = new Map(uris.map((uri) => [followedUri(uri), uri]))
    const listeners = [...this.#all].filter((listener) => !know.has(listener))
    const told = listeners.map((listener) => {
      const followed = [...wanted].filter(([canonical]) => listener.resources.has(canonical)).map(([, uri]) => uri)
      return tellUpdated(authorizing, listener, followed)
    })
    return (await Promise.all(told)).filter(Boolean).length
  }
}
