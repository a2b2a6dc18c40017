import type { PubSub, TopicListener, Unsubscribe } from '../backplane/pub-sub.js'
import { Topics } from '../backplane/topics.js'
import { isIoredis, type RedisClient } from './clients.js'
import { RedisLink } from './link.js'
import type { Scripts } from './scripts.js'

interface RedisPubSubOptions {
  readonly link: RedisLink
  readonly scripts: Scripts
  readonly prefix: string
  readonly timeoutMs: number
  readonly report: (error: unknown) => void
}

interface Subscriber {
  readonly link: RedisLink
  /** A cluster of node-redis 5 says that it is open as soon as it begins to be. */
  readonly opened: Promise<unknown>
}

/** A {@link PubSub} over Redis. A connection that is subscribed can do little else, so it is a second one. */
export class RedisPubSub implements PubSub {
  readonly #options: RedisPubSubOptions
  readonly #prefix: string
  readonly #topics: Topics
  #subscriber: Subscriber | undefined
  #closed = false

  constructor(options: RedisPubSubOptions) {
    this.#options = options
    this.#prefix = `${options.prefix}t:`
    this.#topics = new Topics(
      { open: (topic) => this.#open(topic), close: (topic) => this.#close(topic) },
      options.report,
    )
  }

  async publish(topic: string, message: string): Promise<void> {
    await this.#options.scripts.publish(this.#prefix + topic, message)
  }

  async subscribe(topic: string, listener: TopicListener): Promise<Unsubscribe> {
    if (this.#closed) throw new Error('redisBackplane: it was closed')
    return await this.#topics.subscribe(topic, listener)
  }

  /** Ends every subscription, and the connection that was made for them. */
  close(): void {
    this.#closed = true
    this.#topics.clear()
    const client = this.#subscriber?.link.client
    if (client === undefined) return
    if (isIoredis(client)) client.disconnect()
    else if (client.isOpen) client.destroy()
  }

  async #open(topic: string): Promise<void> {
    const channel = this.#prefix + topic
    const { link, opened } = this.#connection()
    await link.call(async (client) => {
      await opened
      if (isIoredis(client)) await client.subscribe(channel)
      else await client.subscribe(channel, (message) => this.#topics.deliver(topic, message))
    })
  }

  async #close(topic: string): Promise<void> {
    const channel = this.#prefix + topic
    await this.#connection().link.call((client) => client.unsubscribe(channel))
  }

  #connection(): Subscriber {
    this.#subscriber ??= this.#connect()
    return this.#subscriber
  }

  #connect(): Subscriber {
    const { report, timeoutMs } = this.#options
    const client = (this.#options.link.client as RedisClient & { duplicate(): RedisClient }).duplicate()
    client.on('error', report)
    const link = new RedisLink(client, timeoutMs)
    if (isIoredis(client)) {
      client.on('message', (channel, message) => {
        this.#topics.deliver(String(channel).slice(this.#prefix.length), String(message))
      })
      return { link, opened: Promise.resolve() }
    }
    const opened = client.connect()
    opened.catch((error: unknown) => {
      // It has given up. Whoever subscribes next begins with another one.
      if (this.#subscriber?.link === link) this.#subscriber = undefined
      report(error)
    })
    return { link, opened }
  }
}
