/** Hears the messages of one topic, one after the other. It returns at once: whatever takes time is started, not awaited. */
export type TopicListener = (message: string) => void

/** Ends one subscription. Calling it again does nothing. */
export type Unsubscribe = () => Promise<void>

/**
 * A doorbell between the nodes: it says that something happened, the {@link Store} says what. Delivery is at most once. What
 * must not be lost is appended to a log first and rung afterwards, and whoever waits for it also looks now and then.
 *
 * Topics and messages are any strings, messages of 8 MiB included; a topic is a name and never a pattern.
 */
export interface PubSub {
  /**
   * Rings every subscription of the topic, on every node, the publisher's own included. Resolves when the engine has taken
   * the message, which says nothing about who has heard it; no listener runs before this call returns. What one node
   * publishes to a topic arrives in the order of the calls.
   *
   * Rejects when the engine cannot be reached; the message may have been heard all the same.
   */
  publish(topic: string, message: string): Promise<void>

  /**
   * Resolves when everything that any node publishes from then on is delivered, also when another subscription of the topic
   * is still on its way. Each call is a subscription of its own, even with the same listener.
   *
   * A listener that throws stops neither the other listeners nor its own next messages; the implementation reports the error
   * to its `onError`. Once the returned function has resolved the listener is not called any more; it may be called from
   * within the listener.
   *
   * A lost connection ends no subscription: it comes back with the connection, and what was published in between is lost.
   * Rejects when the engine cannot be reached.
   */
  subscribe(topic: string, listener: TopicListener): Promise<Unsubscribe>
}
