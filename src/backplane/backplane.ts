import type { PubSub } from './pub-sub.js'
import type { Store } from './store.js'

/** What the nodes of one server share: a doorbell and the truth. One process alone has `memoryBackplane()`. */
export interface Backplane {
  readonly pubSub: PubSub
  readonly store: Store
  /** It ends with this process: no other node has a part in it. */
  readonly local?: true
  /** Lets go of what the backplane itself has opened; a client that it was given stays open. Nothing is used afterwards. */
  close?(): Promise<void>
  /**
   * The time in milliseconds by which things end here, the same for all nodes. A server goes by it where it has no `clock` of its own;
   * without it nodes go by their own clocks, which have to agree.
   */
  time?(): Promise<number>
}
