import { setTimeout as sleep } from 'node:timers/promises'
import type { Follower } from './follower.js'
import { type Answer, type HeaderList, type Json, Lost, Refused } from './wire.js'
import { again, answerTo, between, CLIENT_INFO, counted, mayBeTriedAgain, resultOf, type World } from './world.js'

const VERSION = '2025-11-25'
/** Milliseconds in which a call whose stream has broken has to end. */
const PATIENCE_MS = 25_000
/** Milliseconds after which a session lets its stream go by itself, to come back somewhere else. */
const STAY_MS = [4_000, 12_000] as const

interface Told {
  /** Gets each notification on the way; false hangs up, to come back for the rest. */
  readonly onMessage?: (message: Json) => boolean
}

/** Where a client is in a stream. */
interface Place {
  last: string | undefined
}

/** A client of 2025-11-25: it has a session and its stream, and comes back to every stream that breaks. */
export class LegacyClient {
  readonly #world: World
  readonly #user: string
  readonly #place: Place = { last: undefined }
  #headers: HeaderList = {}
  #nextId = 1

  constructor(world: World, user: string) {
    this.#world = world
    this.#user = user
  }

  async begin(): Promise<void> {
    const params = { protocolVersion: VERSION, capabilities: { elicitation: {} }, clientInfo: CLIENT_INFO }
    this.#headers = { authorization: this.#user, accept: 'application/json, text/event-stream' }
    const answer = await this.#post({ id: 0, method: 'initialize', params })
    resultOf(answer.status, await answer.message())
    this.#headers = { ...this.#headers, 'mcp-session-id': answer.sessionId ?? '', 'mcp-protocol-version': VERSION }
    await this.#say({ method: 'notifications/initialized' })
  }

  async subscribe(uri: string): Promise<void> {
    const answer = await this.#post({ id: this.#nextId++, method: 'resources/subscribe', params: { uri } })
    resultOf(answer.status, await answer.message())
  }

  async end(): Promise<void> {
    const answer = await this.#world.wire.open({ method: 'DELETE', headers: this.#headers })
    await answer.message()
  }

  /** Calls a tool, and answers what it asks; a stream that breaks is gone on with. @throws Lost, Refused */
  call(name: string, args: Json, told: Told = {}): Promise<Json> {
    return counted(this.#world, `${name} of ${this.#user}`, () => this.#call(name, args, told))
  }

  async #call(name: string, args: Json, told: Told): Promise<Json> {
    const id = this.#nextId++
    const answer = await this.#post({ id, method: 'tools/call', params: { name, arguments: args } })
    const message = answer.streams ? await this.#readCall(answer, id, told) : await answer.message()
    return resultOf(answer.status, message)
  }

  /** The last message of a call's stream, over as many connections as it takes. */
  async #readCall(first: Answer, id: number, told: Told): Promise<Json> {
    const place: Place = { last: undefined }
    const beganMs = Date.now()
    for (let stream = first; ; stream = await this.#comeBack(place)) {
      const message = await this.#readPart(stream, { id, place, told }).catch((error: unknown) => {
        if (place.last === undefined || Date.now() - beganMs > PATIENCE_MS) throw error
        return undefined
      })
      if (message !== undefined) return message
      this.#world.figures.callResumptions++
    }
  }

  async #readPart(
    stream: Answer,
    { id, place, told }: { readonly id: number; readonly place: Place; readonly told: Told },
  ): Promise<Json> {
    for await (const event of stream.events()) {
      place.last = event.id ?? place.last
      const { message } = event
      if (message === undefined) continue
      if (message['method'] === undefined && message['id'] === id) return message
      if (message['method'] === 'elicitation/create') void this.#reply(message)
      else if (told.onMessage?.(message) === false) {
        stream.drop()
        break
      }
    }
    throw new Lost('the stream of a call ended')
  }

  /** Goes on with the stream of a call. */
  async #comeBack({ last }: Place): Promise<Answer> {
    return await again(this.#world, async () => await this.#openStream(last))
  }

  async #openStream(last: string | undefined): Promise<Answer> {
    const headers = last === undefined ? this.#headers : { ...this.#headers, 'last-event-id': last }
    const answer = await this.#world.wire.open({ method: 'GET', headers }, { alone: true })
    if (!answer.streams) resultOf(answer.status, await answer.message())
    return answer
  }

  /** Whoever asked has to get the answer. */
  async #reply({ id, params }: Json): Promise<void> {
    const result = answerTo(this.#world, params as Json)
    try {
      await again(this.#world, () => this.#say({ id, result }))
    } catch (error) {
      this.#world.figures.wrong('answers', `the answer of ${this.#user} to a question: ${String(error)}`)
    }
  }

  /** The session's own stream, until the world closes. */
  async listen(follower: Follower): Promise<void> {
    const { open, figures, outages } = this.#world
    while (!open.aborted) {
      const triedMs = Date.now()
      try {
        await this.#follow(follower)
      } catch (error) {
        if (open.aborted) return
        // It has not been seen yet that this client is gone.
        const isOpen = error instanceof Refused && error.reason === 'stream_open'
        if (!isOpen && !mayBeTriedAgain(outages, error, Math.max(triedMs, Date.now() - 2_000)))
          figures.wrong('lost', `the stream of ${this.#user} has ended: ${String(error)}`)
      } finally {
        follower.disconnected()
      }
      await sleep(between(50, 150))
    }
  }

  async #follow(follower: Follower): Promise<void> {
    const { open, figures } = this.#world
    const place = this.#place
    const answer = await this.#openStream(place.last)
    if (place.last !== undefined) figures.sessionResumptions++
    follower.connected()
    let left = false
    const hangUp = (): void => {
      left = true
      answer.drop()
    }
    open.addEventListener('abort', hangUp)
    if (open.aborted) hangUp()
    const stay = setTimeout(hangUp, between(...STAY_MS))
    try {
      for await (const event of answer.events()) {
        place.last = event.id ?? place.last
        if (event.message !== undefined) follower.take(event.message)
      }
      if (!left) throw new Lost('the stream of a session ended')
    } catch (error) {
      if (!left) throw error
    } finally {
      clearTimeout(stay)
      open.removeEventListener('abort', hangUp)
    }
  }

  /** A message that has no answer. @throws Lost, Refused */
  async #say(message: Json): Promise<void> {
    const answer = await this.#post(message)
    const refused = await answer.message()
    if (answer.status !== 202) resultOf(answer.status, refused)
  }

  #post(message: Json): Promise<Answer> {
    const headers = { ...this.#headers, 'content-type': 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    return this.#world.wire.open({ method: 'POST', headers, body })
  }
}
