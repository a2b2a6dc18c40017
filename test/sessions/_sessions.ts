import type { IncomingMessage } from 'node:http'
import {
  type Backplane,
  createRouter,
  createServer,
  field,
  memoryBackplane,
  type Router,
  type RouterOptions,
  type Server,
  type ServerOptions,
  type Session,
  type Store,
  unauthorized,
} from 'phantom-mcp'
import { type ClientOptions, TestClient } from 'phantom-mcp/testing'
import { expect } from 'vitest'
import { PATIENT } from '../_messages.js'
import { MemoryWire, type RawWire, StdioWire } from '../_wires.js'
import {
  afterTest,
  type HeaderList,
  initialize,
  type Json,
  legacy,
  META,
  modern,
  open,
  type Sent,
  type Target,
} from '../http/_http.js'

export interface User {
  readonly id: string
}
export type Assigns = { readonly user: User }

/** A call that stands still until the test says what becomes of it. */
export interface Held {
  readonly session: Session
  release(text?: string): void
}

export interface App {
  readonly router: Router
  held(tag: string): Promise<Held>
  /** Tags of `hold` calls whose signal was aborted. */
  readonly aborted: string[]
  /** Tags of `hold` calls that have returned. */
  readonly finished: string[]
}

/** Takes `Bearer <user>` and `Bearer <user>-<anything>`: the token changes, the subject stays. */
export function userOf(authorization: string | null): User | undefined {
  const id = /^Bearer (ana|bo|cy)(?:-.*)?$/.exec(authorization ?? '')?.[1]
  return id === undefined ? undefined : { id }
}

/** Registers what the tests call. */
export function furnish<Any extends object>(router: Router<Any>): Omit<App, 'router'> {
  const here = new Map<string, Held>()
  const awaited = new Map<string, (held: Held) => void>()
  const aborted: string[] = []
  const finished: string[] = []
  router.tool('hold', { input: { tag: field.string({ required: true }) } }, async ({ tag }, session) => {
    session.signal.addEventListener('abort', () => aborted.push(tag), { once: true })
    const text = await new Promise<string>((resolve, reject) => {
      session.signal.addEventListener('abort', () => reject(session.signal.reason as Error), { once: true })
      const held: Held = { session: session as unknown as Session, release: (said = tag) => resolve(said) }
      const take = awaited.get(tag)
      if (take === undefined) here.set(tag, held)
      else take(held)
      awaited.delete(tag)
    })
    finished.push(tag)
    return text
  })
  router.tool('ping', {}, () => 'pong')
  router.resource('notes://plain', { name: 'plain' }, () => 'plain')
  router.resource('notes://topic/{t}', { name: 'topic' }, ({ t }) => `on ${t}`)
  router.prompt('review', { arguments: { owner: {} } }, ({ owner }) => `Review ${owner ?? 'it'}`)
  const held = (tag: string): Promise<Held> => {
    const found = here.get(tag)
    // What a test has taken is kept by nobody else: some count what is left.
    here.delete(tag)
    return found === undefined ? new Promise((resolve) => awaited.set(tag, resolve)) : Promise.resolve(found)
  }
  return { held, aborted, finished }
}

/** A server without `connect`. */
export function openApp(options: Partial<RouterOptions<object>> = {}): App {
  const router = createRouter({ name: 'open', version: '1.0.0', ...options })
  return { router, ...furnish(router) }
}

/** A server that lets in those with a token. */
export function usersApp(options: Partial<RouterOptions<Assigns>> = {}): App {
  const router = createRouter<Assigns>({
    name: 'users',
    version: '1.0.0',
    ...options,
    connect: (session, request) => {
      const user = userOf(request.headers.get('authorization'))
      return user === undefined ? unauthorized() : session.assign({ user })
    },
    principal: (session) => session.assigns.user.id,
  })
  return { router: router as unknown as Router, ...furnish(router) }
}

export const as = (token: string): HeaderList => ({ authorization: `Bearer ${token}` })

/** Begins a session with more headers, and gives the headers of its later requests: those, and the session's. */
export async function beginAs(
  on: Target,
  more: HeaderList = {},
  version = '2025-11-25',
): Promise<{ id: string; headers: HeaderList }> {
  const answer = await on.send(initialize(version, more))
  const id = answer.header('mcp-session-id')
  if (answer.status !== 200 || id === undefined) throw new Error(`initialize: ${answer.status} ${answer.text}`)
  const named = version >= '2025-06-18' ? { 'mcp-protocol-version': version } : {}
  const headers = { 'mcp-session-id': id, ...named, ...more }
  await on.send(legacy('notifications/initialized', {}, { headers, notification: true }))
  return { id, headers }
}

/** What an event says. */
export interface SseEvent {
  readonly id: string | undefined
  readonly retry: string | undefined
  readonly event: string | undefined
  /** Undefined for an event without data. */
  readonly message: Json | undefined
}

function parseEvent(block: string): SseEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const match = /^(id|retry|event|data):[ ]?(.*)$/.exec(line)
    if (match !== null) fields.set(String(match[1]), `${fields.get(String(match[1])) ?? ''}${match[2]}`)
  }
  if (fields.size === 0) return undefined
  const data = fields.get('data') ?? ''
  const message = data === '' ? undefined : (JSON.parse(data) as Json)
  return { id: fields.get('id'), retry: fields.get('retry'), event: fields.get('event'), message }
}

/** An event stream that is read while it is open. */
export class Stream {
  readonly response: IncomingMessage
  text = ''
  /** The server has ended it. */
  ended = false
  /** It is over, whoever ended it. */
  over = false

  constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      this.text += text
    })
    response.on('end', () => {
      this.ended = true
    })
    response.on('close', () => {
      this.over = true
    })
    response.on('error', () => undefined)
    afterTest(() => void response.destroy())
  }

  get status(): number | undefined {
    return this.response.statusCode
  }
  get events(): SseEvent[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .map(parseEvent)
      .filter((event) => event !== undefined)
  }
  get messages(): Json[] {
    return this.events.flatMap(({ message }) => (message === undefined ? [] : [message]))
  }
  get ids(): (string | undefined)[] {
    return this.events.map(({ id }) => id)
  }
  /** The id that a client would come back with. */
  get lastId(): string {
    const id = this.ids.findLast((one) => one !== undefined)
    if (id === undefined) throw new Error(`No event has an id: ${JSON.stringify(this.text)}`)
    return id
  }
  /** Values of one parameter in the notifications of a method. */
  told(method: string, parameter: string): unknown[] {
    return this.messages
      .filter((message) => message['method'] === method)
      .map(({ params }) => (params as Json | undefined)?.[parameter])
  }
  get methods(): unknown[] {
    return this.messages.map((message) => message['method'] ?? 'answer')
  }
  /** The client is gone. */
  drop(): void {
    this.response.destroy()
  }
}

const portOf = (on: Target): number => on.serving?.port ?? 0

/** Opens any request as a stream that the test reads. */
export async function streamOf(on: Target, sent: Sent): Promise<Stream> {
  return new Stream(await open(portOf(on), sent))
}

export function getStream(on: Target, headers: HeaderList, lastEventId?: string): Promise<Stream> {
  const more = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  return streamOf(on, { method: 'GET', headers: { accept: 'text/event-stream', ...headers, ...more } })
}

/** The session's own stream, once an event shows that the server has it in place. */
export async function sessionStream(on: Target, headers: HeaderList): Promise<Stream> {
  const stream = await getStream(on, headers)
  expect(stream.status).toBe(200)
  return stream
}

/** A call of `hold` whose stream is open: progress 1 has been read from it. */
export async function heldStream(
  on: Target,
  app: App,
  { tag, headers = {}, id = 1 }: { tag: string; headers?: HeaderList; id?: string | number },
): Promise<{ stream: Stream; held: Held }> {
  const params = { name: 'hold', arguments: { tag }, _meta: { progressToken: tag } }
  const opening = streamOf(on, legacy('tools/call', params, { headers, id }))
  const held = await app.held(tag)
  await held.session.notifyProgress(1)
  const stream = await opening
  await expect.poll(() => stream.told('notifications/progress', 'progress'), PATIENT).toEqual([1])
  return { stream, held }
}

/** A notification of 2026-07-28. */
export function modernNotification(method: string, params: Json = {}, more: HeaderList = {}): Sent {
  const { headers } = modern(method, {}, { headers: more })
  return {
    headers: headers ?? {},
    body: JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta: META } }),
  }
}

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** A listen stream, once it is acknowledged. */
export async function listenStream(
  on: Target,
  notifications: Json,
  { id = 'sub', headers = {} }: { id?: string | number; headers?: HeaderList } = {},
): Promise<Stream> {
  const stream = await streamOf(on, modern('subscriptions/listen', { notifications }, { id, headers }))
  if (stream.status === 200 && stream.response.headers['content-type'] === 'text/event-stream')
    await expect.poll(() => stream.messages.length, PATIENT).toBeGreaterThan(0)
  return stream
}

/** Those who listen on this node, whatever they listen for. */
export const listenersOf = (on: Target): number => on.server.context.listeners.size

/** Lets what has been written so far come through: no test waits for a time to pass. */
export async function settle(on: Target): Promise<void> {
  await on.send(modern('server/discover'))
  await on.send(modern('server/discover'))
}

/** A backplane whose every answer takes a turn or more, as one does that is reached over a network. */
export function slowBackplane(inner: Backplane = memoryBackplane()): Backplane {
  let turn = 0
  const later = async (): Promise<void> => {
    // Unevenly, so that two calls may overtake each other.
    const turns = 1 + (turn++ % 3)
    for (let index = 0; index < turns; index++) await new Promise((resolve) => setImmediate(resolve))
  }
  const { store } = inner
  const slow: Store = {
    get: async (key) => {
      const found = await store.get(key)
      await later()
      return found
    },
    set: async (key, value, options) => {
      await later()
      return await store.set(key, value, options)
    },
    delete: async (key, revision) => {
      await later()
      return await store.delete(key, revision)
    },
    claim: async (key, owner, ttlMs) => {
      await later()
      return await store.claim(key, owner, ttlMs)
    },
    release: async (key, owner) => {
      await later()
      await store.release(key, owner)
    },
    list: (prefix) => store.list(prefix),
    append: async (log, value, options) => {
      await later()
      return await store.append(log, value, options)
    },
    readAfter: async (log, id, limit) => {
      const part = await store.readAfter(log, id, limit)
      await later()
      return part
    },
    drop: async (log) => {
      await later()
      await store.drop(log)
    },
  }
  return { ...inner, store: slow }
}

export interface Pipe {
  readonly server: Server
  readonly client: TestClient
  readonly wire: RawWire
  readonly errors: unknown[]
}

/** A client on a pipe of its own, with the server in the test's hands. */
export async function pipe(
  kind: 'memory' | 'stdio',
  router: Router,
  options: ClientOptions & { readonly server?: ServerOptions } = {},
): Promise<Pipe> {
  const errors: unknown[] = []
  const { server: serverOptions, ...clientOptions } = options
  const server = createServer(router, { onError: (error) => errors.push(error), ...serverOptions })
  const wire = kind === 'memory' ? new MemoryWire(server) : new StdioWire(server)
  afterTest(() => wire.close())
  return { server, wire, errors, client: await TestClient.connect(wire, clientOptions) }
}
