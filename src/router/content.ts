import { encodeBase64, isBase64 } from '../base64.js'
import type {
  Annotations,
  AudioContent,
  EmbeddedResource,
  ImageContent,
  Json,
  ResourceContents,
  ResourceLink,
  ResourceSpec,
  TextContent,
} from '../protocol/model.js'

/** Members that any piece of content may carry. */
export interface ContentOptions {
  readonly annotations?: Annotations
  readonly _meta?: Json
}

/** Bytes, or text that is Base64 already. */
export type Binary = Uint8Array | string

/** What a link says beside its URI; what is not given comes from the resource's own definition. */
export type LinkAttributes = Partial<Omit<ResourceSpec, 'uri'>>

/** Whatever describes a resource: a definition, what `resourceFor` gives as `template`, or an object of your own. */
export type LinkTarget = LinkAttributes & { readonly name: string }

export function textBlock(text: string, options: ContentOptions = {}): TextContent {
  if (typeof text !== 'string') throw new TypeError(`Text content must be a string, not ${typeOf(text)}`)
  return { type: 'text', text, ...options }
}

export function imageBlock(data: Binary, mimeType: string, options: ContentOptions = {}): ImageContent {
  return { type: 'image', data: toBase64(data, 'Image'), mimeType, ...options }
}

export function audioBlock(data: Binary, mimeType: string, options: ContentOptions = {}): AudioContent {
  return { type: 'audio', data: toBase64(data, 'Audio'), mimeType, ...options }
}

export function embeddedBlock(resource: ResourceContents, options: ContentOptions = {}): EmbeddedResource {
  return { type: 'resource', resource, ...options }
}

export function linkBlock(uri: string, target: LinkTarget, attributes: LinkAttributes = {}): ResourceLink {
  return { type: 'resource_link', ...resourceSpec(uri, target, attributes) }
}

const LINK_MEMBERS = ['name', 'title', 'description', 'mimeType', 'size', 'icons', 'annotations', '_meta'] as const

/** The list entry of a resource; a definition has more members than a client may see, so only the known ones are taken. */
export function resourceSpec(uri: string, target: LinkTarget, attributes: LinkAttributes = {}): ResourceSpec {
  const spec: Record<string, unknown> = { uri }
  for (const member of LINK_MEMBERS) {
    const value = attributes[member] ?? target[member]
    if (value !== undefined) spec[member] = value
  }
  return spec as unknown as ResourceSpec
}

/** Base64 of bytes; text must be Base64 already, for a client would fail to decode it. */
export function toBase64(data: Binary, what: string): string {
  if (data instanceof Uint8Array) return encodeBase64(data)
  if (typeof data === 'string' && isBase64(data)) return data
  throw new TypeError(`${what} data must be a Uint8Array or a Base64 string, not ${typeOf(data)}`)
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : typeof value
}

/** JSON text of a structured value. @throws TypeError for what JSON has no form of. */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`A structured value must be JSON, not ${typeOf(value)}`)
  return text
}
