import { McpError } from '../errors.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { Json } from '../protocol/model.js'
import type { ExtensionListen } from '../router/extension-rows.js'
import type { AnyExtension } from '../router/extensions.js'
import type { CallSession } from './call-session.js'
import type { ServerContext } from './context.js'
import { settingsOf } from './extension-settings.js'
import { assertDeclared } from './required.js'

interface Filter {
  readonly name: string
  readonly extension: AnyExtension
  readonly row: ExtensionListen<never, unknown>
  /** What is followed; before it has been authorised, what is asked for. */
  keys: Set<string>
}

/** What one `subscriptions/listen` follows by filters of extensions. */
export class ExtensionListens {
  readonly #context: ServerContext
  readonly #session: CallSession
  readonly #filters: readonly Filter[]
  /** What was rung while it was not yet known who may hear. */
  readonly #early = new Map<string, readonly [string, string]>()
  readonly #busy = new Map<string, 'once' | 'again'>()
  #meta: Json | undefined
  #leave = (): void => undefined
  #closed = false

  constructor(context: ServerContext, session: CallSession, filters: readonly Filter[]) {
    this.#context = context
    this.#session = session
    this.#filters = filters
  }

  /** Undefined where none was asked for. @throws McpError for a filter that is no list of strings, or that the client may not use. */
  static of(context: ServerContext, session: CallSession, notifications: Json): ExtensionListens | undefined {
    const filters = context.router.extensions
      .in(session.client.codec)
      .filter((extension) => settingsOf(extension, session) !== undefined)
      .flatMap((extension) => filtersOf(extension, session, notifications))
    if (filters.length === 0) return undefined
    const count = Math.max(...filters.map(({ keys }) => keys.size))
    if (count <= context.maxSubscriptions) return new ExtensionListens(context, session, filters)
    const data = { reason: 'too_many_subscriptions' }
    const message = `No more than ${context.maxSubscriptions} keys of one filter can be followed at once`
    throw new McpError('INVALID_PARAMS', message, { data })
  }

  /** What may be followed, for the acknowledgement. From here on nothing is missed. */
  async honour(): Promise<Readonly<Record<string, readonly string[]>>> {
    const leave = await this.#context.bell.listen((filter, key) => this.#hear(filter, key))
    if (this.#closed) leave()
    else this.#leave = leave
    const honoured = this.#filters.map(async (filter) => {
      const allowed = await this.#allowed(filter)
      filter.keys = new Set(allowed)
      return [filter.name, allowed] as const
    })
    return Object.fromEntries(await Promise.all(honoured))
  }

  /** The acknowledgement is out: events may follow, with `meta`. */
  open(meta: Json): void {
    this.#meta = meta
    for (const [filter, key] of this.#early.values()) this.#hear(filter, key)
    this.#early.clear()
  }

  close(): void {
    this.#closed = true
    this.#leave()
  }

  async #allowed({ name, row, keys }: Filter): Promise<readonly string[]> {
    try {
      const answer: unknown = await row.authorize([...keys], this.#session as never, this.#context.host)
      if (answer === null || answer === undefined) return []
      if (Array.isArray(answer)) return [...keys].filter((key) => answer.includes(key))
      throw new TypeError(`listen filter '${name}': authorize must return a list of what it was given, or null`)
    } catch (error) {
      this.#context.report(error, this.#session)
      return []
    }
  }

  #hear(name: string, key: string): void {
    const filter = this.#filters.find((one) => one.name === name)
    if (this.#closed || filter?.keys.has(key) !== true) return
    const id = JSON.stringify([name, key])
    if (this.#meta === undefined) this.#early.set(id, [name, key])
    else if (this.#busy.has(id)) this.#busy.set(id, 'again')
    else void this.#deliver(filter, key)
  }

  /** One after the other, so that what is told last is what is true; a burst is told once. */
  async #deliver(filter: Filter, key: string): Promise<void> {
    const id = JSON.stringify([filter.name, key])
    do {
      this.#busy.set(id, 'once')
      await this.#tell(filter, key)
    } while (this.#busy.get(id) === 'again' && filter.keys.has(key) && !this.#closed)
    this.#busy.delete(id)
  }

  async #tell(filter: Filter, key: string): Promise<void> {
    try {
      const told: unknown = await filter.row.deliver(key, this.#session as never, this.#context.host)
      if (told === null || told === undefined || this.#closed) return
      const { method, params, last } = told as Json
      if (typeof method !== 'string' || !method.startsWith('notifications/') || !isObject(params))
        throw new TypeError(`listen filter '${filter.name}': deliver must return { method: 'notifications/…', params }`)
      if (last === true) filter.keys.delete(key)
      const own = isObject(params['_meta']) ? params['_meta'] : {}
      await this.#session.notify(method, { ...params, _meta: { ...own, ...this.#meta } })
    } catch (error) {
      this.#context.report(error, this.#session)
    }
  }
}

function filtersOf(extension: AnyExtension, session: CallSession, notifications: Json): readonly Filter[] {
  return Object.entries(extension.listens ?? {}).flatMap(([name, row]) => {
    const asked = Object.hasOwn(notifications, name) ? notifications[name] : undefined
    if (asked === undefined) return []
    assertDeclared(session, extension.requires, `params.notifications.${name}`)
    if (!Array.isArray(asked) || !asked.every((key) => typeof key === 'string'))
      throw new McpError('INVALID_PARAMS', `params.notifications.${name} must be a list of strings`)
    return [{ name, extension, row: row as ExtensionListen<never, unknown>, keys: new Set<string>(asked) }]
  })
}
