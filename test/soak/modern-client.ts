import { setTimeout as sleep } from 'node:timers/promises'
import type { Follower } from './follower.js'
import { type Answer, type HeaderList, type Json, Lost } from './wire.js'
import { again, answerTo, between, CLIENT_INFO, counted, resultOf, type World } from './world.js'

const VERSION = '2026-07-28'

interface Told {
  /** Gets each notification on the way. */
  readonly onMessage?: (message: Json) => void
}

/** A client of 2026-07-28: each request stands alone, and a listen is opened again when it ends. */
export class ModernClient {
  readonly #world: World
  readonly #user: string
  #nextId = 1

  constructor(world: World, user: string) {
    this.#world = world
    this.#user = user
  }

  /** Calls a tool, and answers what it asks, by calls that may be repeated. @throws Lost, Refused */
  async call(name: string, args: Json, told: Told = {}): Promise<Json> {
    let result = await this.#counted(name, { arguments: args }, told)
    while (result['resultType'] === 'input_required') {
      const { requestState, inputRequests } = result as { requestState: string; inputRequests: Record<string, Json> }
      const answers = Object.entries(inputRequests).map(([key, asked]) => [key, this.#answer(asked)])
      const more = { arguments: args, requestState, inputResponses: Object.fromEntries(answers) }
      result = await again(this.#world, () => this.#counted(name, more, told))
    }
    return result
  }

  /** Follows resources until the world closes. */
  async listen(uris: readonly string[], follower: Follower): Promise<void> {
    const { open, figures, outages } = this.#world
    while (!open.aborted) {
      const triedMs = Date.now()
      try {
        const answer = await this.#open('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })
        if (!answer.streams) resultOf(answer.status, await answer.message())
        await this.#follow(answer, follower)
      } catch (error) {
        if (open.aborted) return
        if (!outages.explain(error, Math.max(triedMs, Date.now() - 2_000)))
          figures.wrong('lost', `a listen has ended: ${String(error)}`)
      } finally {
        follower.disconnected()
      }
      await sleep(between(50, 150))
    }
  }

  async #follow(answer: Answer, follower: Follower): Promise<void> {
    const { open, figures } = this.#world
    const hangUp = (): void => answer.drop()
    open.addEventListener('abort', hangUp)
    if (open.aborted) hangUp()
    try {
      for await (const { message } of answer.events()) {
        if (message?.['method'] === 'notifications/subscriptions/acknowledged') {
          figures.listens++
          follower.connected()
        } else if (message?.['method'] !== undefined) follower.take(message)
      }
      throw new Lost('the stream of a listen ended')
    } finally {
      open.removeEventListener('abort', hangUp)
    }
  }

  #answer(asked: Json): Json {
    return answerTo(this.#world, asked['params'] as Json)
  }

  #counted(name: string, params: Json, told: Told): Promise<Json> {
    return counted(this.#world, `${name} of ${this.#user}`, () => this.#request(name, params, told))
  }

  async #request(name: string, params: Json, { onMessage }: Told): Promise<Json> {
    const answer = await this.#open('tools/call', { name, ...params })
    if (!answer.streams) return resultOf(answer.status, await answer.message())
    for await (const { message } of answer.events()) {
      if (message === undefined) continue
      if (message['method'] === undefined) return resultOf(answer.status, message)
      onMessage?.(message)
    }
    throw new Lost('the stream of a call ended')
  }

  #open(method: string, params: Json): Promise<Answer> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      'io.modelcontextprotocol/logLevel': 'error',
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#nextId++, method, params: { ...params, _meta } })
    const name = params['name']
    const headers: HeaderList = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      authorization: this.#user,
    }
    return this.#world.wire.open({ method: 'POST', headers, body }, { alone: method === 'subscriptions/listen' })
  }
}
