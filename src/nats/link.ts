import { within } from '../backplane/within.js'
import type { NatsClient, NatsMessage } from './client.js'

/** One message of up to this size is small enough for every server whose limits are the default ones, and for its own overhead. */
const WHOLE_BYTES = 512 * 1024
const OVERHEAD_BYTES = 4 * 1024

/**
 * Calls over one connection that wait for an answer no longer than `timeoutMs`, and for the connection if it is lost. The client
 * itself would keep what it is told meanwhile, without a bound.
 */
export class NatsLink {
  readonly client: NatsClient
  readonly timeoutMs: number
  readonly #status: AsyncIterable<{ readonly type: string }>
  /** While the connection is lost. */
  #back: PromiseWithResolvers | undefined

  constructor(client: NatsClient, timeoutMs: number) {
    this.client = client
    this.timeoutMs = timeoutMs
    this.#status = client.status()
    if (client.info === undefined) this.#back = withResolvers()
    void this.#follow()
  }

  /** How much one message may carry. */
  get wholeBytes(): number {
    return Math.min(WHOLE_BYTES, (this.client.info?.max_payload ?? WHOLE_BYTES * 2) - OVERHEAD_BYTES)
  }

  async request(subject: string, payload?: Uint8Array, headers?: object): Promise<Uint8Array> {
    await this.#connected()
    try {
      const options = { timeout: this.timeoutMs, ...(headers && { headers }) }
      return (await this.client.request(subject, payload, options)).data
    } catch (cause) {
      throw requestError(cause, this.timeoutMs)
    }
  }

  /** The answers to a request that has so many; fewer when they take too long. */
  async requestMany(subject: string, payload: Uint8Array, count: number): Promise<AsyncIterable<NatsMessage>> {
    await this.#connected()
    // An inbox of its own: messages of a stream keep their subjects, by which a shared inbox would not know them.
    const options = { strategy: 'count', maxMessages: count, maxWait: this.timeoutMs, noMux: true } as const
    return await this.client.requestMany(subject, payload, options)
  }

  /** Resolves when the server has taken all of them. Calls keep the order in which they were begun. */
  async publish(subject: string, payloads: readonly Uint8Array[]): Promise<void> {
    if (this.#back !== undefined || this.client.isClosed()) await this.#connected()
    for (const payload of payloads) this.client.publish(subject, payload)
    await this.flush()
  }

  /** Resolves when the server has taken all that was said before. */
  async flush(): Promise<void> {
    await this.#connected()
    await within(this.timeoutMs, this.client.flush(), () => new Error(`NATS: no answer within ${this.timeoutMs} ms`))
  }

  /** No longer looks after the connection, which stays as it is. */
  close(): void {
    const { stop } = this.#status as { stop?(): void }
    stop?.call(this.#status)
  }

  async #connected(): Promise<void> {
    if (this.client.isClosed()) throw new Error('The NATS connection is closed')
    const back = this.#back?.promise
    if (back !== undefined) {
      await within(this.timeoutMs, back, () => new Error(`NATS: no connection within ${this.timeoutMs} ms`))
    }
  }

  async #follow(): Promise<void> {
    for await (const { type } of this.#status) {
      if (type === 'disconnect') this.#back ??= withResolvers()
      if (type !== 'reconnect') continue
      this.#back?.resolve()
      this.#back = undefined
    }
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>
  resolve(): void
}

/** `Promise.withResolvers` came with Node 22. */
function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

function requestError(cause: unknown, timeoutMs: number): Error {
  const name = cause instanceof Error ? `${cause.name} ${cause.message}` : ''
  if (/no ?responders|503/i.test(name)) {
    return new Error('NATS: no JetStream answers: start nats-server with -js, and give the account JetStream', {
      cause,
    })
  }
  if (/timeout/i.test(name)) return new Error(`NATS: no answer within ${timeoutMs} ms`, { cause })
  return new Error('NATS: the request failed', { cause })
}
