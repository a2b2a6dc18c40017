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
}
