import type { PubSub, TopicListener, Unsubscribe } from './pub-sub.js'

/** Options of {@link MemoryPubSub}. */
export interface MemoryPubSubOptions {
  /** Gets what a listener throws. It must not throw itself. @default nothing is reported */
  readonly onError?: (error: unknown) => void
}

interface Subscription {
  readonly listener: TopicListener
  active: boolean
}

/**
 * A {@link PubSub} within one process. Those who are subscribed when a message is published hear it in a microtask of their
 * own; no one hears anything once `unsubscribe` was called.
 */
export class MemoryPubSub implements PubSub {
  readonly #onError: ((error: unknown) => void) | undefined
  readonly #topics = new Map<string, Set<Subscription>>()

  constructor(options: MemoryPubSubOptions = {}) {
    this.#onError = options.onError
  }

  /**
   * How many topics have subscriptions.
   *
   * @internal
   */
  get size(): number {
    return this.#topics.size
  }

  async publish(topic: string, message: string): Promise<void> {
    for (const subscription of this.#topics.get(topic) ?? []) {
      queueMicrotask(() => this.#deliver(subscription, message))
    }
  }

  async subscribe(topic: string, listener: TopicListener): Promise<Unsubscribe> {
    const subscription: Subscription = { listener, active: true }
    const subscriptions = this.#topics.get(topic) ?? new Set()
    this.#topics.set(topic, subscriptions.add(subscription))
    return async () => this.#end(topic, subscription)
  }

  /** Ends every subscription. */
  clear(): void {
    for (const [topic, subscriptions] of [...this.#topics]) {
      for (const subscription of [...subscriptions]) this.#end(topic, subscription)
    }
  }

  #deliver(subscription: Subscription, message: string): void {
    if (!subscription.active) return
    try {
      subscription.listener(message)
    } catch (error) {
      this.#onError?.(error)
    }
  }

  #end(topic: string, subscription: Subscription): void {
    subscription.active = false
    const subscriptions = this.#topics.get(topic)
    // A second end may find a later subscription's set here, which this one is not in.
    if (subscriptions?.delete(subscription) && subscriptions.size === 0) this.#topics.delete(topic)
  }
}
