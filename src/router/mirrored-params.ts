import { isRecord } from './json-value.js'
import { listSubschemas } from './schema-keywords.js'
import { LazyJson } from './schema-lazy.js'
import type { JsonSchema } from './schema-model.js'
import { keySegment } from './schema-text.js'

/** An argument whose value clients repeat in a header. */
export interface MirroredParam {
  /** The name after `Mcp-Param-`, as declared. */
  readonly header: string
  /** The keys that lead to the argument. */
  readonly path: readonly string[]
  readonly type: 'string' | 'integer' | 'boolean'
}

const ANNOTATION = 'x-mcp-header'

/**
 * The `x-mcp-header` annotations of an input schema (2026-07-28 server/tools).
 * @throws TypeError naming `owner` and the place: a client drops a whole tool for one bad annotation.
 */
export function mirroredParams(owner: string, json: JsonSchema): readonly MirroredParam[] {
  const found: MirroredParam[] = []
  if (json instanceof LazyJson) return found
  if (Object.hasOwn(json, ANNOTATION))
    throw new TypeError(`${owner}: ${ANNOTATION} belongs to a property, not to the whole input.`)
  collect(json, [], { owner, found })
  const names = new Map<string, MirroredParam>()
  for (const param of found) {
    const name = param.header.toLowerCase()
    const other = names.get(name)
    if (other !== undefined) {
      const both = `${toLabel(other.path)} and ${toLabel(param.path)}`
      throw new TypeError(
        `${owner}: ${both} have the same ${ANNOTATION} '${param.header}'; case does not count. Rename one.`,
      )
    }
    names.set(name, param)
  }
  return found
}

/** @throws TypeError unless the name is an RFC 9110 token. */
export function assertHeaderName(name: unknown, owner: string): asserts name is string {
  if (typeof name === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return
  throw new TypeError(
    `${owner}: ${JSON.stringify(name)} is not a header name. Use letters, digits and hyphens, such as 'Region'.`,
  )
}

interface Collection {
  readonly owner: string
  readonly found: MirroredParam[]
}

function collect(schema: JsonSchema, path: readonly string[], collection: Collection): void {
  for (const { keyword, tokens, schema: inner } of listSubschemas(schema)) {
    if (!isRecord(inner)) continue
    if (keyword !== 'properties') {
      refuseAnnotations(inner, keyword, collection.owner)
      continue
    }
    const innerPath = [...path, tokens[1] ?? '']
    if (Object.hasOwn(inner, ANNOTATION)) collection.found.push(toParam(inner, innerPath, collection.owner))
    collect(inner, innerPath, collection)
  }
}

function toParam(schema: JsonSchema, path: readonly string[], owner: string): MirroredParam {
  const { [ANNOTATION]: header, type } = schema
  const place = `${owner}: ${ANNOTATION} of ${toLabel(path)}`
  assertHeaderName(header, place)
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
    throw new TypeError(`${place} needs the type string, integer or boolean, not ${JSON.stringify(type) ?? 'none'}.`)
  }
  return { header, path, type }
}

/** Clients find annotations by walking `properties` alone; anywhere else one is never seen, or taken for a fault. */
function refuseAnnotations(schema: JsonSchema, keyword: string, owner: string): void {
  if (Object.hasOwn(schema, ANNOTATION)) {
    throw new TypeError(
      `${owner}: ${ANNOTATION} cannot stand under '${keyword}'. Only plain properties can be mirrored.`,
    )
  }
  for (const { schema: inner } of listSubschemas(schema)) {
    if (isRecord(inner)) refuseAnnotations(inner, keyword, owner)
  }
}

function toLabel(path: readonly string[]): string {
  const label = path.map(keySegment).join('')
  return label.startsWith('.') ? label.slice(1) : label
}
