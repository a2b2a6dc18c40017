import type { Backplane } from './backplane.js'
import { MemoryPubSub } from './memory-pub-sub.js'
import { MemoryStore } from './memory-store.js'

/** Options of {@link memoryBackplane}. */
export interface MemoryBackplaneOptions {
  /** The time in milliseconds by which values, leases and logs end. @default Date.now */
  readonly clock?: () => number
  /** Gets what a subscription's listener throws. @default nothing is reported */
  readonly onError?: (error: unknown) => void
}

/**
 * The backplane of one process: what it holds is gone with the process. Servers of one process may share it; then they behave
 * like nodes of one cluster. `close` forgets everything and ends every subscription.
 */
export function memoryBackplane(options: MemoryBackplaneOptions = {}): Backplane {
  const store = new MemoryStore(options)
  const pubSub = new MemoryPubSub(options)
  return {
    pubSub,
    store,
    local: true,
    close: async () => {
      store.clear()
      pubSub.clear()
    },
  }
}
