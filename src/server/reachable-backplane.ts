import type { Backplane } from '../backplane/backplane.js'
import type { PubSub } from '../backplane/pub-sub.js'
import type { Store } from '../backplane/store.js'
import { McpError } from '../errors.js'
import type { OperatorLog } from './operator-log.js'
import { settledWithin } from './settled-within.js'

export interface ReachableOptions {
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number
  readonly log: OperatorLog
}

/** One half of the backplane: the operator hears once that it is away, and once that it is back. */
class Part {
  readonly #name: 'store' | 'pubSub'
  readonly #options: ReachableOptions
  /** What is thrown in the place of what really happened. */
  readonly #told: (cause: unknown) => unknown
  #failures = 0

  constructor(name: 'store' | 'pubSub', options: ReachableOptions, told: (cause: unknown) => unknown) {
    this.#name = name
    this.#options = options
    this.#told = told
  }

  async reached<Value>(operation: string, run: () => Promise<Value>): Promise<Value> {
    const { timeoutMs, log } = this.#options
    const part = this.#name
    try {
      const value = await settledWithin(`${part}.${operation}`, timeoutMs, run())
      if (this.#failures > 0) log.tell('backplane_recovered', { part, failures: this.#failures })
      this.#failures = 0
      return value
    } catch (error) {
      if (this.#failures === 0) log.tell('backplane_failed', { part, operation, error: nameOf(error) })
      this.#failures++
      throw this.#told(error)
    }
  }
}

/** Messages of engines may quote addresses and values; `onError` gets the whole of it. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

/** What is asked of the backplane settles in time; the store's failures are retryable errors, with what really happened as their cause. */
export function reachableBackplane(backplane: Backplane, options: ReachableOptions): Backplane {
  const { store, pubSub } = backplane
  return { ...backplane, store: reachableStore(store, options), pubSub: reachablePubSub(pubSub, options) }
}

function reachableStore(store: Store, options: ReachableOptions): Store {
  const data = { reason: 'backplane', retryable: true }
  const part = new Part('store', options, (cause) => {
    return new McpError('INTERNAL_ERROR', 'The server cannot reach its store: try again', { data, cause })
  })
  const reached = <Value>(operation: keyof Store, run: () => Promise<Value>): Promise<Value> =>
    part.reached(operation, run)
  return {
    get: (key) => reached('get', () => store.get(key)),
    set: (key, value, how) => reached('set', () => store.set(key, value, how)),
    delete: (key, ifRevision) => reached('delete', () => store.delete(key, ifRevision)),
    claim: (key, owner, ttlMs) => reached('claim', () => store.claim(key, owner, ttlMs)),
    release: (key, owner) => reached('release', () => store.release(key, owner)),
    list: (prefix) =>
      eachReached(
        () => store.list(prefix),
        (step) => reached('list', step),
      ),
    append: (log, value, how) => reached('append', () => store.append(log, value, how)),
    readAfter: (log, id, limit) => reached('readAfter', () => store.readAfter(log, id, limit)),
    drop: (log) => reached('drop', () => store.drop(log)),
  }
}

/** Each step of what is listed settles in time; one that does not ends it. */
async function* eachReached<Value>(
  list: () => AsyncIterable<Value>,
  reached: <Step>(step: () => Promise<Step>) => Promise<Step>,
): AsyncGenerator<Value> {
  const iterator = await reached(async () => list()[Symbol.asyncIterator]())
  try {
    for (;;) {
      const step = await reached(() => iterator.next())
      if (step.done === true) return
      yield step.value
    }
  } finally {
    // Not waited for: behind a step that never settles it would not settle either.
    iterator.return?.().catch(() => undefined)
  }
}

function reachablePubSub(pubSub: PubSub, options: ReachableOptions): PubSub {
  const part = new Part('pubSub', options, (cause) => cause)
  return {
    publish: (topic, message) => part.reached('publish', () => pubSub.publish(topic, message)),
    subscribe: async (topic, listener) => {
      const subscribing = pubSub.subscribe(topic, listener)
      try {
        return await part.reached('subscribe', () => subscribing)
      } catch (error) {
        // One that comes late is nobody's.
        subscribing.then((unsubscribe) => unsubscribe()).catch(() => undefined)
        throw error
      }
    },
  }
}
