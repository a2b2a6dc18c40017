import { type Awaitable, isPromise } from '../awaitable.js'
import type { Store } from '../backplane/store.js'
import type { Codec, Method } from '../protocol/codec.js'
import type { RequestMessage } from '../protocol/jsonrpc.js'
import { notificationMessage } from '../protocol/jsonrpc.js'
import type { MirroredParam } from '../protocol/model.js'
import { Access } from '../router/access.js'
import type { CallRef, ProgressRef } from '../router/deferred.js'
import type { Refusal } from '../router/refusal.js'
import { Router } from '../router/router.js'
import type { ConnectRequest } from '../router/session.js'
import type { FreeReturn } from '../router/tool.js'
import { AskedPages } from './asking/asked-pages.js'
import { createAsking } from './asking/create-asking.js'
import { Secrets } from './asking/secrets.js'
import { backplaneClock } from './backplane-clock.js'
import { assertCallRef, assertProgressRef, CallRefs } from './call-refs.js'
import { CallCancelled, type CallSession } from './call-session.js'
import { CallStreams } from './call-streams.js'
import { Callers } from './callers.js'
import { Channels } from './channels.js'

import type { Caller, Client } from './client.js'
import type { ServerContext } from './context.js'
import { type Answer, Dispatcher, methodOf } from './dispatch.js'
import type { Exchange } from './exchange.js'
import type { ExtensionHost } from './extension.js'
import { ExtensionBell } from './extension-bell.js'
import { Endings, hostOf } from './extension-host.js'
import { Limits } from './limits.js'
import { ALL_LISTS, type Listener, Listeners, tellMissed } from './listeners.js'
import { Listens } from './listens.js'
import { Nodes } from './nodes.js'
import { Notices } from './notices.js'
import { OperatorLog } from './operator-log.js'
import { packError, packResult } from './packed.js'
import { Pages } from './pages.js'
import { reachableBackplane } from './reachable-backplane.js'
import { printError, type ResolvedServerOptions, resolveServerOptions, type ServerOptions } from './server-options.js'
import { type SendTo, type SessionHandle, SessionHandles } from './session-handles.js'
import { Sessions } from './sessions.js'
import { settledBy } from './settled-within.js'
import { StreamOwners } from './stream-owners.js'
import { Telemetry } from './telemetry.js'
import { type Here, Tracker } from './tracker.js'
import { Warnings } from './warnings.js'

/** @internal The way out for who listens. */
export interface Listening {
  stop(): void
  /** Something of it could not be told: whatever it hears of may have changed. */
  missed(): void
}

/**
 * What runs a router. Transports are made from it (`serve`, `nodeHandler`, `fetchHandler`, `serveStdio`), and all of them
 * share its sessions. Made by {@link createServer}.
 */
export class Server {
  /** @internal */
  readonly sessions: Sessions | undefined
  /** @internal */
  readonly channels: Channels | undefined
  /** @internal */
  readonly nodes: Nodes
  /** @internal */
  readonly telemetry: Telemetry = new Telemetry()
  /** @internal */
  readonly log: OperatorLog
  readonly #options: ResolvedServerOptions
  readonly #context: ServerContext
  readonly #dispatcher: Dispatcher
  readonly #callers: Callers
  readonly #closers = new Set<() => void>()
  readonly #secrets: Secrets
  readonly #pageSize: number
  readonly #notices: Notices
  readonly #handles: SessionHandles | undefined
  /** Sessions, streams, running calls and listeners, of all nodes. */
  readonly tracker: Tracker
  readonly #pages: AskedPages
  readonly #endings = new Endings((error) => this.report(error))
  #closing: Promise<void> | undefined

  /** @internal */
  constructor(router: Router<never>, given: ResolvedServerOptions) {
    this.log = new OperatorLog(given.logger, (error) => this.report(error))
    const { log } = this
    const backplane = reachableBackplane(given.backplane, { timeoutMs: given.callbackTimeoutMs, log })
    const options = { ...given, backplane, clock: backplaneClock(backplane, given, this.#closers) }
    this.#options = options
    const listeners = new Listeners()
    this.#secrets = secretsOf(router, options)
    this.#pageSize = router.pageSize
    const { heartbeatMs, nodeId, ids, deferMs, callbackTimeoutMs } = options
    // A node that starts again is another one: what the first had in memory is gone.
    const id = nodeId === undefined ? uuid() : `${nodeId}.${uuid()}`
    this.nodes = new Nodes({ backplane, heartbeatMs, id, report: (error) => this.report(error) })
    const { store, pubSub } = backplane
    const bell = new ExtensionBell(pubSub, (error) => this.report(error))
    this.#notices = new Notices(this.nodes, listeners, () => this.#context)
    const warnings = new Warnings()
    const streamOf = async (id: string): Promise<SendTo | undefined> => await this.#handles?.wayTo(id)
    this.#pages = new AskedPages(options, { nodes: this.nodes, streamOf })
    this.#context = {
      router,
      pages: new Pages(router.catalogue, router.pageSize),
      limits: new Limits(),
      asking: createAsking(options, {
        nodes: this.nodes,
        secrets: this.#secrets,
        streamOf,
        pages: this.#pages,
        warnings,
        report: (error, session) => this.#context.report(error, session),
      }),
      listeners,
      listens: new Listens(options.maxListens),
      refs: new CallRefs({ store, pubSub, ids, deferMs, report: (error) => this.report(error) }),
      warnings,
      ids,
      callTimeoutMs: options.callTimeoutMs,
      settled: settledBy(callbackTimeoutMs, log),
      maxSubscriptions: options.maxSubscriptions,
      telemetry: this.telemetry,
      bell,
      host: this.#host(),
      report: (error, session) => {
        this.telemetry.tell('exception', { error, session })
        report(options.onError, error, session)
      },
      onClose: (listener) => {
        if (this.#closing !== undefined) queueMicrotask(listener)
        this.#closers.add(listener)
        return () => this.#closers.delete(listener)
      },
    }
    this.#dispatcher = new Dispatcher(this.#context)
    this.tracker = new Tracker(this.nodes, store, this.#here(listeners))
    this.nodes.onLapsed(() => void listeners.missed(this.#context))
    void this.nodes.start()
    this.#callers = new Callers(this.#context, log)
    this.#closers.add(router.catalogue.onChange((kind, names) => listeners.listChanged(kind, names)))
    this.#closers.add(() => bell.close())
    for (const { attach } of router.extensions.all)
      (attach as ((host: ExtensionHost) => void) | undefined)?.(this.#context.host)
    if (!options.sessions) return
    const owners = this.#openOwners(store)
    this.sessions = this.#openSessions(store, owners)
    this.channels = this.#openChannels(listeners, this.sessions, owners)
    this.#handles = new SessionHandles({ channels: this.channels, owners, nodes: this.nodes, ids })
  }

  #here(listeners: Listeners): Here {
    return {
      streams: () => this.channels?.tracked() ?? [],
      calls: () => this.#dispatcher.tracked(),
      listeners: () => listeners.tracked(),
    }
  }

  /** What extensions may use of this server. */
  #host(): ExtensionHost {
    const { backplane, clock } = this.#options
    const { store, pubSub } = backplane
    return hostOf({
      store,
      pubSub,
      shared: this.nodes.shared,
      now: clock,
      pageSize: this.#pageSize,
      endings: this.#endings,
      notifyListeners: (filter, key) => this.notifyListeners(filter, key),
      notifyResourceList: () => this.notifyResourceList(),
      report: (error) => this.report(error),
    })
  }

  #openOwners(store: Store): StreamOwners {
    const report = (error: unknown): void => this.report(error)
    return new StreamOwners({ store, nodes: this.nodes, ttlMs: this.#options.sessionTtlMs, report })
  }

  #openSessions(store: Store, owners: StreamOwners): Sessions {
    const { sessionTtlMs: ttlMs, maxSessions: max, maxSessionsPerPrincipal: maxOfCaller } = this.#options
    const { clock, ids, backplane } = this.#options
    const { pubSub } = backplane
    const { log, nodes } = this
    const report = (error: unknown): void => this.report(error)
    const ownerOf = (id: string): Promise<string | undefined> => owners.ownerOf(id)
    return new Sessions({ store, pubSub, ttlMs, max, maxOfCaller, clock, ids, log, nodes, ownerOf, report })
  }

  #openChannels(listeners: Listeners, sessions: Sessions, owners: StreamOwners): Channels {
    const { resume, ids, backplane, sessionTtlMs: ttlMs } = this.#options
    const { nodes } = this
    const report = (error: unknown): void => this.report(error)
    const { store } = backplane
    const callStreams = new CallStreams({ backplane, nodes, ttlMs, report })
    const elsewhere = { notices: this.#notices, owners, callStreams }
    const missed = (listener: Listener): Promise<void> => tellMissed(this.#context, listener)
    return new Channels({ store, resume, listeners, sessions, ids, missed, report, ...elsewhere })
  }

  /** @internal All clients are of this machine: a secret of this process is enough. `warn` is called when one is made. */
  allowRandomSecret(warn?: () => void): void {
    this.#secrets.allowRandom(warn)
  }

  /** @internal @throws TypeError when states would be sealed with nothing that other nodes have, or that outlives the process. */
  assertSecret(owner: string): void {
    if (this.#secrets.given) return
    throw new TypeError(
      `${owner}: createRouter needs secretKeyBase, text of 64 bytes or more that is the same on each node; make one with openssl rand -base64 64`,
    )
  }

  /** False once the server is closing: it takes no new calls, and whoever sends some should be sent elsewhere. */
  get ready(): boolean {
    return this.#closing === undefined
  }

  /**
   * Tells who follows these resources that they have changed: those who still may, each once. Collect the URIs of a bulk
   * write and call this once. Resolves to how many were told.
   */
  notifyResourcesUpdated(uris: readonly string[]): Promise<number> {
    return this.#notices.resourcesUpdated(uris)
  }

  /** Tells clients that the tools have changed; a change of the router tells them by itself. Resolves to how many. */
  notifyToolList(): Promise<number> {
    return this.#notices.listChanged('tool')
  }

  /** Tells clients that the prompts have changed; a change of the router tells them by itself. Resolves to how many. */
  notifyPromptList(): Promise<number> {
    return this.#notices.listChanged('prompt')
  }

  /** Tells clients that `resources/list` has changed, for what `listResources` gives. Resolves to how many. */
  notifyResourceList(): Promise<number> {
    return this.#notices.listChanged('resource')
  }

  /**
   * Answers a call that its handler has deferred, on whatever process it runs. `result` is what the handler could have returned, and
   * is checked like that; it must be something that JSON can hold. Resolves to true when the call got it, and to false when
   * it is over, was answered already, or never was.
   *
   * @throws TypeError for a `ref` that is none, and for what no handler may return.
   * @throws McpError `INTERNAL_ERROR`, retryable, when the backplane cannot be reached.
   * @example
   * const delivered = await server.respond(job.reply, Tool.text('done'))
   */
  async respond(ref: CallRef, result: FreeReturn): Promise<boolean> {
    assertCallRef('server.respond', ref)
    return await this.#context.refs.respond(ref, packResult(result))
  }

  /**
   * Fails a call that its handler has deferred, as if the handler had thrown: its client gets an `McpError` as it is, and
   * of anything else no more than `Internal error`, while `onError` of the call's process is told. Resolves like {@link respond}.
   */
  async respondError(ref: CallRef, error: unknown): Promise<boolean> {
    assertCallRef('server.respondError', ref)
    return await this.#context.refs.respond(ref, packError(error))
  }

  /**
   * Tells the client of a call how far it is, from whatever process: like `session.notifyProgress`, by what
   * `session.progressRef()` gave. Does nothing for null, and when the call is over.
   */
  async notifyProgress(
    ref: ProgressRef | null,
    progress: number,
    ...more: [total?: number, message?: string]
  ): Promise<void> {
    if (ref === null) return
    assertProgressRef('server.notifyProgress', ref)
    await this.#context.refs.notifyProgress(ref, [progress, ...more])
  }

  /**
   * Something has changed that clients follow by a listen filter of an extension: each of them, on every node, is told what the
   * extension has to say to them now. Resolves when the nodes have been rung.
   *
   * @throws TypeError for a filter that no extension of the router has.
   */
  async notifyListeners(filter: string, key: string): Promise<void> {
    const { router, bell } = this.#context
    if (!router.extensions.all.some(({ listens = {} }) => Object.hasOwn(listens, filter)))
      throw new TypeError(`notifyListeners: no extension of the router has the listen filter '${filter}'`)
    await bell.ring(filter, key)
  }

  /**
   * Tells a client of 2025-11-25 that was asked to open a page that it is done there, by the `elicitationId` of `Elicit.url`.
   * Resolves to false for an id that no process has asked for within `requestStateTtlMs`, or without a stream to the client.
   */
  async notifyElicitationComplete(elicitationId: string): Promise<boolean> {
    return await this.#pages.complete(elicitationId)
  }

  /** A session by its id, while its stream is open; undefined where no node can have it. */
  session(id: string): SessionHandle | undefined {
    return this.#handles?.of(id)
  }

  /**
   * Takes no new calls, ends open streams, lets running calls finish, and aborts what is left after `drainMs`; those are
   * answered with an error that says so. Sessions stay in the backplane. `serve` has a `close` of its own, which calls this.
   */
  close({ drainMs = this.#options.drainMs }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: number): Promise<void> {
    this.log.tell('drain_started', { calls: this.#dispatcher.running, drainMs })
    for (const close of [...this.#closers]) close()
    this.channels?.endAll()
    const [aborted] = await Promise.all([this.#dispatcher.drain(drainMs), this.#endings.run(drainMs)])
    this.sessions?.leave()
    this.channels?.leave()
    await this.#context.refs.close()
    await this.nodes.stop()
    this.log.tell('drain_ended', { aborted })
  }

  /** @internal */
  serve(request: RequestMessage, caller: Caller, exchange: Exchange): Awaitable<Answer | undefined> {
    return this.#dispatcher.serve(request, caller, exchange)
  }

  /** @internal */
  get connects(): boolean {
    return this.#callers.wanted
  }

  /** @internal @throws McpError, retryable, when the application does not say in time who is calling. */
  connect(request: ConnectRequest, sessionId?: string): Promise<Access | Refusal | undefined> {
    return this.#callers.connect(request, sessionId)
  }

  /** @internal A session whose connection is its stream hears what happens from here on. */
  listen(client: Client, access: Access | undefined, send: (message: string) => void): Listening {
    const listener: Listener = {
      access: access ?? new Access(),
      lists: ALL_LISTS,
      get resources() {
        return client.subscriptions
      },
      tell: (method, params) => send(notificationMessage(method, params)),
    }
    const missed = (): void => void tellMissed(this.#context, listener).catch((error: unknown) => this.report(error))
    this.#context.listeners.add(listener)
    return { stop: () => this.#context.listeners.remove(listener), missed }
  }

  /** @internal Nothing more will come from the client of this connection: who waits for its answers is released. */
  clientGone(exchange: Exchange): void {
    this.#pages.forget(exchange)
    this.#context.asking.rounds.clientGone(exchange, new CallCancelled('The client is gone'))
  }

  /** @internal */
  disconnected(access: Access): void {
    this.#callers.disconnected(access)
  }

  /** @internal */
  terminated(access: Access): Promise<boolean> {
    return this.#callers.terminated(access)
  }

  /** @internal */
  get context(): ServerContext {
    return this.#context
  }

  /** @internal A method of the version or of an extension. */
  method(codec: Codec, name: string): Method | undefined {
    return methodOf(this.#context.router, codec, name)
  }

  /** @internal Arguments of a tool that its callers repeat in headers. */
  mirroredParams(tool: string): readonly MirroredParam[] {
    return this.#context.router.catalogue.tools.get(tool)?.definition.mirrored ?? []
  }

  /** @internal */
  report(error: unknown): void {
    this.#context.report(error, undefined)
  }
}

const uuid = (): string => crypto.randomUUID()

function secretsOf({ options }: Router<never>, { backplane }: ResolvedServerOptions): Secrets {
  const secrets = new Secrets(options)
  if (secrets.given || backplane.local === true) return secrets
  throw new TypeError(
    'createServer: nodes that share a backplane need createRouter({ secretKeyBase }), text of 64 bytes or more that is the same on each; make one with openssl rand -base64 64',
  )
}

function report(onError: ResolvedServerOptions['onError'], error: unknown, session: CallSession | undefined): void {
  try {
    const returned = onError(error, session) as Awaitable<void>
    if (isPromise(returned)) returned.then(undefined, printError)
  } catch (failure) {
    printError(failure)
  }
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
  return new Server(router as unknown as Router<never>, resolveServerOptions(options))
}

/** @internal What bindings accept: a server, or a router to make one of. */
export function toServer(target: Server | Router<never>, options?: ServerOptions): Server {
  return target instanceof Server ? target : createServer(target, options)
}
