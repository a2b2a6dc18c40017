import type { TopicListener, Unsubscribe } from './pub-sub.js'

/** What an engine does once for all subscriptions of a topic. */
export interface TopicSource {
  /** Resolves when whatever anyone publishes from then on is heard. */
  open(topic: string): Promise<void>
  close(topic: string): Promise<void>
}

interface Subscription {
  readonly listener: TopicListener
  active: boolean
}

interface Topic {
  readonly name: string
  readonly subscriptions: Set<Subscription>
  open: boolean
  /** Opening and closing, one after the other: an engine that is told both at once may end with either. */
  turn: Promise<void>
}

/** The subscriptions of one node, of which the engine knows no more than which topics have any. */
export class Topics {
  readonly #source: TopicSource
  readonly #report: (error: unknown) => void
  readonly #topics = new Map<string, Topic>()

  /** `report` gets what a listener throws, and what goes wrong when a topic is closed. */
  constructor(source: TopicSource, report: (error: unknown) => void) {
    this.#source = source
    this.#report = report
  }

  async subscribe(name: string, listener: TopicListener): Promise<Unsubscribe> {
    const topic = this.#topics.get(name) ?? { name, subscriptions: new Set(), open: false, turn: Promise.resolve() }
    this.#topics.set(name, topic)
    const subscription: Subscription = { listener, active: true }
    topic.subscriptions.add(subscription)
    try {
      await this.#settle(topic)
    } catch (error) {
      this.#end(topic, subscription)
      throw error
    }
    return async () => this.#end(topic, subscription)
  }

  deliver(name: string, message: string): void {
    for (const subscription of [...(this.#topics.get(name)?.subscriptions ?? [])]) {
      if (!subscription.active) continue
      try {
        subscription.listener(message)
      } catch (error) {
        this.#report(error)
      }
    }
  }

  /** Ends every subscription without a word to the engine. */
  clear(): void {
    for (const { subscriptions } of this.#topics.values()) {
      for (const subscription of subscriptions) subscription.active = false
    }
    this.#topics.clear()
  }

  #end(topic: Topic, subscription: Subscription): void {
    subscription.active = false
    if (!topic.subscriptions.delete(subscription) || topic.subscriptions.size > 0) return
    // No one waits for the engine here: no listener is called any more, whatever it still sends.
    this.#settle(topic).catch(this.#report)
  }

  #settle(topic: Topic): Promise<void> {
    const settled = topic.turn.then(() => this.#follow(topic))
    topic.turn = settled.catch(() => undefined)
    return settled
  }

  async #follow(topic: Topic): Promise<void> {
    if (this.#topics.get(topic.name) !== topic) return
    const wanted = topic.subscriptions.size > 0
    if (wanted && !topic.open) {
      await this.#source.open(topic.name)
      topic.open = true
    } else if (!wanted) {
      if (topic.open) {
        topic.open = false
        await this.#source.close(topic.name)
      }
      if (topic.subscriptions.size === 0) this.#topics.delete(topic.name)
    }
  }
}
