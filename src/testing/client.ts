import type {
  ClientCapabilities,
  ContentBlock,
  Implementation,
  LogLevel,
  ProgressToken,
  PromptMessage,
  ResourceContents,
} from '../protocol/model.js'
import { isSessionVersion, type ProtocolVersion } from '../protocol/versions.js'
import { type AnswerOptions, Answers } from './answers.js'
import type { Members } from './members.js'
import type { Wire, WireMessage } from './wire.js'

/** How a test client presents itself. */
export interface ClientOptions extends AnswerOptions {
  /** The version that it speaks. @default '2026-07-28' */
  readonly protocol?: ProtocolVersion
  readonly clientInfo?: Implementation
  /** What it can do besides what it answers. */
  readonly capabilities?: ClientCapabilities
  /** The least level of logs that it wants; none when not given. */
  readonly logLevel?: LogLevel
}

/** How one request is made. */
export interface RequestOptions {
  /** Asks for progress under this token; progress is found in the client's `notifications`. */
  readonly progressToken?: ProgressToken
  /** More members of `_meta`. */
  readonly meta?: Members
  /** Cancels the request, as the version and the wire do it. */
  readonly signal?: AbortSignal
}

/** What the server answered instead of a result. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(error: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(error.message)
    this.code = error.code
    this.data = error.data
  }
}

/** What `tools/call` gave. */
export interface CallToolResult extends Members {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}
/** What `prompts/get` gave. */
export interface GetPromptResult extends Members {
  readonly description?: string
  readonly messages: readonly PromptMessage[]
}
/** What `resources/read` gave. */
export interface ReadResourceResult extends Members {
  readonly contents: readonly ResourceContents[]
}
/** What `completion/complete` gave. */
export interface CompleteResult extends Members {
  readonly completion: { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean }
}
/** One page of a list. */
export interface ListResult extends Members {
  readonly nextCursor?: string
}

interface Pending {
  resolve(result: Members): void
  reject(error: Error): void
}

type Questions = Readonly<Record<string, Members>>

/** Rounds of one request. */
const MAX_ROUNDS = 10
const META = 'io.modelcontextprotocol/'

/** A client for tests, over any wire and in any version: what it gets back is what the wire carried. */
export class TestClient {
  readonly protocol: ProtocolVersion
  /** Every notification of the server, in order. */
  readonly notifications: WireMessage[] = []
  /** What `initialize` answered, where the version has it. */
  initialized: Members | undefined
  /** Every request of the server, in order: those that the options have an answer to are answered. */
  readonly requests: WireMessage[] = []
  readonly #wire: Wire
  readonly #answers: Answers
  readonly #options: ClientOptions
  readonly #pending = new Map<unknown, Pending>()
  #nextId = 1

  private constructor(wire: Wire, options: ClientOptions) {
    this.#wire = wire
    this.#options = options
    this.#answers = new Answers(options)
    this.protocol = options.protocol ?? '2026-07-28'
  }

  /** Opens the wire, and begins a session where the version has them. */
  static async connect(wire: Wire, options: ClientOptions = {}): Promise<TestClient> {
    const client = new TestClient(wire, options)
    await wire.open((message) => client.#receive(message), client.protocol)
    if (isSessionVersion(client.protocol)) await client.#initialize()
    return client
  }

  /** Calls a tool. @throws RpcError when the server answers with an error. */
  async callTool(name: string, args?: Members, options?: RequestOptions): Promise<CallToolResult> {
    const params = args === undefined ? { name } : { name, arguments: args }
    return (await this.request('tools/call', params, options)) as CallToolResult
  }

  /** Gets a prompt. @throws RpcError when the server answers with an error. */
  async getPrompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<GetPromptResult> {
    const params = args === undefined ? { name } : { name, arguments: args }
    return (await this.request('prompts/get', params, options)) as GetPromptResult
  }

  /** Reads a resource. @throws RpcError when the server answers with an error. */
  async readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult> {
    return (await this.request('resources/read', { uri }, options)) as ReadResourceResult
  }

  /** Completes an argument of a prompt, `{ prompt }`, or a variable of a resource template, `{ resource }`. */
  async complete(
    of: { readonly prompt: string } | { readonly resource: string },
    argument: { readonly name: string; readonly value: string },
    context?: Readonly<Record<string, string>>,
  ): Promise<CompleteResult> {
    const ref = 'prompt' in of ? { type: 'ref/prompt', name: of.prompt } : { type: 'ref/resource', uri: of.resource }
    const filled = context === undefined ? {} : { context: { arguments: context } }
    return (await this.request('completion/complete', { ref, argument, ...filled })) as CompleteResult
  }

  /** One page of a list; the next one with its `nextCursor`. */
  async list(what: 'tools' | 'prompts' | 'resources' | 'resources/templates', cursor?: string): Promise<ListResult> {
    return await this.request(`${what}/list`, cursor === undefined ? {} : { cursor })
  }

  /**
   * Any request. Where the server asks by rounds, they are answered as the options say; what they have no answer to comes back as
   * it is. @throws RpcError when the server answers with an error; Error after ten rounds.
   */
  async request(method: string, params: Members = {}, options: RequestOptions = {}): Promise<Members> {
    let result = await this.#once(method, params, options)
    for (let round = 1; this.#canAnswer(result); round++) {
      if (round > MAX_ROUNDS) throw new Error(`${method}: the server has asked more than ${MAX_ROUNDS} times`)
      const { requestState, inputRequests } = result as { requestState?: string; inputRequests?: Questions }
      const inputResponses = await this.#answerAll(inputRequests ?? {})
      const state = requestState === undefined ? {} : { requestState }
      result = await this.#once(method, { ...params, inputResponses, ...state }, options)
    }
    return result
  }

  async #once(method: string, params: Members, options: RequestOptions): Promise<Members> {
    return await this.requestAs(this.#nextId++, { method, params }, options)
  }

  #canAnswer({ resultType, inputRequests }: Members): boolean {
    if (resultType !== 'input_required') return false
    return Object.values((inputRequests ?? {}) as Questions).every(({ method }) => this.#answers.knows(method))
  }

  async #answerAll(questions: Questions): Promise<Members> {
    const answers: Record<string, unknown> = {}
    for (const [key, question] of Object.entries(questions)) answers[key] = await this.#answers.answer(question, key)
    return answers
  }

  /** A request under an id of your own. */
  requestAs(
    id: unknown,
    { method, params = {} }: { readonly method: string; readonly params?: Members },
    options: RequestOptions = {},
  ): Promise<Members> {
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      options.signal?.addEventListener('abort', () => void this.#cancel(id, reject), { once: true })
      const sent = this.#wire.send({ jsonrpc: '2.0', id, method, params: this.#withMeta(params, options) })
      Promise.resolve(sent).catch(reject)
    })
  }

  /** Sends a notification. */
  async notify(method: string, params: Members = {}): Promise<void> {
    await this.#wire.send({ jsonrpc: '2.0', method, params })
  }

  /** Sends anything at all, for what no honest client would send. */
  async sendRaw(message: WireMessage): Promise<void> {
    await this.#wire.send(message)
  }

  /** Parameters of the notifications of one method. */
  notified(method: string): Members[] {
    return this.notifications.filter((message) => message['method'] === method).map(({ params }) => params as Members)
  }

  /** Closes the wire. */
  async close(): Promise<void> {
    await this.#wire.close()
  }

  async #initialize(): Promise<void> {
    const { clientInfo = { name: 'test', version: '1.0.0' }, logLevel } = this.#options
    const { protocol: protocolVersion } = this
    const capabilities = this.#capabilities
    this.initialized = await this.request('initialize', { protocolVersion, clientInfo, capabilities })
    await this.notify('notifications/initialized')
    if (logLevel !== undefined) await this.request('logging/setLevel', { level: logLevel })
  }

  async #cancel(id: unknown, reject: (error: Error) => void): Promise<void> {
    if (!this.#pending.delete(id)) return
    reject(new DOMException('The request was cancelled', 'AbortError'))
    await this.notify('notifications/cancelled', { requestId: id })
  }

  async #answer(request: WireMessage): Promise<void> {
    this.requests.push(request)
    const { id, method } = request
    if (method !== 'ping' && !this.#answers.knows(method)) return
    try {
      const result = method === 'ping' ? {} : await this.#answers.answer(request)
      await this.#wire.send({ jsonrpc: '2.0', id, result })
    } catch (error) {
      await this.#wire.send({ jsonrpc: '2.0', id, error: { code: -32603, message: String(error) } })
    }
  }

  #withMeta(params: Members, { progressToken, meta }: RequestOptions): Members {
    const own = isSessionVersion(this.protocol) ? {} : this.#envelope()
    const token = progressToken === undefined ? {} : { progressToken }
    const all = { ...own, ...token, ...(params['_meta'] as Members | undefined), ...meta }
    return Object.keys(all).length === 0 ? params : { ...params, _meta: all }
  }

  get #capabilities(): ClientCapabilities {
    return { ...this.#answers.capabilities, ...this.#options.capabilities }
  }

  #envelope(): Members {
    const { clientInfo, logLevel } = this.#options
    return {
      [`${META}protocolVersion`]: this.protocol,
      [`${META}clientCapabilities`]: this.#capabilities,
      ...(clientInfo === undefined ? {} : { [`${META}clientInfo`]: clientInfo }),
      ...(logLevel === undefined ? {} : { [`${META}logLevel`]: logLevel }),
    }
  }

  #receive(message: WireMessage): void {
    if (Object.hasOwn(message, 'method')) {
      if (!Object.hasOwn(message, 'id')) this.notifications.push(message)
      else void this.#answer(message)
      return
    }
    const pending = this.#pending.get(message['id'])
    this.#pending.delete(message['id'])
    const { error } = message
    if (error !== undefined) pending?.reject(new RpcError(error as ConstructorParameters<typeof RpcError>[0]))
    else pending?.resolve(message['result'] as Members)
  }
}
