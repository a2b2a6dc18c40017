// What the adapter uses of the client. It is the user's, so its package is not imported, not even for types.

export interface NatsMessage {
  readonly subject: string
  readonly data: Uint8Array
  readonly reply?: string
}

/** A connection of `@nats-io/transport-node`, or of another transport of nats.js. */
export interface NatsClient {
  /** What the server says of itself; nothing while there is no connection. */
  readonly info?: { readonly max_payload: number } | undefined
  publish(subject: string, payload?: Uint8Array): void
  subscribe(
    subject: string,
    options: { callback(error: Error | null, message: NatsMessage): void },
  ): { unsubscribe(): void }
  request(subject: string, payload?: Uint8Array, options?: NatsRequestOptions): Promise<NatsMessage>
  requestMany(subject: string, payload: Uint8Array, options: object): Promise<AsyncIterable<NatsMessage>>
  flush(): Promise<void>
  isClosed(): boolean
  status(): AsyncIterable<{ readonly type: string }>
}

interface NatsRequestOptions {
  timeout: number
  headers?: object
}

/** @throws TypeError for what is no connection. */
export function assertClient(client: unknown): asserts client is NatsClient {
  const members = ['publish', 'subscribe', 'request', 'requestMany', 'flush', 'isClosed', 'status']
  const isClient =
    typeof client === 'object' &&
    client !== null &&
    members.every((name) => typeof (client as Record<string, unknown>)[name] === 'function')
  if (isClient) return
  throw new TypeError(
    "natsBackplane: the first argument must be a connection of nats.js: await connect({ servers }) of '@nats-io/transport-node'",
  )
}

/** Headers as the client writes them. A connection gives no way to make its own, and a name and a number need no escapes. */
export function headersOf(name: string, value: number): object {
  const bytes = new TextEncoder().encode(`NATS/1.0\r\n${name}: ${value}\r\n\r\n`)
  return { encode: () => bytes }
}
