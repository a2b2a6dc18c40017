import type { ExtensionHost } from '../server/extension.js'
import type { Roster } from './roster.js'
import { TASKS } from './task.js'

export interface WorkingNodeOptions {
  readonly leaseMs: number
  /** How long what this node writes is kept. */
  readonly keepMs: number
  readonly roster: Roster
  /** The ids of the tasks that it works on. */
  readonly tasks: () => Iterable<string>
  /** Called when it may have counted as gone, and its tasks as lost. */
  readonly onReturn: () => void
}

/** This node, as far as others have to know of it: that it is alive, for as long as it works on something, and on what. */
export class WorkingNode {
  readonly id: string = crypto.randomUUID()
  readonly #host: ExtensionHost
  readonly #options: WorkingNodeOptions
  #claimed = Number.NEGATIVE_INFINITY
  #listed = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined
  #lastList: Promise<void> = Promise.resolve()
  #nextList: Promise<void> | undefined
  #entered: Promise<void> | undefined

  constructor(host: ExtensionHost, options: WorkingNodeOptions) {
    this.#host = host
    this.#options = options
  }

  /** Resolves when others know that it is alive, and what it works on now. */
  async hold(): Promise<void> {
    const { leaseMs } = this.#options
    if (this.#timer === undefined || this.#host.now() - this.#claimed >= leaseMs / 2) await this.#claim()
    this.#timer ??= setInterval(() => void this.#beat().catch(this.#host.report), leaseMs / 3)
    await Promise.all([this.#list(), this.#enter()])
  }

  /** Nothing is worked on: its lease runs out. */
  rest(): void {
    if (this.#timer !== undefined) clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** All that it has worked on has ended, and it does not begin anything more. */
  async leave(): Promise<void> {
    this.rest()
    if (this.#entered === undefined) return
    const { store } = this.#host
    await Promise.all([this.#lastList, this.#entered])
    await store.delete(listOf(this.id))
    await this.#options.roster.strike(this.id)
    await store.release(leaseOf(this.id), this.id)
  }

  async #beat(): Promise<void> {
    await this.#claim()
    const isOld = this.#host.now() - this.#listed >= this.#options.keepMs / 4
    if (isOld) this.#entered = undefined
    await this.#enter()
  }

  async #claim(): Promise<void> {
    const { leaseMs, onReturn } = this.#options
    const began = this.#host.now()
    await this.#host.store.claim(leaseOf(this.id), this.id, leaseMs)
    const wasAway = this.#host.now() - this.#claimed > leaseMs
    this.#claimed = began
    if (!wasAway) return
    // It may have been struck off.
    this.#entered = undefined
    onReturn()
  }

  /** The lease is there before it, so that nobody finds it without one; so is the list. */
  #enter(): Promise<void> {
    this.#entered ??= this.#list().then(() => this.#options.roster.enter(this.id))
    const entered = this.#entered
    entered.catch(() => {
      if (this.#entered === entered) this.#entered = undefined
    })
    return entered
  }

  /** A list that is on its way may be too old: all who come meanwhile share the next one. */
  #list(): Promise<void> {
    if (this.#nextList !== undefined) return this.#nextList
    const next = this.#lastList
      .catch(() => undefined)
      .then(() => {
        this.#nextList = undefined
        return this.#writeList()
      })
    this.#nextList = next
    this.#lastList = next
    return next
  }

  async #writeList(): Promise<void> {
    const { keepMs: ttlMs, tasks } = this.#options
    const began = this.#host.now()
    await this.#host.store.set(listOf(this.id), JSON.stringify([...tasks()]), { ttlMs })
    this.#listed = began
  }
}

/** The key of a node's sign of life. */
export const leaseOf = (node: string): string => `${TASKS}:node:${node}`
/** The key of what a node works on. */
export const listOf = (node: string): string => `${TASKS}:tasks-of:${node}`
