import type { PubSub, TopicListener, Unsubscribe } from '../backplane/pub-sub.js'
import { quietTimer } from '../options.js'

export interface StandingSubscriptionOptions {
  readonly pubSub: PubSub
  readonly topic: string
  readonly listener: TopicListener
  /** Milliseconds between two tries. */
  readonly retryMs?: number
  readonly report: (error: unknown) => void
}

const RETRY_MS = 5_000

/** A subscription for as long as the server lives. It is tried again where the backplane was away when the server began. */
export class StandingSubscription {
  /** Resolves when it has been tried once. Never rejects. */
  readonly tried: Promise<void>
  readonly #options: StandingSubscriptionOptions
  #unsubscribe: Unsubscribe | undefined
  #trying = false
  #timer: ReturnType<typeof setInterval> | undefined
  #ended = false

  constructor(options: StandingSubscriptionOptions) {
    this.#options = options
    this.tried = this.#try().catch((error: unknown) => {
      options.report(error)
      if (!this.#ended) this.#timer = quietTimer(() => this.#tryAgain(), options.retryMs ?? RETRY_MS)
    })
  }

  /** Never rejects. */
  async end(): Promise<void> {
    this.#ended = true
    clearInterval(this.#timer)
    await this.tried
    await this.#leave()
  }

  async #try(): Promise<void> {
    const { pubSub, topic, listener } = this.#options
    this.#unsubscribe = await pubSub.subscribe(topic, listener)
  }

  /** That it fails was reported the first time. */
  #tryAgain(): void {
    if (this.#trying) return
    this.#trying = true
    this.#try()
      .then(() => {
        clearInterval(this.#timer)
        if (this.#ended) void this.#leave()
      })
      .catch(() => undefined)
      .finally(() => {
        this.#trying = false
      })
  }

  async #leave(): Promise<void> {
    await this.#unsubscribe?.().catch(this.#options.report)
  }
}
