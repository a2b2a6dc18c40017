import type { Backplane } from '../backplane/backplane.js'
import { assertCounts, assertOptions, assertTimes } from '../options.js'
import { assertClient, type NatsClient } from './client.js'
import { NatsLink } from './link.js'
import { NatsPubSub } from './nats-pub-sub.js'
import { NatsStore } from './nats-store.js'

/** Options of {@link natsBackplane}. */
export interface NatsBackplaneOptions {
  /**
   * What the names of all subjects and streams begin with: letters, digits, `-` and `_`. Servers that share an account and nothing
   * else need one each.
   *
   * @default 'phantom'
   */
  readonly prefix?: string
  /**
   * How long a call waits for a connection, and then for each answer, in milliseconds. After that it rejects, and it is not known
   * whether NATS has carried it out.
   *
   * @default 5_000
   */
  readonly timeoutMs?: number
  /** Where streams are kept when they are made here. @default 'file' */
  readonly storage?: 'file' | 'memory'
  /** How many servers of a cluster keep a stream that is made here, 5 at most. @default 1 */
  readonly replicas?: number
  /**
   * The time in milliseconds by which everything ends, the same for all nodes.
   *
   * @default the time of the NATS server, which is asked for once a minute
   */
  readonly clock?: () => number
  /**
   * Gets what a subscription's listener throws, and what the server says against a subscription. It must not throw itself.
   *
   * @default nothing is reported
   */
  readonly onError?: (error: unknown) => void
}

const OWNER = 'natsBackplane'
const OPTIONS = ['prefix', 'timeoutMs', 'storage', 'replicas', 'clock', 'onError']

/**
 * What the nodes of one server share, in NATS 2.9 or later with JetStream. Two streams are made when they are needed and not
 * there: `<prefix>_values` and `<prefix>_logs`.
 *
 * The connection is yours, of `@nats-io/transport-node` or another transport of nats.js: you make it and close it. `close` ends
 * the subscriptions.
 *
 * @throws TypeError for a connection or an option that cannot be used.
 */
export function natsBackplane(connection: NatsClient, options: NatsBackplaneOptions = {}): Backplane {
  assertClient(connection)
  assertNatsOptions(options)
  const { prefix = 'phantom', timeoutMs = 5_000, storage = 'file', replicas = 1, clock, onError } = options
  const link = new NatsLink(connection, timeoutMs)
  const pubSub = new NatsPubSub({ link, prefix, report: (error) => onError?.(error) })
  const close = async (): Promise<void> => {
    pubSub.close()
    link.close()
  }
  const store = new NatsStore({ link, prefix, storage, replicas, clock })
  return { pubSub, store, time: () => store.time(), close }
}

function assertNatsOptions(options: NatsBackplaneOptions): void {
  assertOptions(OWNER, options, OPTIONS)
  assertTimes(OWNER, options, ['timeoutMs'])
  assertCounts(OWNER, options, ['replicas'])
  const { prefix, storage } = options
  if (prefix !== undefined && !(typeof prefix === 'string' && /^[\w-]{1,64}$/.test(prefix))) {
    throw new TypeError(`${OWNER}: prefix must be 1 to 64 letters, digits, - and _, not ${String(prefix)}`)
  }
  if (storage !== undefined && storage !== 'file' && storage !== 'memory') {
    throw new TypeError(`${OWNER}: storage must be 'file' or 'memory', not ${String(storage)}`)
  }
  for (const name of ['clock', 'onError'] as const) {
    const given: unknown = options[name]
    if (given === undefined || typeof given === 'function') continue
    throw new TypeError(`${OWNER}: ${name} must be a function, not ${typeof given}`)
  }
}
