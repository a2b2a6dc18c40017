import type { PubSub, Unsubscribe } from '../backplane/pub-sub.js'

/** What one process of a server says to another. */
export type NodeMessage = Readonly<Record<string, unknown>> & { readonly kind: string }

export interface NodeLineOptions {
  readonly pubSub: PubSub
  readonly ids: () => string
  readonly report: (error: unknown) => void
}

/**
 * The line to this process from the others of its server. It is a doorbell: what must not be lost is in the Store. It is opened
 * when something here can be named from elsewhere, and not before.
 */
export class NodeLine {
  readonly #options: NodeLineOptions
  readonly #listeners = new Map<string, (message: NodeMessage) => void>()
  #id: string | undefined
  #subscribed: Promise<Unsubscribe | undefined> | undefined
  isOpen = false

  constructor(options: NodeLineOptions) {
    this.#options = options
  }

  /** The name of this process among those of its server. */
  get id(): string {
    this.#id ??= this.#options.ids()
    return this.#id
  }

  /** One listener for each kind of message. */
  on(kind: string, listener: (message: NodeMessage) => void): void {
    this.#listeners.set(kind, listener)
  }

  /** Resolves to whether it is open: a backplane that is away is asked again the next time. */
  async open(): Promise<boolean> {
    const { pubSub, report } = this.#options
    this.#subscribed ??= pubSub
      .subscribe(topicOf(this.id), (text) => this.#hear(text))
      .catch((error: unknown) => {
        this.#subscribed = undefined
        report(error)
        return undefined
      })
    this.isOpen = (await this.#subscribed) !== undefined
    return this.isOpen
  }

  /** Never rejects: the other process looks into the Store by itself, too. */
  async send(node: string, message: NodeMessage): Promise<void> {
    try {
      await this.#options.pubSub.publish(topicOf(node), JSON.stringify(message))
    } catch (error) {
      this.#options.report(error)
    }
  }

  async close(): Promise<void> {
    try {
      const unsubscribe = await this.#subscribed
      await unsubscribe?.()
    } catch (error) {
      this.#options.report(error)
    }
  }

  #hear(text: string): void {
    try {
      const message = JSON.parse(text) as NodeMessage
      this.#listeners.get(message.kind)?.(message)
    } catch (error) {
      this.#options.report(error)
    }
  }
}

const topicOf = (node: string): string => `line/${node}`
