import type { PromptDefinition } from './prompt.js'
import type { ResourceDefinition } from './resource.js'
import type { ToolDefinition } from './tool.js'
import { compareSpecificity } from './uri-template.js'

export type AnyDefinition = ToolDefinition<never> | PromptDefinition<never> | ResourceDefinition<never>

/** A resource with the variables of the URI that led to it. */
export interface ResolvedResource {
  readonly resource: ResourceDefinition<never>
  readonly params: Readonly<Record<string, unknown>>
}

/** What a router offers, by name, in the order of declaration. `revision` grows with each change. */
export class Catalogue {
  readonly tools: Map<string, ToolDefinition<never>> = new Map()
  readonly prompts: Map<string, PromptDefinition<never>> = new Map()
  readonly resources: Map<string, ResourceDefinition<never>> = new Map()
  #revision = 0
  #bySpecificity: readonly ResourceDefinition<never>[] = []

  get revision(): number {
    return this.#revision
  }

  /** @throws TypeError when the name, or the pattern of a resource, is taken. */
  add(definition: AnyDefinition): void {
    const group = this.#groupOf(definition)
    if (group.has(definition.name)) {
      throw new TypeError(
        `${definition.kind} '${definition.name}' is there already: names are unique among ${definition.kind}s`,
      )
    }
    if (definition.kind === 'resource') this.#assertPatternFree(definition)
    group.set(definition.name, definition)
    this.#changed(definition.kind)
  }

  /** The most specific resource whose pattern the URI fits; the first declared among equals. */
  resolve(uri: string): ResolvedResource | undefined {
    for (const resource of this.#bySpecificity) {
      const params = resource.template.match(uri)
      if (params !== undefined) return { resource, params }
    }
    return undefined
  }

  #groupOf(definition: AnyDefinition): Map<string, AnyDefinition> {
    const groups = { tool: this.tools, prompt: this.prompts, resource: this.resources }
    return groups[definition.kind] as Map<string, AnyDefinition>
  }

  #assertPatternFree({ name, template }: ResourceDefinition<never>): void {
    for (const other of this.resources.values()) {
      if (other.template.uriTemplate === template.uriTemplate) {
        throw new TypeError(
          `resource '${name}' has the pattern ${template.pattern}, which resource '${other.name}' has already`,
        )
      }
    }
  }

  #changed(kind: AnyDefinition['kind']): void {
    this.#revision++
    if (kind !== 'resource') return
    this.#bySpecificity = [...this.resources.values()].sort((a, b) => compareSpecificity(a.template, b.template))
  }
}
