import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryBackplane } from 'phantom-mcp'
import { afterAll, beforeAll, vi } from 'vitest'
import { redisMissing, type SharedRedis, sharedRedis } from '../engines/_redis.js'
import {
  afterTest,
  eventsOf,
  type HeaderList,
  head,
  type Json,
  legacy,
  modern,
  open,
  RawSocket,
  type Sent,
  textOf,
} from '../http/_http.js'
import { bundled } from '../stdio/_child.js'
import { onLine } from './_lines.js'
import { type NodeSettings, runNode } from './_node.js'
import { serveBackplane } from './_store-server.js'

export type Kind = 'socket' | 'redis'
/** The backplanes that nodes are tried on. */
export const KINDS: readonly Kind[] =
  redisMissing && process.env['REDIS_URL'] === undefined ? ['socket'] : ['socket', 'redis']

let program = ''
let redis: SharedRedis | undefined
beforeAll(async () => {
  program = await bundled(`import { runNode } from './test/nodes/_node.ts'\nvoid ${runNode.name}()`)
  if (KINDS.includes('redis')) redis = await sharedRedis()
})
afterAll(() => redis?.end())

/** Waits, with the patience that a busy machine needs. */
export async function until(holds: () => boolean, why: () => string): Promise<void> {
  const look = (): void => {
    if (!holds()) throw new Error(why())
  }
  await vi.waitFor(look, { timeout: 4_000, interval: 10 })
}

/** A process that serves, and ends with the test. */
export class Node {
  readonly process: ChildProcessWithoutNullStreams
  readonly lines: string[] = []
  readonly exited: Promise<void>
  stderr = ''

  constructor(settings: NodeSettings) {
    const env = { ...process.env, NODE_SETTINGS: JSON.stringify(settings) }
    this.process = spawn(process.execPath, [program], { env })
    this.process.stdin.on('error', () => undefined)
    onLine(this.process.stdout, (line) => this.lines.push(line))
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.exited = new Promise((resolve) => this.process.once('exit', () => resolve()))
    afterTest(() => this.signal('SIGKILL'))
  }

  get port(): number {
    return Number(this.lines.find((line) => line.startsWith('port '))?.slice(5) ?? 0)
  }

  /** Resolves once it has said so. */
  async says(line: string): Promise<void> {
    await until(
      () => this.lines.some((said) => said.startsWith(line)),
      () => `'${line}' was expected: ${[...this.lines, this.stderr].join('\n')}`,
    )
  }

  /** Lets handlers through. */
  pass(gate: string): void {
    this.process.stdin.write(`${gate}\n`)
  }

  stop(): void {
    this.process.kill('SIGSTOP')
  }

  goOn(): void {
    this.process.kill('SIGCONT')
  }

  /** Resolves when it is gone. */
  async signal(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal)
    await this.exited
  }
}

/** Two nodes of one server. */
export interface Cluster {
  readonly nodes: readonly [Node, Node]
  /** What handlers did, in order, on whatever node. */
  effects(): readonly string[]
  /** Another one with the same name as the first. */
  restart(): Promise<Node>
  /** Lets time pass for what the backplane keeps. */
  advance(ms: number): void
}

export interface ClusterOptions {
  readonly heartbeatMs?: number
  readonly drainMs?: number
  readonly secondStream?: 'refuse' | 'takeOver'
  readonly sessionTtlMs?: number
}

/** Starts two nodes, which end with the test. */
export async function cluster(kind: Kind, options: ClusterOptions = {}): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-nodes-'))
  afterTest(() => rmSync(folder, { recursive: true, force: true }))
  let passed = 0
  const backplane = memoryBackplane({ clock: () => Date.now() + passed })
  const socket = join(folder, 'socket')
  if (kind === 'socket') afterTest(await serveBackplane(backplane, socket))
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  const settings = {
    backplane: kind === 'socket' ? { socket } : { redis: redis?.url ?? '', prefix: folder },
    effects,
    heartbeatMs: 1_000,
    drainMs: 2_000,
    ...options,
  }
  const start = (name: string): Node => new Node({ ...settings, name })
  const nodes = [start('one'), start('two')] as const
  for (const node of nodes) await node.says('port')
  return {
    nodes,
    effects: () => readFileSync(effects, 'utf8').split('\n').filter(Boolean),
    restart: async () => {
      const node = start('one')
      await node.says('port')
      return node
    },
    advance: (ms) => {
      passed += ms
    },
  }
}

const CLIENT = { name: 'probe', version: '0' }
const META: Json = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  'io.modelcontextprotocol/logLevel': 'info',
}

/** The answer to a call: its last message, and those before it. */
export interface Called {
  readonly status: number
  readonly message: Json
  readonly before: readonly Json[]
}

export interface CallOptions {
  readonly requestState?: string
  readonly inputResponses?: Json
  readonly args?: Json
  readonly progressToken?: string
  readonly user?: string
}

/** A call of a tool as it is sent. */
function callOf(tool: string, { args = {}, progressToken, user, ...more }: CallOptions): Sent {
  const meta = progressToken === undefined ? META : { ...META, progressToken }
  return modern('tools/call', { name: tool, arguments: args, ...more }, { meta, headers: { authorization: user } })
}

/** A call whose client can hang up. */
export async function openCall(node: Node, tool: string, options: CallOptions = {}): Promise<RawSocket> {
  const sent = callOf(tool, options)
  const socket = await RawSocket.connect(node.port)
  await socket.write(`${head(sent, { 'content-length': String(Buffer.byteLength(String(sent.body))) })}${sent.body}`)
  return socket
}

/** Calls a tool. */
export async function call(node: Node, tool: string, options: CallOptions = {}): Promise<Called> {
  const response = await open(node.port, callOf(tool, options))
  const text = await textOf(response)
  const streamed = response.headers['content-type']?.startsWith('text/event-stream') === true
  const messages = streamed ? eventsOf(text) : [JSON.parse(text) as Json]
  return { status: response.statusCode ?? 0, message: messages.at(-1) ?? {}, before: messages.slice(0, -1) }
}

export interface SessionCall {
  readonly id: number
  readonly headers?: HeaderList
  readonly progressToken?: string
}

/** A session, whose requests may go to any node. */
export class NodeSession {
  readonly #headers: HeaderList

  private constructor(headers: HeaderList) {
    this.#headers = headers
  }

  get id(): string {
    return String(this.#headers['mcp-session-id'])
  }

  /** Opens the session's stream, or goes on with one. */
  async listen(node: Node, lastEventId?: string): Promise<RawSocket> {
    const own = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const sent: Sent = {
      method: 'GET',
      headers: { ...this.#headers, accept: 'text/event-stream', connection: 'close', ...own },
    }
    const socket = await RawSocket.connect(node.port)
    await socket.write(head(sent))
    await until(
      () => /\r\n\r\n/.test(socket.received),
      () => 'the head of a stream was expected',
    )
    return socket
  }

  /** A request, and the text of its answer. */
  async ask(node: Node, method: string, params: Json): Promise<Json> {
    const answer = await open(node.port, legacy(method, params, { id: crypto.randomUUID(), headers: this.#headers }))
    const text = await textOf(answer)
    const streamed = answer.headers['content-type']?.startsWith('text/event-stream') === true
    return (streamed ? eventsOf(text).at(-1) : JSON.parse(text)) as Json
  }

  static async begin(node: Node, user: string): Promise<NodeSession> {
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: CLIENT }
    const answer = await open(node.port, legacy('initialize', params, { headers: { authorization: user } }))
    await textOf(answer)
    const id = String(answer.headers['mcp-session-id'])
    return new NodeSession({ authorization: user, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' })
  }

  /** A call of a tool, whose stream is read as it comes. */
  async call(node: Node, tool: string, { id, headers = {}, progressToken }: SessionCall): Promise<RawSocket> {
    const params = { name: tool, arguments: {}, _meta: { progressToken } }
    const sent = legacy('tools/call', params, { id, headers: { ...this.#headers, connection: 'close', ...headers } })
    const socket = await RawSocket.connect(node.port)
    await socket.write(`${head(sent, { 'content-length': String(Buffer.byteLength(String(sent.body))) })}${sent.body}`)
    return socket
  }

  /** Posts a message that has no answer; gives the status. */
  async post(node: Node, message: Json): Promise<number | undefined> {
    const sent = legacy('', {}, { headers: this.#headers })
    const answer = await open(node.port, { ...sent, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
    await textOf(answer)
    return answer.statusCode
  }

  async end(node: Node): Promise<number | undefined> {
    const answer = await open(node.port, { method: 'DELETE', headers: this.#headers })
    await textOf(answer)
    return answer.statusCode
  }
}

/** The id of the question that came last on a stream, once so many have come. */
export async function questionOn(stream: RawSocket, count: number): Promise<string> {
  const asked = (): RegExpMatchArray[] => [
    ...stream.received.matchAll(/"id":"([^"]+)","method":"elicitation\/create"/g),
  ]
  await until(
    () => asked().length === count,
    () => `a question was expected: ${stream.received}`,
  )
  return asked().at(-1)?.[1] ?? ''
}

/** What the next request of a call that was asked something says. */
export function answerTo({ message }: Called, content: Json): CallOptions {
  const { requestState, inputRequests = {} } = (message['result'] ?? {}) as Json
  if (typeof requestState !== 'string') throw new Error(`Nothing was asked: ${JSON.stringify(message)}`)
  const keys = Object.keys(inputRequests as object)
  return { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, { action: 'accept', content }])) }
}

/** The text of a result. */
export function saidBy({ message }: Called): unknown {
  const { content } = (message['result'] ?? {}) as { content?: readonly Json[] }
  return content?.[0]?.['text'] ?? message
}

/** Code and reason of an error. */
export function refusedBy({ message }: Called): unknown {
  const { code, data } = (message['error'] ?? {}) as { code?: number; data?: Json }
  return { code, ...data }
}
