import type { HttpOptions, Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { eventually } from '../http/_eventually.js'
import { type Answer, type HeaderList, type Json, type Target, type TargetOptions, target } from '../http/_http.js'
import { type Stream, streamOf } from '../sessions/_sessions.js'

/** An event as it was written. */
export interface Event {
  readonly event: string
  readonly data: string
}

export interface Opening {
  readonly headers?: HeaderList
  readonly path?: string
}

/** Serves a router with HTTP+SSE until the test ends. */
export function serving(
  router: Router,
  { http, ...rest }: TargetOptions = {},
  sse2024: HttpOptions['sse2024'] = true,
): Promise<Target> {
  return target('node', router, { ...rest, http: { sse2024, ...http } })
}

/** A client of 2024-11-05: one stream, and posts whose answers come on it. */
export class Sse {
  readonly on: Target
  readonly stream: Stream
  readonly headers: HeaderList
  /** Path and query that it was told. */
  endpoint = ''
  #nextId = 1

  private constructor(on: Target, stream: Stream, headers: HeaderList) {
    this.on = on
    this.stream = stream
    this.headers = headers
  }

  /** Opens the stream, and waits to be told where to post. */
  static async open(on: Target, { headers = {}, path = '/sse' }: Opening = {}): Promise<Sse> {
    const stream = await streamOf(on, { method: 'GET', path, headers: { accept: 'text/event-stream', ...headers } })
    const sse = new Sse(on, stream, headers)
    expect(stream.status).toBe(200)
    await eventually(() => sse.events.length).toBeGreaterThan(0)
    sse.endpoint = sse.events[0]?.data ?? ''
    return sse
  }

  /** The same, with a session that has begun. */
  static async begin(on: Target, opening: Opening = {}): Promise<Sse> {
    const sse = await Sse.open(on, opening)
    const clientInfo = { name: 'old', version: '1.0.0' }
    await sse.ask('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo })
    await sse.notify('notifications/initialized')
    return sse
  }

  get events(): readonly Event[] {
    return this.stream.text
      .split('\n\n')
      .slice(0, -1)
      .filter((block) => !block.startsWith(':'))
      .map((block) => {
        const match = /^event: (.*)\ndata: (.*)$/.exec(block)
        if (match === null) throw new Error(`Not an event of HTTP+SSE: ${JSON.stringify(block)}`)
        return { event: String(match[1]), data: String(match[2]) }
      })
  }

  get messages(): readonly Json[] {
    return this.events.filter(({ event }) => event === 'message').map(({ data }) => JSON.parse(data) as Json)
  }

  /** Methods of what came that was no answer. */
  get notified(): readonly unknown[] {
    return this.messages.flatMap(({ method }) => (method === undefined ? [] : [method]))
  }

  get sessionId(): string {
    return new URLSearchParams(this.endpoint.split('?')[1]).get('sessionId') ?? ''
  }

  postText(body: string, headers: HeaderList = {}): Promise<Answer> {
    const all = { 'content-type': 'application/json', ...this.headers, ...headers }
    return this.on.send({ path: this.endpoint, headers: all, body })
  }

  async post(message: Json, headers: HeaderList = {}): Promise<Answer> {
    return await this.postText(JSON.stringify({ jsonrpc: '2.0', ...message }), headers)
  }

  /** Posts a request, and gives its id at once. */
  async send(method: string, params: Json = {}): Promise<number> {
    const id = this.#nextId++
    const posted = await this.post({ id, method, params })
    expect([posted.status, posted.text]).toEqual([202, ''])
    return id
  }

  async notify(method: string, params: Json = {}): Promise<void> {
    expect((await this.post({ method, params })).status).toBe(202)
  }

  /** The answer to a request, as it came on the stream. */
  async answer(id: unknown): Promise<Json> {
    const found = (): Json | undefined => this.messages.find((message) => message['id'] === id)
    await eventually(found).toBeDefined()
    return found() as Json
  }

  async ask(method: string, params: Json = {}): Promise<Json> {
    return await this.answer(await this.send(method, params))
  }

  call(name: string, args: Json = {}, meta?: Json): Promise<Json> {
    return this.ask('tools/call', { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) })
  }
}
