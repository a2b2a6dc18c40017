import type { Json, ResourceContents, ResourceSpec } from '../protocol/model.js'
import { BUILT, isBuilt } from './built.js'
import {
  type Binary,
  type LinkAttributes,
  type LinkTarget,
  resourceSpec,
  toBase64,
  toJsonText,
  typeOf,
} from './content.js'

/** One part of a resource, made by `Resource.text` or `Resource.blob`. */
export interface ResourceResult {
  readonly [BUILT]: 'resource'
  readonly text?: string
  readonly blob?: string
  readonly uri?: string
  readonly mimeType?: string
  readonly _meta?: Json
  readonly ttlMs?: number
  readonly cacheScope?: 'public' | 'private'
}

/** A page of resources, made by `Resource.list`. */
export interface ResourceList {
  readonly [BUILT]: 'resource-list'
  readonly resources: readonly ResourceSpec[]
  readonly nextCursor?: string
}

/** Where the part is, when it is not what was asked for, and what it is, when the resource's own `mimeType` does not say. */
export interface ResourceContentOptions {
  readonly uri?: string
  readonly mimeType?: string
  readonly _meta?: Json
}

/** Builders of resource results (2026-07-28 server/resources). */
export interface ResourceBuilders {
  /** Text; an object or array becomes its JSON with `application/json`. */
  text(value: string | object, options?: ResourceContentOptions): ResourceResult
  /** Bytes, or text that is Base64 already; `application/octet-stream` unless a type is given. */
  blob(data: Binary, options?: ResourceContentOptions): ResourceResult
  /** An entry of a list: `template` as `router.resourceFor` gives it; `attributes` win over it. */
  link(uri: string, template: LinkTarget, attributes?: LinkAttributes): ResourceSpec
  /** A page for `listResources`; without `nextCursor` it is the last. */
  list(links: readonly ResourceSpec[], nextCursor?: string): ResourceList
}

/** Builders of what a resource answers with. */
export const Resource: ResourceBuilders = {
  text: (value, options = {}) => {
    const text = typeof value === 'string' ? value : toJsonText(value)
    const type = typeof value === 'string' ? {} : { mimeType: 'application/json' }
    return { [BUILT]: 'resource', text, ...type, ...options }
  },
  blob: (data, options = {}) => ({ [BUILT]: 'resource', blob: toBase64(data, 'Resource'), ...options }),
  link: resourceSpec,
  list: (links, nextCursor) => ({
    [BUILT]: 'resource-list',
    resources: links,
    ...(nextCursor === undefined ? {} : { nextCursor }),
  }),
}

export function isResourceList(value: unknown): value is ResourceList {
  return isBuilt(value, 'resource-list')
}

/** What a resource handler may return; null and undefined mean that there is no such resource. */
export type ResourceReturn =
  | string
  | Uint8Array
  | ResourceResult
  | readonly (string | Uint8Array | ResourceResult)[]
  | null
  | undefined

/** The `resources/read` result, or undefined when there is nothing at `uri`. @throws TypeError for any other value. */
export function toReadResult(value: unknown, uri: string, mimeType: string | undefined): ReadResult | undefined {
  if (value === null || value === undefined) return undefined
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (parts.length === 0) return undefined
  const contents = parts.map((part) => toContents(part, uri, mimeType))
  return { contents, ...cacheHints(value) }
}

export interface ReadResult {
  readonly contents: readonly ResourceContents[]
  readonly ttlMs?: number
  readonly cacheScope?: 'public' | 'private'
}

function toContents(part: unknown, uri: string, mimeType: string | undefined): ResourceContents {
  const built = toPart(part)
  const type = built.mimeType ?? mimeType ?? (built.blob === undefined ? 'text/plain' : 'application/octet-stream')
  const meta = built._meta === undefined ? {} : { _meta: built._meta }
  const where = { uri: built.uri ?? uri, mimeType: type, ...meta }
  return built.blob === undefined ? { ...where, text: built.text ?? '' } : { ...where, blob: built.blob }
}

function toPart(part: unknown): ResourceResult {
  if (typeof part === 'string') return Resource.text(part)
  if (part instanceof Uint8Array) return Resource.blob(part)
  if (isBuilt(part, 'resource')) return part as ResourceResult
  throw new TypeError(
    `A resource must return a string, bytes, Resource.text(…) or Resource.blob(…), not ${typeOf(part)}`,
  )
}

function cacheHints(value: unknown): Pick<ReadResult, 'ttlMs' | 'cacheScope'> {
  const { ttlMs, cacheScope } = value as ReadResult
  return ttlMs === undefined || cacheScope === undefined ? {} : { ttlMs, cacheScope }
}
