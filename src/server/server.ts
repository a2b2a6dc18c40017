import type { Awaitable } from '../awaitable.js'
import { assertCounts, assertOptions } from '../options.js'
import type { RequestMessage } from '../protocol/jsonrpc.js'
import type { MirroredParam } from '../protocol/model.js'
import type { Access } from '../router/access.js'
import type { Refusal } from '../router/refusal.js'
import { Router } from '../router/router.js'
import type { ConnectRequest, Session } from '../router/session.js'
import type { CallSession } from './call-session.js'
import type { Caller } from './client.js'
import { connectCaller } from './connect.js'
import type { ServerContext } from './context.js'
import { type Answer, Dispatcher } from './dispatch.js'
import type { Exchange } from './exchange.js'
import { Limits } from './limits.js'
import { Pages } from './pages.js'
import { Sessions } from './sessions.js'

/** How a server runs its router. */
export interface ServerOptions {
  /**
   * Gets each error that a client does not see, once, with the session of the call that it cost.
   * @default prints it to the console's error stream
   */
  readonly onError?: (error: unknown, session: Session | undefined) => void
  /** False serves the versions that have sessions without issuing session ids. @default true */
  readonly sessions?: boolean
  /** How long a session may be unused, in milliseconds. @default 86_400_000, a day */
  readonly sessionTtlMs?: number
  /** Sessions at once; the one that was idle longest makes room. @default 10_000 */
  readonly maxSessions?: number
  /** The time in milliseconds. @default Date.now */
  readonly clock?: () => number
  /** Makes session ids: unguessable, visible ASCII. @default crypto.randomUUID */
  readonly ids?: () => string
}

const OPTIONS = ['onError', 'sessions', 'sessionTtlMs', 'maxSessions', 'clock', 'ids']
const DAY_MS = 86_400_000

/**
 * What runs a router. Transports are made from it (`serve`, `nodeHandler`, `fetchHandler`, `serveStdio`), and all of them
 * share its sessions. Made by {@link createServer}.
 */
export class Server {
  /** @internal */
  readonly sessions: Sessions | undefined
  readonly #context: ServerContext
  readonly #dispatcher: Dispatcher

  /** @internal */
  constructor(router: Router<never>, options: ServerOptions) {
    const onError = options.onError ?? printError
    const report = (error: unknown, session: CallSession | undefined): void => {
      try {
        onError(error, session)
      } catch (failure) {
        printError(failure)
      }
    }
    const pages = new Pages(router.catalogue, router.pageSize)
    this.#context = { router, pages, limits: new Limits(), report }
    this.#dispatcher = new Dispatcher(this.#context)
    if (options.sessions === false) return
    this.sessions = new Sessions({
      ttlMs: options.sessionTtlMs ?? DAY_MS,
      max: options.maxSessions ?? 10_000,
      clock: options.clock ?? Date.now,
      ids: options.ids ?? (() => crypto.randomUUID()),
    })
  }

  /** @internal */
  serve(request: RequestMessage, caller: Caller, exchange: Exchange): Awaitable<Answer | undefined> {
    return this.#dispatcher.serve(request, caller, exchange)
  }

  /** @internal True when callers have to be let in: without `connect` nothing is asked and nothing waited for. */
  get connects(): boolean {
    return this.#context.router.options.connect !== undefined
  }

  /** @internal Undefined when the application failed to say who is calling; that is reported. */
  async connect(request: ConnectRequest, sessionId?: string): Promise<Access | Refusal | undefined> {
    try {
      return await connectCaller(this.#context.router.options, request, sessionId)
    } catch (error) {
      this.report(error)
      return undefined
    }
  }

  /** @internal Arguments of a tool that its callers repeat in headers. */
  mirroredParams(tool: string): readonly MirroredParam[] {
    return this.#context.router.catalogue.tools.get(tool)?.definition.mirrored ?? []
  }

  /** @internal */
  report(error: unknown): void {
    this.#context.report(error, undefined)
  }

  /** @internal Ends the streams that belong to no call; calls go on. */
  endStreams(): void {
    this.sessions?.endStreams()
  }

  /** Ends all sessions and their streams. Bindings such as `serve` have a `close` of their own, which calls this. */
  close(): void {
    this.sessions?.endAll()
  }
}

function printError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked for must still be seen by somebody
  console.error(error)
}

/**
 * Makes the server of a router, for what all its transports share. `serve`, `serveStdio`, `nodeHandler` and `fetchHandler`
 * make one by themselves when they are handed a router.
 *
 * @throws TypeError for an option that is unknown or out of range.
 */
export function createServer<Assigns extends object>(router: Router<Assigns>, options: ServerOptions = {}): Server {
  if (!(router instanceof Router))
    throw new TypeError('createServer: the first argument must be a router of createRouter')
  assertOptions('createServer', options, OPTIONS)
  assertCounts('createServer', options, ['sessionTtlMs', 'maxSessions'])
  return new Server(router as unknown as Router<never>, options)
}

/** @internal What bindings accept: a server, or a router to make one of. */
export function toServer(target: Server | Router<never>): Server {
  return target instanceof Server ? target : createServer(target)
}
