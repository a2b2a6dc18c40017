import { isRecord } from './json-value.js'
import { parsePointer } from './schema-keywords.js'

type Json = Readonly<Record<string, unknown>>

/** A schema with an identity of its own: the document, or a part with an `$id`. */
export interface Resource {
  readonly uri: string
  readonly root: Json
  readonly anchors: Map<string, Json>
}

/** Finds what a reference means within the document; undefined when it leaves the document or leads nowhere. */
export function resolveReference(reference: string, base: Resource, resources: ReadonlyMap<string, Resource>): unknown {
  const hash = reference.indexOf('#')
  const uri = hash < 0 ? reference : reference.slice(0, hash)
  const fragment = hash < 0 ? '' : reference.slice(hash + 1)
  const resource = uri === '' ? base : resources.get(resolveUri(uri, base.uri))
  if (resource === undefined) return undefined
  if (fragment === '') return resource.root
  return fragment.startsWith('/') ? followPointer(resource.root, fragment) : resource.anchors.get(fragment)
}

function followPointer(root: unknown, fragment: string): unknown {
  const tokens = parsePointer(fragment)
  if (tokens === undefined) return undefined
  let found = root
  for (const token of tokens) {
    if (!(isRecord(found) || Array.isArray(found)) || !Object.hasOwn(found, token)) return undefined
    found = isRecord(found) ? found[token] : found[Number(token)]
  }
  return found
}

/** Resolves a URI reference without fragment (RFC 3986 section 5.2); portable code has no `URL` to lean on. */
export function resolveUri(reference: string, base: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(reference)) return reference
  const [, scheme = '', authority = '', path = ''] = /^([a-z][a-z0-9+.-]*:)?(\/\/[^/?#]*)?([^?#]*)/i.exec(base) ?? []
  if (reference.startsWith('//')) return scheme + reference
  if (reference.startsWith('?')) return scheme + authority + path + reference
  const merged = reference.startsWith('/') ? reference : path.slice(0, path.lastIndexOf('/') + 1) + reference
  return scheme + authority + removeDots(merged)
}

function removeDots(path: string): string {
  if (!path.includes('.')) return path
  const kept: string[] = []
  const segments = path.split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '..' && kept.length > 1) kept.pop()
    else if (segment !== '.' && segment !== '..') kept.push(segment)
    if (index === segments.length - 1 && (segment === '.' || segment === '..')) kept.push('')
  }
  return kept.join('/')
}
