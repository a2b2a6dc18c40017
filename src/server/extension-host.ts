import type { Awaitable } from '../awaitable.js'
import { cutPage } from '../router/page.js'
import type { ExtensionHost } from './extension.js'
import { knownWithin } from './known-within.js'

/** How long an ending may take once it was told that its time is up: to write down what is left undone. */
const LAST_MS = 1_000

type Ending = (signal: AbortSignal) => Awaitable<void>

/** What extensions have to finish before the server is closed. */
export class Endings {
  readonly #endings: Ending[] = []
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  add(ending: Ending): void {
    this.#endings.push(ending)
  }

  /** Runs them all: they are told after `ms` that their time is up, and waited for a second more. */
  async run(ms: number): Promise<void> {
    if (this.#endings.length === 0) return
    const controller = new AbortController()
    const done = this.#endings.map(async (ending) => {
      try {
        await ending(controller.signal)
      } catch (error) {
        this.#report(error)
      }
    })
    const all = Promise.all(done)
    await knownWithin(ms, all)
    controller.abort()
    await knownWithin(LAST_MS, all)
  }
}

export interface HostParts extends Omit<ExtensionHost, 'page' | 'onClose'> {
  readonly pageSize: number
  readonly endings: Endings
}

/** What extensions see of a server, and no more of it. */
export function hostOf({ pageSize, endings, ...parts }: HostParts): ExtensionHost {
  return {
    ...parts,
    page: (list, entries, cursor) => cutPage(list, entries, { cursor, size: pageSize }),
    onClose: (listener) => endings.add(listener),
  }
}
