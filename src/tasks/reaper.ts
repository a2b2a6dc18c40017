import { quietTimer } from '../options.js'
import type { ExtensionHost } from '../server/extension.js'
import type { Roster } from './roster.js'
import { TASKS } from './task.js'
import { leaseOf, listOf } from './working-node.js'

export interface ReaperOptions {
  /** The node that looks. */
  readonly node: string
  readonly leaseMs: number
  readonly roster: Roster
  /** Ends a task of a node that is gone. */
  readonly end: (id: string, node: string) => Promise<void>
}

const KEY = `${TASKS}:reaper`
/** Tasks that are ended at once. */
const AT_ONCE = 16

/** Finds nodes that are gone, and ends what they worked on. One node at a time does it for all. */
export class Reaper {
  readonly #host: ExtensionHost
  readonly #options: ReaperOptions
  readonly #timer: ReturnType<typeof setInterval> | undefined
  #looking: Promise<void> | undefined
  /** Since when, and until when, the store has answered without a pause. */
  #steadySince = Number.NEGATIVE_INFINITY
  #answered = Number.NEGATIVE_INFINITY

  constructor(host: ExtensionHost, options: ReaperOptions) {
    this.#host = host
    this.#options = options
    // A process alone has nobody to look after.
    if (!host.shared) return
    this.#timer = quietTimer(() => this.#look(), options.leaseMs / 3)
    this.#look()
  }

  /** Whether a node has said nothing for too long. Who has been away himself does not know, and says no. */
  async isGone(node: string): Promise<boolean> {
    const lease = await this.#host.store.get(leaseOf(node))
    return this.#isSteady() && lease === undefined
  }

  async stop(): Promise<void> {
    if (this.#timer !== undefined) clearInterval(this.#timer)
    await this.#looking
    if (this.#host.shared) await this.#host.store.release(KEY, this.#options.node)
  }

  /** Called whenever the store has answered. After a pause the others, too, get the time of a lease to come back. */
  #isSteady(): boolean {
    const { leaseMs } = this.#options
    const now = this.#host.now()
    if (now - this.#answered > leaseMs) this.#steadySince = now
    this.#answered = now
    return now - this.#steadySince >= leaseMs
  }

  #look(): void {
    this.#looking ??= this.#seek()
      .catch(this.#host.report)
      .finally(() => {
        this.#looking = undefined
      })
  }

  async #seek(): Promise<void> {
    const { node: own, leaseMs, roster } = this.#options
    const { mine } = await this.#host.store.claim(KEY, own, leaseMs)
    if (!(this.#isSteady() && mine)) return
    for (const [node, mark] of await roster.all()) {
      // One that cannot be seen to keeps nobody from the others.
      if (node !== own && (await this.isGone(node))) await this.#bury(node, mark).catch(this.#host.report)
    }
  }

  /** What is left half done is done again by whoever looks next. */
  async #bury(node: string, mark: string): Promise<void> {
    const { end, roster } = this.#options
    const { store } = this.#host
    const list = await store.get(listOf(node))
    const ids = list === undefined ? [] : (JSON.parse(list.value) as string[])
    const failed: PromiseRejectedResult[] = []
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const ended = await Promise.allSettled(ids.slice(from, from + AT_ONCE).map((id) => end(id, node)))
      failed.push(...ended.filter((one) => one.status === 'rejected'))
    }
    if (failed[0] !== undefined) throw failed[0].reason
    if (list !== undefined) await store.delete(listOf(node), list.revision)
    await roster.strike(node, mark)
  }
}
