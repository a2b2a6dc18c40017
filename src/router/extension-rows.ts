import type { Awaitable } from '../awaitable.js'
import type { ClientCapabilities, Json, ResourceSpec } from '../protocol/model.js'
import type { ProtocolVersion } from '../protocol/versions.js'
import type { ResourceReturn } from './resource-result.js'
import type { Shape } from './schema.js'
import type { Session } from './session.js'
import type { SubscribedResource } from './subscribed-resource.js'

// What an extension may say of itself. `Host` is the server that runs it, which a router does not know.

/** A method that an extension adds. */
export interface ExtensionMethod<Assigns extends object, Host> {
  /** The parameters, as fields or a Standard Schema; what does not fit is −32602. Without it the handler gets them as they came. */
  readonly params?: Shape
  /** The string parameter that the `Mcp-Name` header has to repeat over HTTP (2026-07-28); none unless given. */
  readonly mirrors?: string
  /** The result says how long it may be kept; without `withCache` it may not be kept (2026-07-28). */
  readonly cacheable?: true
  /** Takes `cursor`: one that is there and no string is −32602. Cut pages with `host.page`. */
  readonly paginated?: true
  /** What the client must declare for this method, in the place of the extension's `requires`. */
  readonly requires?: ClientCapabilities
  /** Gives the result, an object. A cursor is in `session.params`. */
  readonly handler: (params: never, session: Session<Assigns>, host: Host) => Awaitable<object>
}

/** An option that an extension adds to tools. */
export interface ExtensionToolOption<Assigns extends object, Host> {
  /** Looks at the value when the tool is registered. @throws TypeError that begins with `owner` and names the mend. */
  readonly assert: (value: unknown, owner: string) => void
  /** Asked before a tool with the option runs; throws an `McpError` to refuse the call. */
  readonly admit?: (value: unknown, session: Session<Assigns>, host: Host) => Awaitable<void>
}

/** The call that an outcome answers. */
export interface OutcomeCall<Assigns extends object, Host> {
  readonly session: Session<Assigns>
  readonly host: Host
  /** The tool that was called, with the options that extensions have added to it. */
  readonly tool: { readonly name: string; readonly options: Readonly<Record<string, unknown>> }
  /** The result that the call would be answered with, had the tool returned this value: its output schema has been asked. */
  readonly result: (value: unknown) => Promise<object>
}

/** What an outcome comes to: members of a result with the outcome's `resultType`, or a value as the tool itself would return it. */
export type OutcomeAnswer = { readonly members: object } | { readonly value: unknown }

/** A kind of answer that tools may give in the place of a result. Its key is the `resultType`. */
export interface ExtensionOutcome<Assigns extends object, Host> {
  /** Gets what the tool gave to `Extension.outcome`. */
  readonly answer: (value: never, call: OutcomeCall<Assigns, Host>) => Awaitable<OutcomeAnswer>
}

/** A notification for one listener. */
export interface ListenNotification {
  /** A method of the extension, `notifications/…`. */
  readonly method: string
  readonly params: object
  /** Nothing more will come for this key: the listener is let go of it. */
  readonly last?: boolean
}

/** A filter of `subscriptions/listen` (2026-07-28). Its key is the member of `notifications` that lists what the client follows. */
export interface ExtensionListen<Assigns extends object, Host> {
  /** Which of these the caller may follow; null, a throw or what was not asked for allows none. */
  readonly authorize: (
    keys: readonly string[],
    session: Session<Assigns>,
    host: Host,
  ) => Awaitable<readonly string[] | null | undefined>
  /**
   * What to tell a listener after `server.notifyListeners(filter, key)`: asked for each of them, so that it is what they may
   * see now. Undefined or a throw tells nothing.
   */
  readonly deliver: (
    key: string,
    session: Session<Assigns>,
    host: Host,
  ) => Awaitable<ListenNotification | null | undefined>
}

/** Resources that an extension has beside those of the router, which come first. */
export interface ExtensionResources<Assigns extends object, Host> {
  /** The scheme of its URIs, without a colon, where it is the extension's alone: a router has no resource of it then. */
  readonly scheme?: string
  /** A page for `resources/list`; the cursor is yours, undefined for the first page. */
  readonly list?: (
    cursor: string | undefined,
    session: Session<Assigns>,
    host: Host,
  ) => Awaitable<{ readonly resources: readonly ResourceSpec[]; readonly nextCursor?: string | undefined }>
  /** Answers `resources/read` for a URI that no resource of the router fits; null or undefined: there is nothing. */
  readonly read: (uri: string, session: Session<Assigns>, host: Host) => Awaitable<ResourceReturn>
  /**
   * What a URI is by its form, so that clients can follow it: `authorizeResourceSubscriptions` of the router is asked about it,
   * as about any other. `sees` says whether the caller's allow-list leaves a name of a resource there. @default none is followed
   */
  readonly resolve?: (uri: string, sees: (name: string) => boolean) => Omit<SubscribedResource, 'uri'> | undefined
}

/** All that an extension is made of: rows, which the server reads. */
export interface ExtensionRows<Assigns extends object, Host> {
  /** `prefix/name`, the prefix a domain that is yours, reversed: `com.example/weather`. */
  readonly id: string
  /** The protocol versions that it exists in. @default all */
  readonly versions?: readonly ProtocolVersion[]
  /** What the server declares under its id; undefined hides the extension from this caller. @default {} */
  readonly settings?: Json | ((session: Session<Assigns>) => Json | undefined)
  /** What the client must declare to use its methods, listen filters and outcomes: others get −32021. @default nothing */
  readonly requires?: ClientCapabilities
  /** Its methods by name; names of the protocol and of other extensions are taken. */
  readonly methods?: Readonly<Record<string, ExtensionMethod<Assigns, Host>>>
  /** Options that it adds to tools. */
  readonly toolOptions?: Readonly<Record<string, ExtensionToolOption<Assigns, Host>>>
  /** Answers that tools may give, by their `resultType`. */
  readonly outcomes?: Readonly<Record<string, ExtensionOutcome<Assigns, Host>>>
  /** Filters of `subscriptions/listen`, by their member of `notifications`. */
  readonly listens?: Readonly<Record<string, ExtensionListen<Assigns, Host>>>
  /** Resources that it has. The server declares `resources` then. */
  readonly resources?: ExtensionResources<Assigns, Host>
  /** Called once for each server that runs the router, before its first call. */
  readonly attach?: (host: Host) => void
}
