import { within } from '../backplane/within.js'
import { isIoredis, type RedisClient } from './clients.js'

/**
 * Calls of one client that wait for an answer no longer than `timeoutMs`.
 *
 * A client without a connection queues its commands, for as long as it takes. Here they wait for the connection instead, so
 * that one that was given up is not carried out later.
 */
export class RedisLink<Client extends RedisClient = RedisClient> {
  readonly client: Client
  readonly #timeoutMs: number
  #connection: Promise<void> | undefined

  constructor(client: Client, timeoutMs: number) {
    this.client = client
    this.#timeoutMs = timeoutMs
  }

  /** Calls in the order in which they were begun. */
  async call<Value>(run: (client: Client) => Promise<Value>): Promise<Value> {
    if (!this.#isReady()) {
      if (this.#isEnded())
        throw new Error('The Redis client is not connected: it was closed, or connect was not called')
      await within(this.#timeoutMs, this.#connected(), () => this.#late('no connection'))
    }
    return await within(this.#timeoutMs, run(this.client), () => this.#late('no answer'))
  }

  #isReady(): boolean {
    const client: RedisClient = this.client
    return isIoredis(client) ? client.status === 'ready' : (client.isReady ?? client.isOpen)
  }

  #isEnded(): boolean {
    const client: RedisClient = this.client
    return isIoredis(client) ? client.status === 'end' : !client.isOpen
  }

  #connected(): Promise<void> {
    // One listener for all who wait: a client warns of a leak when it has more than ten.
    this.#connection ??= new Promise<void>((resolve) => {
      // A cluster of node-redis says only that it has connected.
      const events = ['ready', 'connect']
      const look = (): void => {
        if (!this.#isReady()) return
        for (const event of events) this.client.off(event, look)
        this.#connection = undefined
        resolve()
      }
      for (const event of events) this.client.on(event, look)
      this.#connectLazily()
    })
    return this.#connection
  }

  /** A client with `lazyConnect` connects with its first command. */
  #connectLazily(): void {
    const client: RedisClient = this.client
    if (isIoredis(client) && client.status === 'wait') client.connect().catch(() => undefined)
  }

  #late(what: string): Error {
    return new Error(`Redis: ${what} within ${this.#timeoutMs} ms`)
  }
}
