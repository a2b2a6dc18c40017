import { type Awaitable, isPromise } from '../awaitable.js'
import type { Store } from '../backplane/store.js'
import type { Codec, Method } from '../protocol/codec.js'
import type { RequestMessage } from '../protocol/jsonrpc.js'
import { notificationMessage, pingMessage } from '../protocol/jsonrpc.js'
import type { MirroredParam } from '../protocol/model.js'
import { Access } from '../router/access.js'
import type { CallRef, ProgressRef } from '../router/deferred.js'
import { isRefusal, type Refusal } from '../router/refusal.js'
import { Router } from '../router/router.js'
import type { ConnectRequest } from '../router/session.js'
import type { FreeReturn } from '../router/tool.js'
import { AskedPages } from './asking/asked-pages.js'
import { createAsking } from './asking/create-asking.js'
import { Secrets } from './asking/secrets.js'
import { assertCallRef, assertProgressRef, CallRefs } from './call-refs.js'
import { CallCancelled, type CallSession } from './call-session.js'
import { Channels, type SendTo } from './channels.js'
import type { Caller, Client } from './client.js'
import { connectCaller } from './connect.js'
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
import { packError, packResult } from './packed.js'
import { Pages } from './pages.js'
import { reachableStore } from './reachable-store.js'
import { printError, type ResolvedServerOptions, resolveServerOptions, type ServerOptions } from './server-options.js'
import { Sessions } from './sessions.js'
import { Telemetry } from './telemetry.js'
import { Warnings } from './warnings.js'

/** A session of a client, from outside of its calls. */
export interface SessionHandle {
  /** Sends a notification on the session's stream. */
  notify(method: string, params?: object): Promise<void>
  /** Asks the client whether it is there; nobody waits for the answer. */
  ping(): Promise<void>
  /** Lets the session's stream go; its client may come back for what follows. */
  finish(): Promise<void>
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
  readonly #options: ResolvedServerOptions
  readonly #context: ServerContext
  readonly #dispatcher: Dispatcher
  readonly #closers = new Set<() => void>()
  readonly #secrets: Secrets
  readonly #pages: AskedPages
  readonly #endings = new Endings((error) => this.report(error))
  #closing: Promise<void> | undefined

  /** @internal */
  constructor(router: Router<never>, options: ResolvedServerOptions) {
    this.#options = options
    const listeners = new Listeners()
    this.#secrets = secretsOf(router, options)
    const { backplane, heartbeatMs, nodeId, ids, deferMs } = options
    // A node that starts again is another one: what the first had in memory is gone.
    const id = nodeId === undefined ? uuid() : `${nodeId}.${uuid()}`
    this.nodes = new Nodes({ backplane, heartbeatMs, id, report: (error) => this.report(error) })
    const { pubSub } = backplane
    const store = reachableStore(backplane.store)
    const bell = new ExtensionBell(pubSub, (error) => this.report(error))
    const warnings = new Warnings()
    const streamOf = (id: string): SendTo | undefined => this.channels?.wayTo(id)
    this.#pages = new AskedPages(options, streamOf)
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
      maxSubscriptions: options.maxSubscriptions,
      telemetry: this.telemetry,
      bell,
      host: hostOf({
        store,
        pubSub,
        now: options.clock,
        pageSize: router.pageSize,
        endings: this.#endings,
        notifyListeners: (filter, key) => this.notifyListeners(filter, key),
        notifyResourceList: () => this.notifyResourceList(),
        report: (error) => this.report(error),
      }),
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
    this.#closers.add(router.catalogue.onChange((kind, names) => listeners.listChanged(kind, names)))
    this.#closers.add(() => bell.close())
    for (const { attach } of router.extensions.all)
      (attach as ((host: ExtensionHost) => void) | undefined)?.(this.#context.host)
    if (!options.sessions) return
    this.sessions = this.#openSessions(store)
    this.channels = this.#openChannels(store, listeners, this.sessions)
  }

  #openSessions(store: Store): Sessions {
    const { sessionTtlMs: ttlMs, maxSessions: max, clock, ids, backplane } = this.#options
    const { pubSub } = backplane
    return new Sessions({ store, pubSub, ttlMs, max, clock, ids, report: (error) => this.report(error) })
  }

  #openChannels(store: Store, listeners: Listeners, sessions: Sessions): Channels {
    const { resume, ids } = this.#options
    const missed = (listener: Listener): Promise<void> => tellMissed(this.#context, listener)
    return new Channels({ store, resume, listeners, sessions, ids, missed, report: (error) => this.report(error) })
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
    return this.#context.listeners.resourcesUpdated(this.#context, uris)
  }

  /** Tells clients that the tools have changed; a change of the router tells them by itself. Resolves to how many. */
  async notifyToolList(): Promise<number> {
    return this.#context.listeners.listChanged('tool')
  }

  /** Tells clients that the prompts have changed; a change of the router tells them by itself. Resolves to how many. */
  async notifyPromptList(): Promise<number> {
    return this.#context.listeners.listChanged('prompt')
  }

  /** Tells clients that `resources/list` has changed, for what `listResources` gives. Resolves to how many. */
  async notifyResourceList(): Promise<number> {
    return this.#context.listeners.listChanged('resource')
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
   * Resolves to false for an id that this process has not asked for within `requestStateTtlMs`, or without a stream to the client.
   */
  async notifyElicitationComplete(elicitationId: string): Promise<boolean> {
    return await this.#pages.complete(elicitationId)
  }

  /** A session by its id, while its stream is open; undefined otherwise. */
  session(id: string): SessionHandle | undefined {
    const channel = this.channels?.ofSession(id)
    if (channel === undefined) return undefined
    const { ids } = this.#options
    return {
      notify: (method, params) => channel.send(notificationMessage(method, params)),
      ping: () => channel.send(pingMessage(ids())),
      finish: () => channel.release(),
    }
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
    for (const close of [...this.#closers]) close()
    this.channels?.endAll()
    await Promise.all([this.#dispatcher.drain(drainMs), this.#endings.run(drainMs)])
    this.sessions?.leave()
    await this.#context.refs.close()
    await this.nodes.stop()
  }

  /** @internal */
  serve(request: RequestMessage, caller: Caller, exchange: Exchange): Awaitable<Answer | undefined> {
    return this.#dispatcher.serve(request, caller, exchange)
  }

  /** @internal True when the application wants to know of callers; otherwise nothing is asked and nothing waited for. */
  get connects(): boolean {
    const { connect, disconnect, terminate } = this.#context.router.options
    return connect !== undefined || disconnect !== undefined || terminate !== undefined
  }

  /** @internal Undefined when the application failed to say who is calling; that is reported. */
  async connect(request: ConnectRequest, sessionId?: string): Promise<Access | Refusal | undefined> {
    try {
      const caller = await connectCaller(this.#context.router.options, request, sessionId)
      if (!isRefusal(caller)) this.telemetry.tell('connect', { session: caller, request })
      return caller
    } catch (error) {
      this.report(error)
      return undefined
    }
  }

  /** @internal A session whose connection is its stream hears what happens from here on. Returns the way out. */
  listen(client: Client, access: Access | undefined, send: (message: string) => void): () => void {
    return this.#context.listeners.add({
      access: access ?? new Access(),
      lists: ALL_LISTS,
      get resources() {
        return client.subscriptions
      },
      tell: (method, params) => send(notificationMessage(method, params)),
    })
  }

  /** @internal Nothing more will come from the client of this connection: who waits for its answers is released. */
  clientGone(exchange: Exchange): void {
    this.#pages.forget(exchange)
    this.#context.asking.rounds.clientGone(exchange, new CallCancelled('The client is gone'))
  }

  /** @internal An exchange or connection of this caller is over. */
  disconnected(access: Access): void {
    const { disconnect } = this.#context.router.options
    Promise.resolve(access)
      .then((session) => disconnect?.(session as never))
      .catch((error: unknown) => this.report(error))
      .then((returned) => {
        const session = returned instanceof Access ? returned : access
        this.telemetry.tell('disconnect', { session })
      })
      .catch((error: unknown) => this.report(error))
  }

  /** @internal The client has ended its session; true when the application says that it was there. */
  async terminated(access: Access): Promise<boolean> {
    let ok = false
    try {
      const ended = await this.#context.router.options.terminate?.(access as never)
      ok = (ended as { ok?: boolean } | undefined)?.ok === true
    } catch (error) {
      this.report(error)
    }
    this.telemetry.tell('terminate', { session: access, ok })
    return ok
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
