import type { Backplane } from '../backplane/backplane.js'
import { assertOptions, assertTimes } from '../options.js'
import { assertClient, type RedisClient } from './clients.js'
import { RedisLink } from './link.js'
import { RedisPubSub } from './redis-pub-sub.js'
import { RedisStore } from './redis-store.js'
import { Scripts } from './scripts.js'

/** Options of {@link redisBackplane}. */
export interface RedisBackplaneOptions {
  /** What the names of all keys and channels begin with; servers that share a Redis and nothing else need one each. @default 'phantom:' */
  readonly prefix?: string
  /**
   * How long a call waits for a connection, and then for an answer, in milliseconds. After that it rejects, and it is not known
   * whether Redis has carried it out.
   *
   * @default 5_000
   */
  readonly timeoutMs?: number
  /**
   * Gets what a subscription's listener throws, and errors of the connection that subscriptions have. It must not throw itself.
   *
   * @default nothing is reported
   */
  readonly onError?: (error: unknown) => void
}

const OWNER = 'redisBackplane'

/**
 * What the nodes of one server share, in Redis 5 or later, a cluster included.
 *
 * The client is yours, of `ioredis` or `redis` (node-redis): you connect it, listen to its `error` events and close it. A second
 * connection like it is made for subscriptions when there is the first one, and closed by `close`.
 *
 * @throws TypeError for a client or an option that cannot be used.
 */
export function redisBackplane(client: RedisClient, options: RedisBackplaneOptions = {}): Backplane {
  assertClient(client)
  assertOptions(OWNER, options, ['prefix', 'timeoutMs', 'onError'])
  assertTimes(OWNER, options, ['timeoutMs'])
  const { prefix = 'phantom:', timeoutMs = 5_000, onError } = options
  if (typeof prefix !== 'string') throw new TypeError(`${OWNER}: prefix must be a string, not ${typeof prefix}`)
  if (onError !== undefined && typeof onError !== 'function') {
    throw new TypeError(`${OWNER}: onError must be a function, not ${typeof onError}`)
  }
  const link = new RedisLink(client, timeoutMs)
  const shared = { link, scripts: new Scripts(link), prefix, timeoutMs }
  const pubSub = new RedisPubSub({ ...shared, report: (error) => onError?.(error) })
  const store = new RedisStore(shared)
  return { pubSub, store, time: () => store.time(), close: async () => pubSub.close() }
}
