import type { Connecting, Merged, Visible } from './session.js'

type AllowList = ReadonlySet<string> | undefined

const ALL: Readonly<Record<Visible, AllowList>> = { tools: undefined, prompts: undefined, resourceTemplates: undefined }

const NOTHING: object = Object.freeze({})

/** Names that a caller may see; null stands for all. */
export type AllowLists = Readonly<Record<Visible, readonly string[] | null>>

/** Who is calling and what they may see: what `connect` leaves behind for the calls that it let in. */
export class Access implements Connecting {
  readonly id: string | undefined
  assigns: object = NOTHING
  /** Stable name of the caller; null where callers are not told apart. */
  principal: string | null = null
  #allowed: Readonly<Record<Visible, AllowList>> = ALL

  constructor(id?: string) {
    this.id = id
  }

  assign<More extends object>(values: More): Connecting<Merged<object, More>> {
    this.assigns = { ...this.assigns, ...values }
    return this as unknown as Connecting<Merged<object, More>>
  }

  allowTools(names: readonly string[]): this {
    return this.#allow('tools', names)
  }
  allowPrompts(names: readonly string[]): this {
    return this.#allow('prompts', names)
  }
  allowResourceTemplates(names: readonly string[]): this {
    return this.#allow('resourceTemplates', names)
  }

  /** The same for one request: what its handler changes stays with it. */
  fork(): Access {
    const fork = new Access(this.id)
    fork.assigns = this.assigns
    fork.principal = this.principal
    fork.#allowed = this.#allowed
    return fork
  }

  /** What may be seen, as JSON. */
  get allowLists(): AllowLists {
    const { tools, prompts, resourceTemplates } = this.#allowed
    const listOf = (allowed: AllowList): readonly string[] | null => (allowed === undefined ? null : [...allowed])
    return {
      tools: listOf(tools),
      prompts: listOf(prompts),
      resourceTemplates: listOf(resourceTemplates),
    }
  }

  set allowLists(lists: AllowLists) {
    for (const what of ['tools', 'prompts', 'resourceTemplates'] as const) {
      const names = lists[what]
      this.#allowed = { ...this.#allowed, [what]: names === null ? undefined : new Set(names) }
    }
  }

  sees(what: Visible, name: string): boolean {
    return this.#allowed[what]?.has(name) ?? true
  }

  /** True where an allow-list stands, even one that names all there is. */
  limits(what: Visible): boolean {
    return this.#allowed[what] !== undefined
  }

  /** The same text for callers that see the same. */
  visibility(what: Visible): string {
    const allowed = this.#allowed[what]
    return allowed === undefined ? '' : JSON.stringify([...allowed].sort())
  }

  #allow(what: Visible, names: readonly string[]): this {
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
      throw new TypeError(`An allow-list of ${what} must be an array of names`)
    }
    this.#allowed = { ...this.#allowed, [what]: new Set(names) }
    return this
  }
}
