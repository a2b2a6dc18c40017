import { INTERNAL_FAILURE, toFailure } from '../errors.js'
import { type Message, parseMessage } from '../protocol/jsonrpc.js'
import type { Access } from '../router/access.js'
import type { Server } from '../server/server.js'
import { SHUTTING_DOWN } from '../server/shutting-down.js'
import type { RequestEvent } from '../server/telemetry.js'
import { admit } from './admit.js'
import { readJson } from './body.js'
import { Cors } from './cors.js'
import { claimsModern, namesModern, sessionMethodProblem, unreadCodec, versionProblem } from './era.js'
import { Guard } from './guard.js'
import type { HttpCall } from './http-call.js'
import type { Incoming } from './incoming.js'
import { servePost } from './legacy.js'
import { accepted } from './media.js'
import { serveModern } from './modern.js'
import { type HttpOptions, type ResolvedOptions, resolveOptions, sse2024Paths } from './options.js'
import { postProblem, tooLarge } from './post.js'
import { probe } from './probe.js'
import { type ProtectedResource, protectedResource } from './protected-resource.js'
import { type Refusal, refusal, refuseMessage, refuseUnread } from './refusal.js'
import { Responder, type Shared } from './responder.js'
import { serveDelete, serveGet } from './session-streams.js'
import { KeepAlive } from './sse.js'
import { Sse2024 } from './sse-2024.js'
import { isRetryable, retryHeaders } from './status.js'

/** What an endpoint serves besides MCP's own methods. */
interface EndpointParts {
  readonly resource: ProtectedResource | undefined
  readonly sse2024: Sse2024 | undefined
}

const POST_ONLY = 'POST, OPTIONS'

/**
 * The MCP endpoint over a neutral {@link HttpCall}. Its order of checks is one for all: preflight, host and origin, method,
 * type and size, parsing, era, and then what the era asks for.
 */
export class HttpEndpoint {
  readonly #server: Server
  readonly #options: ResolvedOptions
  readonly #guard: Guard
  readonly #cors: Cors
  readonly #shared: Shared
  readonly #resource: ProtectedResource | undefined
  readonly #sse2024: Sse2024 | undefined
  /** Methods that are answered, for `Allow`: without sessions there is no stream to GET and nothing to DELETE. */
  readonly #methods: string

  /** @internal */
  constructor(server: Server, options: ResolvedOptions, { resource, sse2024 }: EndpointParts) {
    this.#server = server
    this.#options = options
    this.#resource = resource
    this.#sse2024 = sse2024
    this.#guard = new Guard(options)
    this.#cors = new Cors(options)
    this.#shared = { keepAlive: new KeepAlive(options.keepAliveMs), telemetry: server.telemetry, log: server.log }
    this.#methods = server.sessions === undefined ? POST_ONLY : 'GET, POST, DELETE, OPTIONS'
  }

  /** Serves one request. Never rejects: what goes wrong in here costs this request only. */
  handle(call: HttpCall): Promise<void> {
    if (!this.#server.telemetry.traces('request')) return this.#handle(call)
    const { method, path, remote } = call
    const event: RequestEvent = { method, path, remote }
    const over = (responder: Responder): Promise<void> =>
      new Promise((resolve) => {
        responder.onEnd(() => {
          if (responder.status !== undefined) event.status = responder.status
          resolve()
        })
      })
    return this.#server.telemetry.span('request', event, async () => {
      let ended: Promise<void> | undefined
      await this.#handle(call, (responder) => {
        ended = over(responder)
      })
      await ended
    })
  }

  async #handle(call: HttpCall, begun?: (responder: Responder) => void): Promise<void> {
    const responder = new Responder(call, this.#shared)
    begun?.(responder)
    try {
      // Whoever probes calls by address; the answer tells nothing but whether the process is there.
      const probed = probe(call, this.#options, this.#server)
      if (probed !== undefined) return responder.empty(probed)
      const refused = this.#guard.check(call)
      if (refused === undefined) responder.addHeaders(this.#cors.answer(call))
      await this.#serve(responder, refused)
    } catch (error) {
      if (call.closed) return responder.refuse({ ...refuseUnread({ failure: INTERNAL_FAILURE }), status: 500 })
      const failure = toFailure(error, (thrown) => this.#server.report(thrown))
      const retry = isRetryable(failure)
      responder.refuse({
        ...refuseUnread({ failure }),
        status: retry ? 503 : 500,
        headers: retry ? retryHeaders(failure) : {},
      })
    }
  }

  async #serve(responder: Responder, refused: Refusal | undefined): Promise<void> {
    const { call } = responder
    // A page from elsewhere is told nothing, which is what a browser refuses it for.
    const allow = { allow: this.#methods }
    if (call.method === 'OPTIONS') {
      return responder.empty(204, refused === undefined ? this.#cors.preflight(call, this.#methods) : allow)
    }
    if (refused !== undefined) return responder.refuse(refused)
    const only = this.#sse2024?.allowed(call)
    if (only !== undefined) return responder.refuse(notServed(call, only))
    if (call.method !== 'POST') return await this.#other(responder)
    const problem = postProblem(call)
    if (problem !== undefined) return responder.refuse(problem)
    const parsed = await readJson(call, this.#options)
    if (parsed === 'too-large') return responder.refuse(tooLarge(this.#options.maxBodyBytes))
    if (!parsed.ok) return responder.refuse(refuseMessage(unreadCodec(call), parsed))
    const incoming = this.#server.connects ? await this.#admitted(responder) : this.#incoming(responder, undefined)
    if (incoming === undefined) return
    if (this.#sse2024?.isMessage(call)) this.#sse2024.receive(incoming, parsed.value)
    else await this.#route(incoming, parsed.value)
  }

  /** Everything but POST. */
  async #other(responder: Responder): Promise<void> {
    const { call } = responder
    if (call.method === 'GET' && this.#resource?.isAsked(call)) return responder.json(200, this.#resource.document)
    if (this.#sse2024?.isStream(call)) return await this.#open2024(responder, this.#sse2024)
    const ofSession = call.method === 'GET' || call.method === 'DELETE'
    const problem = ofSession && this.#server.sessions !== undefined ? sessionMethodProblem(call) : 'not-allowed'
    if (problem === undefined) return await this.#ofSession(responder)
    if (problem !== 'not-allowed') return responder.refuse(problem)
    responder.refuse(notServed(call, namesModern(call) ? POST_ONLY : this.#methods))
  }

  async #open2024(responder: Responder, sse: Sse2024): Promise<void> {
    const incoming = await this.#admitted(responder)
    if (incoming === undefined) return
    if (this.#server.ready) sse.open(incoming)
    else responder.refuse(shuttingDown())
  }

  async #ofSession(responder: Responder): Promise<void> {
    const incoming = await this.#admitted(responder)
    if (incoming === undefined) return
    if (responder.call.method === 'DELETE') return await serveDelete(incoming)
    if (!this.#server.ready) return responder.refuse(shuttingDown())
    await serveGet(incoming, this.#options.secondStream)
  }

  /** Undefined when the caller was not let in, and has been told. */
  async #admitted(responder: Responder): Promise<Incoming | undefined> {
    if (!this.#server.connects) return this.#incoming(responder, undefined)
    const access = await admit(this.#server, responder, this.#resource?.challenge ?? {})
    if (access === 'refused') return undefined
    responder.onEnd(() => this.#server.disconnected(access))
    return this.#incoming(responder, access)
  }

  #incoming(responder: Responder, access: Access | undefined): Incoming {
    const { streamAfterMs, retryMs, cacheHeaders } = this.#options
    const takes = accepted(responder.call.headers('accept'))
    return { server: this.#server, responder, accepted: takes, access, streamAfterMs, retryMs, cacheHeaders }
  }

  #route(incoming: Incoming, value: unknown): Promise<void> | void {
    const message: Message | readonly unknown[] = Array.isArray(value) ? value : parseMessage(value)
    if (claimsModern(value)) return serveModern(incoming, message)
    const { responder } = incoming
    const problem = versionProblem(responder.call, 'id' in message ? message.id : undefined)
    if (problem !== undefined) return responder.refuse(problem)
    return namesModern(responder.call) ? serveModern(incoming, message) : servePost(incoming, message)
  }
}

function notServed({ method }: HttpCall, allow: string): Refusal {
  return { ...refusal(405, { reason: 'method' }, `${method} is not served here`), headers: { allow } }
}

function shuttingDown(): Refusal {
  return { ...refuseUnread({ failure: SHUTTING_DOWN }), status: 503, headers: retryHeaders(SHUTTING_DOWN) }
}

/**
 * Makes the endpoint for a host of your own.
 *
 * @throws TypeError that names the option and the mend.
 */
export function httpEndpoint(server: Server, options: HttpOptions = {}, owner = 'httpEndpoint'): HttpEndpoint {
  const resource = protectedResource(owner, options.protectedResource)
  const paths = sse2024Paths(owner, options)
  const sse2024 = paths && new Sse2024(server, paths)
  return new HttpEndpoint(server, resolveOptions(owner, options), { resource, sse2024 })
}
