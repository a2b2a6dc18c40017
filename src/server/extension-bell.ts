import type { PubSub, Unsubscribe } from '../backplane/pub-sub.js'
import { McpError } from '../errors.js'

const TOPIC = 'phantom:listeners'

/** Hears that something has changed which a filter of an extension can be about. */
export type BellListener = (filter: string, key: string) => void

/** Events of extensions, from any node to the listeners of all. What has changed is for the extension to say, to each of them. */
export class ExtensionBell {
  readonly #pubSub: PubSub
  readonly #report: (error: unknown) => void
  readonly #listeners = new Set<BellListener>()
  #subscribed: Promise<Unsubscribe> | undefined

  constructor(pubSub: PubSub, report: (error: unknown) => void) {
    this.#pubSub = pubSub
    this.#report = report
  }

  async ring(filter: string, key: string): Promise<void> {
    await this.#pubSub.publish(TOPIC, JSON.stringify([filter, key]))
  }

  /**
   * Resolves to the way out, when nothing is missed any more.
   * @throws McpError `INTERNAL_ERROR`, retryable, when the backplane cannot be reached.
   */
  async listen(listener: BellListener): Promise<() => void> {
    this.#listeners.add(listener)
    try {
      this.#subscribed ??= this.#pubSub.subscribe(TOPIC, (message) => this.#hear(message))
      await this.#subscribed
    } catch (cause) {
      this.#subscribed = undefined
      this.#listeners.delete(listener)
      const data = { reason: 'backplane', retryable: true }
      throw new McpError('INTERNAL_ERROR', 'Nothing can be followed now: try again', { data, cause })
    }
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#subscribed?.then((unsubscribe) => unsubscribe()).catch(this.#report)
  }

  #hear(message: string): void {
    const [filter, key] = JSON.parse(message) as [string, string]
    for (const listener of [...this.#listeners]) listener(filter, key)
  }
}
