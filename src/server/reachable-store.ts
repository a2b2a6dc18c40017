import type { Store } from '../backplane/store.js'
import { McpError } from '../errors.js'

/** What a client is told when the nodes' store cannot be reached: the same request may succeed a little later. */
async function reached<Value>(operation: () => Promise<Value>): Promise<Value> {
  try {
    return await operation()
  } catch (cause) {
    const data = { reason: 'backplane', retryable: true }
    throw new McpError('INTERNAL_ERROR', 'The server cannot reach its store: try again', { data, cause })
  }
}

/** A store whose failures are retryable errors, with what really happened as their cause. */
export function reachableStore(store: Store): Store {
  return {
    get: (key) => reached(() => store.get(key)),
    set: (key, value, options) => reached(() => store.set(key, value, options)),
    delete: (key, ifRevision) => reached(() => store.delete(key, ifRevision)),
    claim: (key, owner, ttlMs) => reached(() => store.claim(key, owner, ttlMs)),
    release: (key, owner) => reached(() => store.release(key, owner)),
    list: (prefix) => store.list(prefix),
    append: (log, value, options) => reached(() => store.append(log, value, options)),
    readAfter: (log, id, limit) => reached(() => store.readAfter(log, id, limit)),
    drop: (log) => reached(() => store.drop(log)),
  }
}
