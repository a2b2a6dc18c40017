import type { PubSub, TopicListener, Unsubscribe } from '../backplane/pub-sub.js'
import { Topics } from '../backplane/topics.js'
import { Assembly } from './assembly.js'
import { fromFrame } from './frame.js'
import type { NatsLink } from './link.js'
import { tokenOf } from './token.js'

interface NatsPubSubOptions {
  readonly link: NatsLink
  readonly prefix: string
  readonly report: (error: unknown) => void
}

/** A {@link PubSub} over NATS without JetStream. */
export class NatsPubSub implements PubSub {
  readonly #options: NatsPubSubOptions
  readonly #topics: Topics
  readonly #subscribed = new Map<string, { unsubscribe(): void }>()
  readonly #assembly = new Assembly()
  /** Of topics that are being published to and whose names take a moment to encode. */
  readonly #tokens = new Map<string, Promise<string>>()
  #closed = false

  constructor(options: NatsPubSubOptions) {
    this.#options = options
    this.#topics = new Topics(
      { open: (topic) => this.#open(topic), close: (topic) => this.#close(topic) },
      options.report,
    )
  }

  async publish(topic: string, message: string): Promise<void> {
    const { link, prefix } = this.#options
    const token = this.#tokens.get(topic) ?? tokenOf(topic)
    const known = typeof token === 'string' ? token : await this.#wait(topic, token)
    await link.publish(`${prefix}.t.${known}`, this.#assembly.toFrames(message, link.wholeBytes))
  }

  async subscribe(topic: string, listener: TopicListener): Promise<Unsubscribe> {
    if (this.#closed) throw new Error('natsBackplane: it was closed')
    return await this.#topics.subscribe(topic, listener)
  }

  /** Ends every subscription. */
  close(): void {
    this.#closed = true
    this.#topics.clear()
    for (const subscribed of this.#subscribed.values()) subscribed.unsubscribe()
    this.#subscribed.clear()
  }

  /** One promise for all who publish to the topic meanwhile, so that they go on in their order. */
  async #wait(topic: string, token: Promise<string>): Promise<string> {
    this.#tokens.set(topic, token)
    try {
      return await token
    } finally {
      this.#tokens.delete(topic)
    }
  }

  async #open(topic: string): Promise<void> {
    const { link, prefix, report } = this.#options
    const subject = `${prefix}.t.${await tokenOf(topic)}`
    const callback = (error: Error | null, message: { readonly data: Uint8Array }): void => {
      if (error !== null) return report(error)
      const whole = this.#taken(message.data)
      if (whole !== undefined) this.#topics.deliver(topic, whole)
    }
    const subscribed = link.client.subscribe(subject, { callback })
    try {
      await link.flush()
    } catch (error) {
      subscribed.unsubscribe()
      throw error
    }
    if (this.#closed) return subscribed.unsubscribe()
    this.#subscribed.set(topic, subscribed)
  }

  async #close(topic: string): Promise<void> {
    this.#subscribed.get(topic)?.unsubscribe()
    this.#subscribed.delete(topic)
  }

  #taken(bytes: Uint8Array): string | undefined {
    try {
      return this.#assembly.take(fromFrame(bytes))
    } catch (error) {
      this.#options.report(error)
      return undefined
    }
  }
}
