import type { ExtensionHost } from '../server/extension.js'
import { TASKS } from './task.js'

/** Says that a node is alive, for as long as it works on something. */
export class NodeLease {
  readonly node: string = crypto.randomUUID()
  readonly #host: ExtensionHost
  readonly #ms: number
  #claimed = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(host: ExtensionHost, ms: number) {
    this.#host = host
    this.#ms = ms
  }

  /** Resolves when others know of it. */
  async hold(): Promise<void> {
    if (this.#timer !== undefined && this.#host.now() - this.#claimed < this.#ms / 2) return
    await this.#claim()
    this.#timer ??= setInterval(() => void this.#claim().catch(this.#host.report), this.#ms / 3)
  }

  /** Lets it run out. */
  stop(): void {
    if (this.#timer !== undefined) clearInterval(this.#timer)
    this.#timer = undefined
  }

  async isAlive(node: string): Promise<boolean> {
    return (await this.#host.store.get(keyOf(node))) !== undefined
  }

  async #claim(): Promise<void> {
    const now = this.#host.now()
    await this.#host.store.claim(keyOf(this.node), this.node, this.#ms)
    this.#claimed = now
  }
}

const keyOf = (node: string): string => `${TASKS}:node:${node}`
