import { assertName } from './definition.js'
import type { Middleware } from './middleware.js'
import type { PromptDefinition } from './prompt.js'
import type { ResourceDefinition } from './resource.js'
import type { Step } from './step.js'
import type { ToolDefinition } from './tool.js'
import { compareSpecificity } from './uri-template.js'

export type AnyDefinition = ToolDefinition<never> | PromptDefinition<never> | ResourceDefinition<never>
export type Kind = AnyDefinition['kind']

export const KINDS: readonly Kind[] = ['tool', 'prompt', 'resource']

/** The part of a router that a definition came with: its middleware runs around it, and its names are resolved there. */
export interface Scope {
  readonly catalogue: Catalogue
  readonly middleware: readonly Middleware<never>[]
}

/** A definition as it is offered: under its name here, with the scopes that it was mounted from, outermost first. */
export interface Offered<Definition extends AnyDefinition = AnyDefinition> {
  readonly name: string
  /** What was put in front of the names of its own router. */
  readonly prefix: string
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

type Group = Map<string, Offered>
type Groups = Readonly<Record<Kind, Group>>
/** What a catalogue is made of, in order: definitions of its own, and routers that stand for all they offer. */
type Part = { readonly definition: AnyDefinition } | { readonly prefix: string; readonly scope: Scope }

/** What a router offers, by name, in the order of declaration. `revision` grows with each change. */
export class Catalogue {
  #groups: Groups = { tool: new Map(), prompt: new Map(), resource: new Map() }
  #parts: Part[] = []
  readonly #steps = new Map<string, Step<never, never, never>>()
  /** Names of the resources by their patterns. */
  #patterns = new Map<string, string>()
  #revision = 0
  #bySpecificity: readonly Offered<ResourceDefinition<never>>[] | undefined
  readonly #listeners = new Set<ChangeListener>()
  /** Catalogues that this one is mounted in, each once for each time. */
  readonly #outer: { readonly catalogue: Catalogue; readonly prefix: string }[] = []

  get revision(): number {
    return this.#revision
  }
  get tools(): ReadonlyMap<string, Offered<ToolDefinition<never>>> {
    return this.#groups.tool as Map<string, Offered<ToolDefinition<never>>>
  }
  get prompts(): ReadonlyMap<string, Offered<PromptDefinition<never>>> {
    return this.#groups.prompt as Map<string, Offered<PromptDefinition<never>>>
  }
  get resources(): ReadonlyMap<string, Offered<ResourceDefinition<never>>> {
    return this.#groups.resource as Map<string, Offered<ResourceDefinition<never>>>
  }

  /** Steps of this router: they are found by what was called, so that mounting does not rename them. */
  get steps(): ReadonlyMap<string, Step<never, never, never>> {
    return this.#steps
  }

  /** @throws TypeError when a name is taken; nothing is added then. */
  addSteps(steps: readonly Step<never, never, never>[]): void {
    for (const { name } of steps) {
      if (this.#steps.has(name)) throw new TypeError(`step '${name}' is there already: names are unique among steps`)
    }
    for (const step of steps) this.#steps.set(step.name, step)
  }

  /** @throws TypeError when a name, or the pattern of a resource, is taken; nothing is added then. */
  add(definitions: readonly AnyDefinition[]): void {
    const parts = definitions.map((definition) => ({ definition }))
    if (this.#outer.length > 0) return this.#change([...this.#parts, ...parts], definitions)
    this.#append(definitions)
    this.#parts.push(...parts)
    this.#commit(this.#groups)
    this.#tellAll(definitions)
  }

  /** Puts a definition in the place of the one of its kind and name. @throws TypeError when there is none. */
  replace(definition: AnyDefinition): void {
    const { kind, name } = definition
    const at = this.#own(kind, name)
    if (at < 0) throw new TypeError(`${kind} '${name}' is not there to be replaced: add it first`)
    this.#change(
      this.#parts.map((part, index) => (index === at ? { definition } : part)),
      [definition],
    )
  }

  /** False when there was nothing of that name. */
  remove(kind: Kind, name: string): boolean {
    const at = this.#own(kind, name)
    if (at < 0) return false
    this.#change(
      this.#parts.filter((_part, index) => index !== at),
      [{ kind, name }],
    )
    return true
  }

  /**
   * Offers what a scope offers, now and later, under `prefix` and an underscore.
   *
   * @throws TypeError when a name or a pattern is taken, or the scope holds this catalogue; nothing is mounted then.
   */
  mount(prefix: string, scope: Scope): void {
    if (scope.catalogue.#holds(this)) throw new TypeError('router.mount: a router cannot be mounted inside of itself')
    const offered = KINDS.flatMap((kind) => [...scope.catalogue.#groups[kind].values()])
    const changed = offered.map(({ name, definition: { kind } }) => ({ kind, name: `${prefix}_${name}` }))
    this.#change([...this.#parts, { prefix: `${prefix}_`, scope }], changed)
    scope.catalogue.#outer.push({ catalogue: this, prefix: `${prefix}_` })
  }

  /** The most specific resource whose pattern the URI fits; the first declared among equals. */
  resolve(uri: string): ResolvedResource | undefined {
    this.#bySpecificity ??= [...this.resources.values()].sort((a, b) =>
      compareSpecificity(a.definition.template, b.definition.template),
    )
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

  /** Most routers are mounted nowhere and are filled one by one: what is there need not be built again for each. */
  #append(definitions: readonly AnyDefinition[]): void {
    const done: AnyDefinition[] = []
    try {
      for (const definition of definitions) {
        insert(this.#groups[definition.kind], this.#patterns, offer(definition))
        done.push(definition)
      }
    } catch (error) {
      for (const { kind, name } of done) this.#groups[kind].delete(name)
      this.#patterns = patternsOf(this.#groups.resource)
      throw error
    }
  }

  #own(kind: Kind, name: string): number {
    return this.#parts.findIndex(
      (part) => 'definition' in part && part.definition.kind === kind && part.definition.name === name,
    )
  }

  #holds(other: Catalogue): boolean {
    return this === other || this.#parts.some((part) => 'scope' in part && part.scope.catalogue.#holds(other))
  }

  /** All or nothing, here and in every catalogue that this one is mounted in. */
  #change(parts: readonly Part[], changed: readonly { readonly kind: Kind; readonly name: string }[]): void {
    const planned = new Map<Catalogue, Groups>()
    this.#plan(parts, changed, planned)
    this.#parts = [...parts]
    for (const [catalogue, groups] of planned) catalogue.#commit(groups)
    this.#tellAll(changed)
  }

  #tellAll(changed: readonly { readonly kind: Kind; readonly name: string }[]): void {
    for (const kind of KINDS) {
      const names = changed.filter((one) => one.kind === kind).map(({ name }) => name)
      if (names.length > 0) this.#tell(kind, names)
    }
  }

  #plan(parts: readonly Part[], changed: readonly { readonly kind: Kind }[], planned: Map<Catalogue, Groups>): void {
    const kinds = new Set(changed.map(({ kind }) => kind))
    const groups = { ...this.#groups }
    for (const kind of kinds) groups[kind] = build(kind, parts, (inner) => (planned.get(inner) ?? inner.#groups)[kind])
    planned.set(this, groups)
    for (const { catalogue } of this.#outer) catalogue.#plan(catalogue.#parts, changed, planned)
  }

  #commit(groups: Groups): void {
    if (groups !== this.#groups) this.#patterns = patternsOf(groups.resource)
    this.#groups = groups
    this.#bySpecificity = undefined
    this.#revision++
  }

  #tell(kind: Kind, names: readonly string[]): void {
    for (const listener of this.#listeners) listener(kind, names)
    for (const { catalogue, prefix } of this.#outer)
      catalogue.#tell(
        kind,
        names.map((name) => prefix + name),
      )
  }
}

/** @throws TypeError when two have the same name, or the same pattern. */
function build(kind: Kind, parts: readonly Part[], groupOf: (catalogue: Catalogue) => Group): Group {
  const group: Group = new Map()
  const patterns = new Map<string, string>()
  for (const part of parts) {
    if ('scope' in part) {
      for (const inner of groupOf(part.scope.catalogue).values()) insert(group, patterns, mounted(inner, part))
    } else if (part.definition.kind === kind) {
      insert(group, patterns, offer(part.definition))
    }
  }
  return group
}

function insert(group: Group, patterns: Map<string, string>, offered: Offered): void {
  const { definition, name } = offered
  if (group.has(name)) {
    throw new TypeError(`${definition.kind} '${name}' is there already: names are unique among ${definition.kind}s`)
  }
  if (definition.kind === 'resource') {
    const { uriTemplate, pattern } = definition.template
    const other = patterns.get(uriTemplate)
    if (other !== undefined) {
      throw new TypeError(`resource '${name}' has the pattern ${pattern}, which resource '${other}' has already`)
    }
    patterns.set(uriTemplate, name)
  }
  group.set(name, offered)
}

const offer = (definition: AnyDefinition): Offered => ({
  name: definition.name,
  prefix: '',
  definition,
  spec: definition.spec,
  scopes: [],
})

function patternsOf(resources: Group): Map<string, string> {
  const entries = [...resources.values()] as Offered<ResourceDefinition<never>>[]
  return new Map(entries.map(({ name, definition }) => [definition.template.uriTemplate, name]))
}

function mounted(inner: Offered, { prefix, scope }: { readonly prefix: string; readonly scope: Scope }): Offered {
  const name = prefix + inner.name
  assertName(`router.mount, ${inner.definition.kind}`, name)
  const spec = { ...inner.spec, name } as Offered['spec']
  return { name, prefix: prefix + inner.prefix, definition: inner.definition, spec, scopes: [scope, ...inner.scopes] }
}
