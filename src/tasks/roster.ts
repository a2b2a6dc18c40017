import type { ExtensionHost } from '../server/extension.js'
import { changeStored } from './changing.js'
import { TASKS } from './task.js'

const KEY = `${TASKS}:roster`

/** The nodes that have tasks, dead ones too, until somebody has seen to these. One value for all: the store is not searched. */
export class Roster {
  readonly #host: ExtensionHost
  readonly #ttlMs: number

  constructor(host: ExtensionHost, ttlMs: number) {
    this.#host = host
    this.#ttlMs = ttlMs
  }

  /** Nodes, each with the mark of the last time that it has entered itself. */
  async all(): Promise<readonly (readonly [node: string, mark: string])[]> {
    return [...parse((await this.#host.store.get(KEY))?.value)]
  }

  /** Another mark each time: whoever strikes off what was there before does not strike off this. */
  async enter(node: string): Promise<void> {
    const mark = crypto.randomUUID()
    await this.#change((nodes) => nodes.set(node, mark))
  }

  /** Strikes a node off, unless it has entered itself again; without a mark, in any case. */
  async strike(node: string, mark?: string): Promise<void> {
    await this.#change((nodes) => {
      if (!nodes.has(node) || (mark !== undefined && nodes.get(node) !== mark)) return undefined
      nodes.delete(node)
      return nodes
    })
  }

  async #change(change: (nodes: Map<string, string>) => Map<string, string> | undefined): Promise<void> {
    await changeStored(this.#host.store, KEY, {
      ttlMs: this.#ttlMs,
      change: (value) => {
        const nodes = change(parse(value))
        return nodes && JSON.stringify([...nodes])
      },
    })
  }
}

function parse(value: string | undefined): Map<string, string> {
  return new Map(value === undefined ? [] : (JSON.parse(value) as [string, string][]))
}
