import { McpError } from '../errors.js'
import { pick } from '../options.js'
import type { Implementation } from '../protocol/model.js'
import { type AnyDefinition, Catalogue, KINDS, type Scope } from './catalogue.js'
import { type DefinitionBuilders, definitionBuilders, type Registered } from './define.js'
import { assertFunction, assertName, type Definition } from './definition.js'
import { type AnyExtension, Extensions } from './extensions.js'
import type { Middleware } from './middleware.js'
import type { ResourceDefinition } from './resource.js'
import {
  type AnyRouterOptions,
  assertRouterOptions,
  type ConnectOptions,
  IMPLEMENTATION,
  type RouterOptions,
} from './router-options.js'
import type { Session } from './session.js'
import { isStep } from './step.js'

/** A resource's URI together with its definition, ready for `Tool.resourceLink` and `Resource.link`. */
export interface ResourceTarget {
  readonly uri: string
  readonly template: ResourceDefinition<never>['spec']
}

const DEFAULT_PAGE_SIZE = 100

/**
 * What a server offers: tools, prompts and resources with their handlers. Plain data: one router serves any number of
 * clients, transports and servers. Made by {@link createRouter}.
 */
export class Router<Assigns extends object = object> implements DefinitionBuilders<Assigns> {
  /** @internal */
  readonly catalogue: Catalogue = new Catalogue()
  /** @internal */
  readonly info: Implementation
  /** @internal */
  readonly options: AnyRouterOptions
  /** @internal */
  readonly pageSize: number
  /** @internal */
  readonly extensions: Extensions
  #middleware: readonly Middleware<Assigns>[]

  /** Registers a tool; see `ToolOptions`. @throws TypeError that names the tool, the option and the mend. */
  readonly tool: DefinitionBuilders<Assigns>['tool']
  /** Registers a prompt; see `PromptOptions`. @throws TypeError that names the prompt, the option and the mend. */
  readonly prompt: DefinitionBuilders<Assigns>['prompt']
  /**
   * Registers a resource: a fixed URI, or a pattern with `:name`, a last `*rest`, or RFC 6570 expressions.
   * @throws TypeError that names the resource, the option and the mend.
   */
  readonly resource: DefinitionBuilders<Assigns>['resource']
  /** Registers a step: what happens with the answer to a question. @throws TypeError that names the step and the mend. */
  readonly step: DefinitionBuilders<Assigns>['step']

  /** @internal */
  constructor(options: AnyRouterOptions) {
    assertRouterOptions(options)
    this.options = options
    this.info = pick(options, IMPLEMENTATION)
    this.pageSize = options.pageSize ?? DEFAULT_PAGE_SIZE
    this.extensions = new Extensions((options.extensions ?? []) as readonly AnyExtension[])
    this.#middleware = (options.middleware ?? []) as readonly Middleware<Assigns>[]
    const builders = definitionBuilders<Assigns>((definition) => this.#register([definition]))
    this.tool = builders.tool
    this.prompt = builders.prompt
    this.resource = builders.resource
    this.step = builders.step
  }

  /** Registers definitions that were made by `defineFor`. @throws TypeError when a name or a pattern is taken. */
  add(...definitions: readonly Definition<Assigns>[]): this {
    this.#register(
      definitions.map((definition) => (isStep(definition) ? definition : toDefinition('router.add', definition))),
    )
    return this
  }

  #register(definitions: readonly Registered[]): void {
    this.catalogue.addSteps(definitions.filter(isStep))
    this.catalogue.add(definitions.filter((definition) => !isStep(definition)).map((one) => this.#known(one)))
  }

  /**
   * Puts a definition of `defineFor` in the place of the one of its kind and name; what runs goes on with the old one.
   * @throws TypeError when there is none to be replaced.
   */
  replace(definition: Definition<Assigns>): this {
    this.catalogue.replace(this.#known(toDefinition('router.replace', definition)))
    return this
  }

  /** Takes back what was registered; false when there was nothing of that name. What runs already goes on. */
  remove(kind: 'tool' | 'prompt' | 'resource', name: string): boolean {
    if (!KINDS.includes(kind))
      throw new TypeError(`router.remove: ${JSON.stringify(kind)} is none of ${KINDS.join(', ')}`)
    return this.catalogue.remove(kind, name)
  }

  /**
   * Offers what another router offers, now and later: its names get `prefix` and an underscore in front, its URIs stay, and
   * its middleware runs inside of this router's. Only the outer router's options count otherwise; extensions of the other
   * router have to be the outer one's as well.
   *
   * @throws TypeError for a prefix that is no name, a name or pattern that is taken, a router with `listResources`, or with an
   * extension that this one does not have.
   * @example
   * router.mount('billing', billing)   // its tool 'refund' is called 'billing_refund' here
   */
  mount<Inner extends object>(
    prefix: string,
    other: Router<Inner> & ([Assigns] extends [Inner] ? unknown : never),
  ): this {
    assertName('router.mount, prefix', prefix)
    if (!(other instanceof Router) || (other as unknown) === this)
      throw new TypeError('router.mount: the second argument must be another router')
    if (other.options.listResources !== undefined) {
      throw new TypeError(
        `router.mount: '${prefix}' has listResources, which only the outer router can have: move it there`,
      )
    }
    const missing = other.extensions.all.find((extension) => !this.extensions.all.includes(extension))
    if (missing !== undefined) {
      throw new TypeError(
        `router.mount: '${prefix}' has the extension '${missing.id}': give the same one to the outer router's extensions`,
      )
    }
    for (const { definition } of other.catalogue.resources.values()) this.extensions.assertResource(definition)
    this.catalogue.mount(prefix, other as unknown as Scope)
    return this
  }

  /** Adds a middleware inside of those that are there. */
  use(middleware: Middleware<Assigns>): this {
    assertFunction('router.use', middleware)
    this.#middleware = [...this.#middleware, middleware]
    return this
  }

  /** @throws TypeError for a tool with an option that no extension of this router has, and for a resource that an extension would have. */
  #known(definition: AnyDefinition): AnyDefinition {
    if (definition.kind === 'tool') this.extensions.assertTool(definition)
    if (definition.kind === 'resource') this.extensions.assertResource(definition)
    return definition
  }

  /** @internal */
  get middleware(): readonly Middleware<Assigns>[] {
    return this.#middleware
  }

  /**
   * The URI of a resource, its variables percent-encoded.
   *
   * @throws McpError `INVALID_PARAMS` for a name that the router does not have.
   * @throws TypeError for a variable that is missing or not in the pattern.
   */
  resourceUri(name: string, params: Readonly<Record<string, unknown>> = {}): string {
    const resource = this.catalogue.resources.get(name)
    if (resource === undefined) throw new McpError('INVALID_PARAMS', `Unknown resource: ${name}`)
    return resource.definition.template.expand(params)
  }

  /** A resource as this session may see it, with its URI; undefined where there is none for it. */
  resourceFor(
    session: Session<Assigns>,
    name: string,
    params: Readonly<Record<string, unknown>> = {},
  ): ResourceTarget | undefined {
    const resource = session.sees('resourceTemplates', name) ? this.catalogue.resources.get(name) : undefined
    return resource && { uri: resource.definition.template.expand(params), template: resource.spec }
  }
}

/** @throws TypeError for what is no definition. */
function toDefinition(owner: string, value: unknown): AnyDefinition {
  const { kind, handler, spec } = (value ?? {}) as Partial<AnyDefinition>
  if (kind !== undefined && KINDS.includes(kind) && typeof handler === 'function' && spec !== undefined) {
    return value as AnyDefinition
  }
  throw new TypeError(`${owner}: make definitions with defineFor: defineFor().tool(name, options, handler)`)
}

/**
 * Makes the router of a server.
 *
 * @throws TypeError for an option that is unknown or of the wrong kind.
 * @example
 * const router = createRouter({ name: 'hello', version: '1.0.0' })
 * router.tool('greet', { input: { name: field.string({ required: true }) } }, ({ name }) => `Hello ${name}`)
 */
export function createRouter<Assigns extends object>(
  options: RouterOptions<Assigns> & ConnectOptions<Assigns>,
): Router<Assigns>
export function createRouter(
  options: RouterOptions<object> & { readonly connect?: never; readonly principal?: never },
): Router<object>
export function createRouter(options: unknown): unknown {
  return new Router(options as AnyRouterOptions)
}
