// What the adapter uses of the two clients. They are the user's, so their packages are not imported, not even for types.

type Listener = (...args: unknown[]) => void

/** An ioredis client, of one server or of a cluster. */
export interface IoredisClient {
  readonly status: string
  readonly options: object
  evalsha(sha: string, keys: number, ...args: string[]): Promise<unknown>
  eval(script: string, keys: number, ...args: string[]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  defineCommand(name: string, definition: { lua: string }): void
  connect(): Promise<unknown>
  disconnect(): void
  on(event: string, listener: Listener): unknown
  off(event: string, listener: Listener): unknown
}

/** A node-redis client, of one server or of a cluster. */
export interface NodeRedisClient {
  readonly isOpen: boolean
  /** A cluster has it since version 6. */
  readonly isReady?: boolean
  evalSha(sha: string, options: NodeRedisArguments): Promise<unknown>
  eval(script: string, options: NodeRedisArguments): Promise<unknown>
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  connect(): Promise<unknown>
  destroy(): void
  on(event: string, listener: Listener): unknown
  off(event: string, listener: Listener): unknown
}

interface NodeRedisArguments {
  keys: string[]
  arguments: string[]
}

/** A client of `ioredis` or of `redis` (node-redis), of one server or of a cluster. */
export type RedisClient = IoredisClient | NodeRedisClient

/** The members that are typed too loosely or too differently to be part of the interfaces. */
interface Loose {
  readonly options?: { readonly keyPrefix?: unknown; readonly redisOptions?: { readonly keyPrefix?: unknown } }
  readonly duplicate?: unknown
  readonly subscribe?: unknown
}

/** @throws TypeError for what is no client, and for one that changes the names of keys. */
export function assertClient(client: unknown): asserts client is RedisClient {
  const isClient =
    typeof client === 'object' && client !== null && hasFunctions(client) && (isIoredis(client) || isNodeRedis(client))
  if (!isClient) {
    throw new TypeError(
      "redisBackplane: the first argument must be a client of ioredis or node-redis: new Redis(url) of 'ioredis', or " +
        "createClient({ url }) of 'redis', which has to be connected",
    )
  }
  const { options } = client as Loose
  if (options?.keyPrefix || options?.redisOptions?.keyPrefix) {
    throw new TypeError("redisBackplane: give it a client without keyPrefix; the backplane's own option is prefix")
  }
}

function hasFunctions(client: Loose): boolean {
  return typeof client.duplicate === 'function' && typeof client.subscribe === 'function'
}

export function isIoredis(client: object): client is IoredisClient {
  return 'evalsha' in client && 'defineCommand' in client && 'status' in client
}

function isNodeRedis(client: object): client is NodeRedisClient {
  return 'evalSha' in client && 'isOpen' in client
}
