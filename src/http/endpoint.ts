import { INTERNAL_FAILURE } from '../errors.js'
import { isObject, type Message, parseMessage } from '../protocol/jsonrpc.js'
import { isEnveloped } from '../protocol/modern/envelope.js'
import { isSessionVersion } from '../protocol/versions.js'
import type { Access } from '../router/access.js'
import type { Server } from '../server/server.js'
import { admit } from './admit.js'
import { readJson } from './body.js'
import { Cors } from './cors.js'
import { Guard } from './guard.js'
import type { HttpCall } from './http-call.js'
import type { Incoming } from './incoming.js'
import { servePost } from './legacy.js'
import { accepted, isJsonType } from './media.js'
import { serveModern } from './modern.js'
import { type HttpOptions, type ResolvedOptions, resolveOptions } from './options.js'
import { type ProtectedResource, protectedResource } from './protected-resource.js'
import { refusal, refuseUnread } from './refusal.js'
import { Responder } from './responder.js'
import { serveDelete, serveGet } from './session-streams.js'
import { KeepAlive } from './sse.js'

/**
 * The MCP endpoint over a neutral {@link HttpCall}. Its order of checks is one for all: preflight, host and origin, method,
 * type and size, parsing, era, and then what the era asks for.
 */
export class HttpEndpoint {
  readonly #server: Server
  readonly #options: ResolvedOptions
  readonly #guard: Guard
  readonly #cors: Cors
  readonly #keepAlive: KeepAlive
  /** Methods that are answered, for `Allow`: without sessions there is no stream to GET and nothing to DELETE. */
  readonly #methods: string

  readonly #resource: ProtectedResource | undefined

  constructor(server: Server, options: ResolvedOptions, resource: ProtectedResource | undefined) {
    this.#server = server
    this.#options = options
    this.#resource = resource
    this.#guard = new Guard(options)
    this.#cors = new Cors(options)
    this.#keepAlive = new KeepAlive(options.keepAliveMs)
    this.#methods = server.sessions === undefined ? POST_ONLY : 'GET, POST, DELETE, OPTIONS'
  }

  /** Serves one request. Never rejects: what goes wrong in here costs this request only. */
  async handle(call: HttpCall): Promise<void> {
    try {
      await this.#serve(call)
    } catch (error) {
      if (call.closed.aborted) return
      this.#server.report(error)
      call.reply(500, { 'content-type': 'application/json' }, refuseUnread({ failure: INTERNAL_FAILURE }).body)
    }
  }

  async #serve(call: HttpCall): Promise<void> {
    const refused = this.#guard.check(call)
    const responder = new Responder(call, this.#keepAlive, refused === undefined ? this.#cors.answer(call) : undefined)
    if (refused !== undefined) return responder.refuse(refused)
    if (call.method === 'OPTIONS') return responder.empty(204, this.#cors.preflight(call, this.#methods))
    if (call.method === 'POST') return await this.#post(responder)
    if (call.method === 'GET' && this.#resource?.isAsked(call)) return responder.json(200, this.#resource.document)
    const ofSession = call.method === 'GET' || call.method === 'DELETE'
    if (ofSession && this.#server.sessions !== undefined && !namesModern(call)) return await this.#ofSession(responder)
    const allow = { allow: namesModern(call) ? POST_ONLY : this.#methods }
    responder.refuse({ ...refusal(405, { reason: 'method' }, `${call.method} is not served here`), headers: allow })
  }

  async #ofSession(responder: Responder): Promise<void> {
    const incoming = await this.#admitted(responder)
    if (incoming === undefined) return
    if (responder.call.method === 'GET') await serveGet(incoming, this.#options.secondStream)
    else await serveDelete(incoming)
  }

  /** Undefined when the caller was not let in, and has been told. */
  async #admitted(responder: Responder): Promise<Incoming | undefined> {
    const access = this.#server.connects
      ? await admit(this.#server, responder, this.#resource?.challenge ?? {})
      : undefined
    if (access === 'refused') return undefined
    if (access !== undefined) responder.onEnd(() => this.#server.disconnected(access))
    return this.#incoming(responder, access)
  }

  #incoming(responder: Responder, access: Access | undefined): Incoming {
    const { streamAfterMs, retryMs } = this.#options
    return {
      server: this.#server,
      responder,
      accepted: accepted(responder.call.headers('accept')),
      streamAfterMs,
      retryMs,
      access,
    }
  }

  async #post(responder: Responder): Promise<void> {
    const { call } = responder
    if (!isJsonType(call.headers('content-type'))) {
      return responder.refuse(
        refusal(415, { reason: 'content_type', header: 'Content-Type' }, 'Content-Type must be application/json'),
      )
    }
    const { json, stream } = accepted(call.headers('accept'))
    if (!json && !stream) {
      const message = 'Accept must allow application/json or text/event-stream'
      return responder.refuse(refusal(406, { reason: 'accept', header: 'Accept' }, message))
    }
    const parsed = await readJson(call, this.#options)
    if (parsed === 'too-large') {
      const message = `The body has more than ${this.#options.maxBodyBytes} bytes`
      const refused = refusal(413, { reason: 'too_large', option: 'maxBodyBytes' }, message)
      return responder.refuse({ ...refused, headers: { connection: 'close' } })
    }
    if (!parsed.ok) return responder.refuse(refuseUnread(parsed))
    // Without `connect` there is nothing to wait for: the call is served in the turn that read it.
    if (!this.#server.connects) return this.#route(this.#incoming(responder, undefined), parsed.value)
    const incoming = await this.#admitted(responder)
    if (incoming !== undefined) await this.#route(incoming, parsed.value)
  }

  #route(incoming: Incoming, value: unknown): Promise<void> | void {
    const message: Message | readonly unknown[] = Array.isArray(value) ? value : parseMessage(value)
    if (namesModern(incoming.responder.call) || claims(value)) return serveModern(incoming, message)
    return servePost(incoming, message)
  }
}

const POST_ONLY = 'POST, OPTIONS'

/** A version that has no sessions, or that nobody knows yet: its rules are those of requests that stand alone. */
function namesModern(call: HttpCall): boolean {
  const version = call.headers('mcp-protocol-version')[0]
  return version !== undefined && !isSessionVersion(version)
}

/** Whether a message, or one of an array, says in itself that each request stands alone. */
function claims(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(claims)
  const params = isObject(value) ? value['params'] : undefined
  return isObject(params) && isEnveloped(params)
}

/**
 * Makes the endpoint for a host of your own.
 *
 * @throws TypeError that names the option and the mend.
 */
export function httpEndpoint(server: Server, options: HttpOptions = {}, owner = 'httpEndpoint'): HttpEndpoint {
  const resource = protectedResource(owner, options.protectedResource)
  return new HttpEndpoint(server, resolveOptions(owner, options), resource)
}
