import type { Awaitable } from '../awaitable.js'
import { assertOptions, pick } from '../options.js'
import type { Annotations, ResourceSpec, ResourceTemplateSpec } from '../protocol/model.js'
import type { Completer } from './completion.js'
import type { Deferred } from './deferred.js'
import {
  assertFunction,
  assertHandler,
  assertName,
  DESCRIBED_OPTIONS,
  type Definition,
  type DescribedOptions,
  describedMembers,
} from './definition.js'
import type { Asks } from './input-required.js'
import type { ResourceReturn } from './resource-result.js'
import type { Session } from './session.js'
import { type UriParams, type UriTemplate, uriTemplate } from './uri-template.js'

/** How a resource is declared. */
export interface ResourceOptions<Assigns extends object = object> extends DescribedOptions {
  /** Its name in this router, for `resourceUri`, `readResource` and allow-lists. */
  readonly name: string
  readonly mimeType?: string
  /** Bytes, where the size is known; sent for resources without variables. */
  readonly size?: number
  readonly annotations?: Annotations
  /** Completion per variable, or one completer for all. */
  readonly complete?: Completer<Assigns> | Readonly<Record<string, Completer<Assigns>>>
}

/** Answers `resources/read`; null or undefined means that there is nothing at this URI. */
export type ResourceHandler<Pattern extends string, Assigns extends object> = (
  params: UriParams<Pattern>,
  session: Session<Assigns>,
) => Awaitable<ResourceReturn | Asks | Deferred>

/** A resource or resource template, checked and ready to be offered. */
export interface ResourceDefinition<Assigns extends object = object> extends Definition<Assigns> {
  readonly kind: 'resource'
  /** @internal */
  readonly template: UriTemplate
  /** The entry of `resources/list` for a fixed URI, of `resources/templates/list` for one with variables. */
  readonly spec: ResourceSpec | ResourceTemplateSpec
  /** @internal */
  readonly mimeType: string | undefined
  /** @internal */
  readonly completers: ReadonlyMap<string, Completer>
  /** @internal */
  readonly handler: (params: never, session: never) => unknown
}

const OPTIONS = [...DESCRIBED_OPTIONS, 'name', 'mimeType', 'size', 'annotations', 'complete']

/** @throws TypeError that names the resource and the option. */
export function defineResource(
  pattern: string,
  options: ResourceOptions<never>,
  handler: unknown,
): ResourceDefinition<never> {
  const owner = `resource '${pattern}'`
  assertOptions(owner, options, OPTIONS)
  assertName(`${owner}, name`, options.name)
  assertHandler(owner, handler)
  const template = uriTemplate(owner, pattern)
  const { name, mimeType } = options
  const shared = { name, ...describedMembers(owner, options), ...pick(options, ['mimeType', 'annotations']) }
  const spec: ResourceSpec | ResourceTemplateSpec = template.fixed
    ? { uri: template.uriTemplate, ...shared, ...pick(options, ['size']) }
    : { uriTemplate: template.uriTemplate, ...shared }
  const completers = completersOf(owner, template, options.complete)
  return {
    kind: 'resource',
    name,
    template,
    spec,
    mimeType,
    completers,
    handler: handler as ResourceDefinition['handler'],
  }
}

function completersOf(
  owner: string,
  template: UriTemplate,
  complete: ResourceOptions<never>['complete'],
): ReadonlyMap<string, Completer> {
  if (complete === undefined) return new Map()
  const entries: [string, unknown][] =
    typeof complete === 'function' ? template.names.map((name) => [name, complete]) : Object.entries(complete)
  for (const [name, completer] of entries) {
    if (!template.names.includes(name)) {
      throw new TypeError(
        `${owner}: complete names '${name}', but the pattern has ${template.names.join(', ') || 'no variables'}`,
      )
    }
    assertFunction(`${owner}, complete '${name}'`, completer)
  }
  return new Map(entries as [string, Completer][])
}
