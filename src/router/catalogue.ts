import type { Middleware } from './middleware.js'
import type { PromptDefinition } from './prompt.js'
import type { ResourceDefinition } from './resource.js'
import type { ToolDefinition } from './tool.js'
import { compareSpecificity } from './uri-template.js'

export type AnyDefinition = ToolDefinition<never> | PromptDefinition<never> | ResourceDefinition<never>
export type Kind = AnyDefinition['kind']

/** The part of a router that a definition came with: its middleware runs around it, and its names are resolved there. */
export interface Scope {
  readonly catalogue: Catalogue
  readonly middleware: readonly Middleware<never>[]
}

/** A definition as it is offered: under its name here, with the scopes that it was mounted from, outermost first. */
export interface Offered<Definition extends AnyDefinition = AnyDefinition> {
  readonly name: string
  readonly definition: Definition
  /** As clients see it. */
  readonly spec: Definition['spec']
  readonly scopes: readonly Scope[]
}

/** A resource with the variables of the URI that led to it. */
export interface ResolvedResource {
  readonly offered: Offered<ResourceDefinition<never>>
  readonly params: Readonly<Record<string, unknown>>
}

/** Told after the catalogue has changed, with the names that came, went or were replaced. */
export type ChangeListener = (kind: Kind, names: readonly string[]) => void

/** What a router offers, by name, in the order of declaration. `revision` grows with each change. */
export class Catalogue {
  readonly tools: Map<string, Offered<ToolDefinition<never>>> = new Map()
  readonly prompts: Map<string, Offered<PromptDefinition<never>>> = new Map()
  readonly resources: Map<string, Offered<ResourceDefinition<never>>> = new Map()
  readonly #listeners = new Set<ChangeListener>()
  #revision = 0
  #bySpecificity: readonly Offered<ResourceDefinition<never>>[] = []

  get revision(): number {
    return this.#revision
  }

  /** @throws TypeError when the name, or the pattern of a resource, is taken. */
  add(definition: AnyDefinition): void {
    this.#insert({ name: definition.name, definition, spec: definition.spec, scopes: [] })
    this.#changed(definition.kind, [definition.name])
  }

  /** Puts a definition in the place of the one of its kind and name. @throws TypeError when there is none. */
  replace(definition: AnyDefinition): void {
    const { kind, name } = definition
    const group = this.group(kind)
    if (!group.has(name)) throw new TypeError(`${kind} '${name}' is not there to be replaced: add it first`)
    if (definition.kind === 'resource') this.#assertPatternFree(definition, name)
    group.set(name, { name, definition, spec: definition.spec, scopes: [] })
    this.#changed(kind, [name])
  }

  /** False when there was nothing of that name. */
  remove(kind: Kind, name: string): boolean {
    const removed = this.group(kind).delete(name)
    if (removed) this.#changed(kind, [name])
    return removed
  }

  /**
   * Offers what a scope offers, now and later, under `prefix` and an underscore.
   *
   * @throws TypeError when a name or a pattern is taken; nothing is mounted then.
   */
  mount(prefix: string, scope: Scope): void {
    for (const kind of KINDS) this.#assertMountable(kind, prefix, scope)
    for (const kind of KINDS) {
      this.#remount(kind, prefix, scope)
      const names = [...scope.catalogue.group(kind).keys()]
      if (names.length > 0)
        this.#changed(
          kind,
          names.map((name) => `${prefix}_${name}`),
        )
    }
    scope.catalogue.onChange((kind, names) => {
      this.#remount(kind, prefix, scope)
      this.#changed(
        kind,
        names.map((name) => `${prefix}_${name}`),
      )
    })
  }

  /** The most specific resource whose pattern the URI fits; the first declared among equals. */
  resolve(uri: string): ResolvedResource | undefined {
    for (const offered of this.#bySpecificity) {
      const params = offered.definition.template.match(uri)
      if (params !== undefined) return { offered, params }
    }
    return undefined
  }

  /** Returns the way to stop being told. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  group(kind: Kind): Map<string, Offered> {
    const groups = { tool: this.tools, prompt: this.prompts, resource: this.resources }
    return groups[kind] as Map<string, Offered>
  }

  #insert(offered: Offered): void {
    const { definition, name } = offered
    const group = this.group(definition.kind)
    if (group.has(name)) {
      throw new TypeError(`${definition.kind} '${name}' is there already: names are unique among ${definition.kind}s`)
    }
    if (definition.kind === 'resource') this.#assertPatternFree(definition, name)
    group.set(name, offered)
  }

  /** What was mounted of a kind goes, and what is there now comes: the order of the mounted router is kept. */
  #remount(kind: Kind, prefix: string, scope: Scope): void {
    const group = this.group(kind)
    for (const [name, { scopes }] of group) if (scopes[0] === scope) group.delete(name)
    for (const inner of scope.catalogue.group(kind).values()) this.#insert(mounted(inner, prefix, scope))
  }

  #assertMountable(kind: Kind, prefix: string, { catalogue }: Scope): void {
    for (const inner of catalogue.group(kind).values()) {
      const name = `${prefix}_${inner.name}`
      if (this.group(kind).has(name)) throw new TypeError(`router.mount: ${kind} '${name}' is there already`)
      if (inner.definition.kind === 'resource') this.#assertPatternFree(inner.definition, name)
    }
  }

  #assertPatternFree({ template }: ResourceDefinition<never>, name: string): void {
    for (const other of this.resources.values()) {
      if (other.name === name || other.definition.template.uriTemplate !== template.uriTemplate) continue
      throw new TypeError(
        `resource '${name}' has the pattern ${template.pattern}, which resource '${other.name}' has already`,
      )
    }
  }

  #changed(kind: Kind, names: readonly string[]): void {
    this.#revision++
    if (kind === 'resource') {
      this.#bySpecificity = [...this.resources.values()].sort((a, b) =>
        compareSpecificity(a.definition.template, b.definition.template),
      )
    }
    for (const listener of this.#listeners) listener(kind, names)
  }
}

const KINDS = ['tool', 'prompt', 'resource'] as const

function mounted(inner: Offered, prefix: string, scope: Scope): Offered {
  const name = `${prefix}_${inner.name}`
  return {
    name,
    definition: inner.definition,
    spec: { ...inner.spec, name } as never,
    scopes: [scope, ...inner.scopes],
  }
}
