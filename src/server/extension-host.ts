import type { Awaitable } from '../awaitable.js'
import { cutPage } from '../router/page.js'
import type { ExtensionHost } from './extension.js'

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

  /** Runs them all, and waits no longer than `ms`. */
  async run(ms: number): Promise<void> {
    if (this.#endings.length === 0) return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    const done = this.#endings.map(async (ending) => {
      try {
        await ending(controller.signal)
      } catch (error) {
        this.#report(error)
      }
    })
    await Promise.race([Promise.all(done), late])
    clearTimeout(timer)
    controller.abort()
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
