import { isPromise } from '../awaitable.js'
import type { Failure } from '../errors.js'
import { codecOf } from '../protocol/codecs.js'
import { boundDepth, type ParsedJson, parseJson } from '../protocol/json.js'
import { isObject, type Message, parseMessage, type RequestId, type RequestMessage } from '../protocol/jsonrpc.js'
import { METHODS as SESSION_METHODS } from '../protocol/legacy/methods.js'
import { isEnveloped, readEnvelope } from '../protocol/modern/envelope.js'
import { ASSUMED_SESSION_VERSION } from '../protocol/versions.js'
import type { Access } from '../router/access.js'
import { Client } from '../server/client.js'
import { type Answer, refuse } from '../server/dispatch.js'
import type { Exchange } from '../server/exchange.js'
import { notified } from '../server/receive.js'
import { RunningCalls } from '../server/running-calls.js'
import type { Listening, Server } from '../server/server.js'

/** Sends one message; a promise means that the channel is full, and resolves when it took the message. */
export type Send = (message: string) => Promise<void> | undefined

export interface ConnectionOptions {
  readonly maxDepth: number
  /** What `connect` left behind; undefined without it. */
  readonly access: Access | undefined
  /** Where messages wait for a client that does not read; undefined where none can wait. */
  readonly pipe?: Pipe
}

/** A channel that fills up when its client does not read. */
export interface Pipe {
  /** Whether so much waits that nothing but answers is added. */
  readonly overfull: boolean
  /** Resolves when what waits has been read, or nobody is left to read it. */
  room(): Promise<void>
}

const MODERN = codecOf('2026-07-28')
/** Messages in one array of 2025-03-26. */
const MAX_BATCH = 100

/** Whether a message says in itself that it belongs to no session. */
function standsAlone(value: unknown): boolean {
  const params = isObject(value) ? value['params'] : undefined
  return isObject(params) && isEnveloped(params)
}

/**
 * A client at the other end of a pipe, of any version: requests that stand alone and one session of the older versions
 * share it. Nothing that comes in makes it throw.
 */
export class Connection implements Exchange {
  readonly canStream = true
  readonly shared = true
  readonly #server: Server
  readonly #send: Send
  readonly #maxDepth: number
  readonly #access: Access | undefined
  readonly #calls = new RunningCalls()
  /** The client of versions that begin with `initialize`; one that never sends it is served as the version says. */
  readonly #session: Client
  #initialized = false
  #listening: Listening | undefined
  readonly #pipe: Pipe | undefined
  /** Messages that the client has missed because it did not read. */
  #missed = 0
  readonly #pending = new Set<PromiseLike<unknown>>()

  constructor(server: Server, send: Send, { maxDepth, access, pipe }: ConnectionOptions) {
    this.#server = server
    this.#send = send
    this.#maxDepth = maxDepth
    this.#access = access
    this.#pipe = pipe
    this.#session = new Client(codecOf(ASSUMED_SESSION_VERSION), { calls: this.#calls, reachable: true })
  }

  send(message: string): Promise<void> | undefined {
    return this.deaf ? this.#drop() : this.#send(message)
  }

  get deaf(): boolean {
    return this.#pipe?.overfull === true
  }

  /** Whoever cares waits until the client reads again. */
  async #drop(): Promise<void> {
    const { log } = this.#server
    if (this.#missed++ === 0) {
      log.tell('pipe_full')
      void this.#pipe?.room().then(() => {
        log.tell('pipe_read', { dropped: this.#missed })
        this.#missed = 0
        this.#listening?.missed()
      })
    }
    await this.#pipe?.room()
  }

  receiveText(text: string): void {
    this.#receive(parseJson(text, this.#maxDepth))
  }

  receiveValue(value: unknown): void {
    this.#receive(boundDepth(value, this.#maxDepth))
  }

  /** Answers what could not be read at all. */
  refuse(failure: Failure, id?: RequestId): void {
    const codec = this.#initialized ? this.#session.codec : MODERN
    void this.#send(String(refuse(codec, id, failure).body))
  }

  /** Resolves when every request that came has its answer. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
  }

  /** Nothing more will come: calls that wait for answers of the client end, others run on. */
  inputEnded(): void {
    this.#session.gone()
    this.#server.clientGone(this)
  }

  /** Ends the running calls; what they would answer is not sent. */
  close(): void {
    this.inputEnded()
    this.#listening?.stop()
    this.#calls.cancelAll('The connection was closed')
  }

  #receive(parsed: ParsedJson): void {
    if (!parsed.ok) return this.refuse(parsed.failure, parsed.id)
    if (Array.isArray(parsed.value)) return this.#receiveBatch(parsed.value)
    this.#whenReady(this.#serve(parseMessage(parsed.value)), (answer) => void this.#send(String(answer.body)))
  }

  /** 2025-03-26 basic, Batching: the answers go back in one array. */
  #receiveBatch(batch: readonly unknown[]): void {
    const { codec } = this.#session
    const allowed = codec.batches && batch.length > 0 && batch.length <= MAX_BATCH && !batch.some(standsAlone)
    if (!allowed) return this.refuse({ code: 'INVALID_REQUEST', message: 'A message must be a JSON object' })
    const answers = batch.map((item) => {
      const message = parseMessage(item)
      const isFirst = message.kind === 'request' && message.method === 'initialize'
      const failure = { code: 'INVALID_REQUEST', message: 'initialize must not be part of an array' } as const
      return isFirst ? refuse(codec, message.id, failure) : this.#serve(message)
    })
    this.#whenReady(Promise.all(answers), (settled) => {
      const bodies = settled.filter((answer) => answer !== undefined).map(({ body }) => body)
      if (bodies.length > 0) void this.#send(`[${bodies.map(String).join(',')}]`)
    })
  }

  #serve(message: Message): Answer | undefined | PromiseLike<Answer | undefined> {
    switch (message.kind) {
      case 'invalid':
        return refuse(this.#initialized ? this.#session.codec : MODERN, message.id, message.failure)
      case 'response':
        void this.#session.answered(message)
        return undefined
      case 'notification':
        notified(this.#session, message)
        return undefined
      case 'request':
        return isEnveloped(message.params) ? this.#serveModern(message) : this.#serveSession(message)
    }
  }

  #serveModern(request: RequestMessage): Answer | PromiseLike<Answer | undefined> | undefined {
    if (!MODERN.methods.has(request.method) && SESSION_METHODS.has(request.method)) {
      return refuse(MODERN, request.id, { code: 'METHOD_NOT_FOUND', message: `Method not found: ${request.method}` })
    }
    const envelope = readEnvelope(request)
    if ('code' in envelope) return refuse(MODERN, request.id, envelope)
    const { clientInfo: info, clientCapabilities: capabilities, logLevel } = envelope
    return this.#server.serve(
      request,
      {
        client: new Client(MODERN, { info, capabilities, logLevel, reachable: true, calls: this.#calls }),
        access: this.#access?.fork(),
      },
      this,
    )
  }

  #serveSession(request: RequestMessage): Answer | PromiseLike<Answer | undefined> | undefined {
    if (request.method !== 'initialize')
      return this.#server.serve(request, { client: this.#session, access: this.#access?.fork() }, this)
    if (this.#initialized) {
      const failure = { code: 'INVALID_REQUEST', message: 'This session is initialized already' } as const
      return refuse(this.#session.codec, request.id, failure)
    }
    const answer = this.#server.serve(request, { client: this.#session, access: this.#access?.fork() }, this)
    if (!isPromise(answer)) this.#markInitialized(answer)
    else void answer.then((late) => this.#markInitialized(late))
    return answer
  }

  #markInitialized(answer: Answer | undefined): void {
    if (this.#initialized || answer === undefined || answer.failure !== undefined) return
    this.#initialized = true
    this.#listening = this.#server.listen(this.#session, this.#access, (message) => void this.send(message))
  }

  #whenReady<Value>(value: Value | PromiseLike<Value>, use: (value: NonNullable<Value>) => void): void {
    if (!isPromise(value)) {
      if (value !== undefined && value !== null) use(value)
      return
    }
    const pending = value.then(
      (ready) => {
        if (ready !== undefined && ready !== null) use(ready)
        this.#pending.delete(pending)
      },
      (error: unknown) => {
        this.#server.report(error)
        this.#pending.delete(pending)
      },
    )
    this.#pending.add(pending)
  }
}
