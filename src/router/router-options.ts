import type { Awaitable } from '../awaitable.js'
import { assertCounts, assertOptions } from '../options.js'
import type { Implementation } from '../protocol/model.js'
import { assertSecret, type SecretKeyBase } from '../secret-key-base.js'
import { assertFunction } from './definition.js'
import type { ExtensionRows } from './extension-rows.js'
import type { Middleware } from './middleware.js'
import type { Refusal } from './refusal.js'
import type { ResourceList } from './resource-result.js'
import type { Connecting, ConnectRequest, Session } from './session.js'
import type { SubscribedResource } from './subscribed-resource.js'

/** What a router is made of before anything is registered. */
export interface RouterOptions<Assigns extends object = object> extends Implementation {
  /**
   * How the server is to be used, told to the model: not a repetition of the tools' descriptions. A function is asked for
   * each client; undefined gives none.
   */
  readonly instructions?: string | ((session: Session<Assigns>) => string | undefined)
  /** Name and version as this client should see them; undefined, or a throw, tells none. */
  readonly serverInfo?: (session: Session<Assigns>) => Implementation | undefined
  /**
   * What is sealed that clients carry while they are asked: text of 64 bytes or more, several, newest first, or a function that
   * gives one of both. All nodes of a server have the same. @default one of the process, on loopback and on stdio only
   */
  readonly secretKeyBase?: SecretKeyBase
  /** Keeps keys for requests apart from others that are made of the same secret. @default one for all */
  readonly requestStateSalt?: string
  /** Entries on a page of a list. @default 100 */
  readonly pageSize?: number
  /** Runs around each request, outermost first. */
  readonly middleware?: readonly Middleware<Assigns>[]
  /** What it speaks beyond the protocol, such as `tasks` and `skills`; see docs/extensions.md. */
  readonly extensions?: readonly ExtensionRows<Assigns, never>[]
  /**
   * Lists the resources that exist now, page by page; the cursor is yours, undefined for the first page. Without it the
   * resources that have no variables are listed.
   */
  readonly listResources?: (cursor: string | undefined, session: Session<Assigns>) => Awaitable<ResourceList>
  /**
   * Which of these resources the caller may follow: asked when they subscribe, and again before they are told of an update.
   * Entries or their URIs; null, an empty list, a throw or an entry that was not asked for allows none.
   */
  readonly authorizeResourceSubscriptions?: (
    resources: readonly SubscribedResource[],
    session: Connecting<Assigns>,
  ) => Awaitable<readonly (SubscribedResource | string)[] | null | undefined>
  /** An HTTP exchange or stream of this caller has ended, or the input of stdio. A session that it returns goes to telemetry. */
  readonly disconnect?: (session: Connecting<Assigns>) => unknown
  /** The client has ended its session: it is answered with 200 when `ok`, else 204. On stdio, the input has ended. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a callback that returns nothing is one that says nothing
  readonly terminate?: (session: Connecting<Assigns>) => Awaitable<{ readonly ok: boolean } | undefined | void>
}

/** How callers are let in and told apart. */
export interface ConnectOptions<Assigns extends object> {
  /**
   * Lets a caller in, on every HTTP request and once on stdio, before anything else of the router is asked: returns the
   * session, with what handlers shall find in it, or `unauthorized`, `forbidden`, `notFound` or `reject`. A throw is a 500.
   */
  connect(session: Connecting, request: ConnectRequest): Awaitable<Connecting<Assigns> | Refusal>
  /**
   * The caller's stable name, a user's id: sessions and streams belong to it, whatever token it comes with. `() => null`
   * says that callers are not told apart.
   */
  principal(session: Connecting<Assigns>): string | null
}

/** A router's options, whatever it does about callers. */
export interface AnyRouterOptions extends RouterOptions<never>, Partial<ConnectOptions<never>> {}

export const IMPLEMENTATION = ['name', 'version', 'title', 'description', 'websiteUrl', 'icons'] as const

const CALLBACKS = [
  'connect',
  'principal',
  'disconnect',
  'terminate',
  'serverInfo',
  'listResources',
  'authorizeResourceSubscriptions',
] as const
const OPTIONS = [
  ...IMPLEMENTATION,
  'instructions',
  'secretKeyBase',
  'requestStateSalt',
  'pageSize',
  'middleware',
  'extensions',
  ...CALLBACKS,
]

/** @throws TypeError that names the option and the mend. */
export function assertRouterOptions(options: AnyRouterOptions): void {
  assertOptions('createRouter', options, OPTIONS)
  for (const member of ['name', 'version'] as const) {
    if (typeof options[member] !== 'string' || options[member] === '') {
      throw new TypeError(`createRouter: ${member} must be a string that is not empty`)
    }
  }
  assertCounts('createRouter', options, ['pageSize'])
  if (options.secretKeyBase !== undefined) assertSecret('createRouter', options.secretKeyBase)
  if (options.requestStateSalt !== undefined && typeof options.requestStateSalt !== 'string') {
    throw new TypeError('createRouter: requestStateSalt must be a string')
  }
  for (const middleware of options.middleware ?? []) assertFunction('createRouter, middleware', middleware)
  for (const callback of CALLBACKS) {
    if (options[callback] !== undefined) assertFunction(`createRouter, ${callback}`, options[callback])
  }
  if (options.connect !== undefined && options.principal === undefined) {
    throw new TypeError(
      'createRouter: connect needs principal, which names the caller: (session) => session.assigns.user.id, or () => null',
    )
  }
}
