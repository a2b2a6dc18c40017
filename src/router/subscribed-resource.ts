import type { ResourceDefinition } from './resource.js'

/** A resource that a client wants to hear of, as its URI was understood. */
export interface SubscribedResource {
  readonly uri: string
  readonly params: Readonly<Record<string, unknown>>
  readonly template: ResourceDefinition<never>['spec']
}
