import type { Awaitable } from '../awaitable.js'
import type { PubSub } from '../backplane/pub-sub.js'
import type { Store } from '../backplane/store.js'
import { type ToolOutcome, toolOutcome } from '../router/extension-outcome.js'
import type { ExtensionMethod, ExtensionRows } from '../router/extension-rows.js'
import type { AnyExtension } from '../router/extensions.js'
import type { Page } from '../router/page.js'
import type { Received, Shape } from '../router/schema.js'
import type { Session } from '../router/session.js'
import { type ToolResult, toToolResult } from '../router/tool-result.js'
import { isSupported } from './required.js'

export type { PubSub, Store }

/** The server that runs an extension: each server of a router is another one. */
export interface ExtensionHost {
  /** What the nodes of the server share. Begin your keys with the extension's id. */
  readonly store: Store
  readonly pubSub: PubSub
  /** Whether other processes may use these, too. */
  readonly shared: boolean
  /** The time in milliseconds, by the server's clock. */
  now(): number
  /**
   * Cuts a page out of a list whose entries have unique names, as large as the router's pages are.
   * @throws McpError `INVALID_PARAMS` for a cursor that is none of this list.
   */
  page<Entry extends { readonly name: string }>(list: string, entries: readonly Entry[], cursor: unknown): Page<Entry>
  /** See `server.notifyListeners`. */
  notifyListeners(filter: string, key: string): Promise<void>
  /** See `server.notifyResourceList`. */
  notifyResourceList(): Promise<number>
  /** Tells the operator of an error that no client sees. */
  report(error: unknown): void
  /** Called when the server closes. It waits for what this returns for as long as calls may drain; then `signal` is aborted, and there is a second left. */
  onClose(listener: (signal: AbortSignal) => Awaitable<void>): void
}

/**
 * What a server speaks beyond the protocol: rows for `createRouter({ extensions })`. `Assigns` is what its functions want to
 * find in the session.
 *
 * @example
 * const weather: Extension = {
 *   id: 'com.example/weather',
 *   methods: {
 *     'weather/now': Extension.method({ params: { place: field.string({ required: true }) } }, ({ place }) => ({ place, degrees: 21 })),
 *   },
 * }
 */
export interface Extension<Assigns extends object = object> extends ExtensionRows<Assigns, ExtensionHost> {}

/** How a method is declared; see `ExtensionMethod`. */
export interface ExtensionMethodOptions<Params> extends Omit<ExtensionMethod<object, never>, 'handler' | 'params'> {
  /** The parameters, as fields or a Standard Schema: the handler gets the parsed value. */
  readonly params?: Params
}

/** Builders for those who write an extension. */
export interface ExtensionBuilders {
  /** A method whose handler's parameters have the type of its `params`. */
  method<const Params extends Shape | undefined = undefined, Assigns extends object = object>(
    options: ExtensionMethodOptions<Params>,
    handler: (
      params: Params extends Shape ? Received<Params> : Readonly<Record<string, unknown>>,
      session: Session<Assigns>,
      host: ExtensionHost,
    ) => Awaitable<object>,
  ): ExtensionMethod<Assigns, ExtensionHost>
  /** What a tool answers with in the place of a result: the extension's row `outcomes[resultType]` gets the value. */
  outcome(extension: string, resultType: string, value: unknown): ToolOutcome
  /** Whether the caller's version has the extension, and the client declares what it requires. */
  supported<Assigns extends object>(extension: Extension<Assigns>, session: Session<Assigns>): boolean
  /** What a tool's handler returned, as the result that its call would be answered with. */
  toolResult(value: unknown): ToolResult
}

/** Builders for those who write an extension. */
export const Extension: ExtensionBuilders = {
  method: (options, handler) => ({ ...options, handler }) as never,
  outcome: toolOutcome,
  supported: (extension, session) => isSupported(extension as unknown as AnyExtension, session),
  toolResult: (value) => toToolResult(value),
}
