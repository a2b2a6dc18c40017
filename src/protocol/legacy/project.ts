import type { Projected } from '../codec.js'
import { isObject } from '../jsonrpc.js'
import { NEWEST_SESSION_VERSION, type SessionVersion } from '../versions.js'
import { CONTENT_SINCE, DIALECT_SINCE, GATES, LAST_MODIFIED_SINCE } from './gates.js'

type Members = Readonly<Record<string, unknown>>

/** Brings an item of the richest form down to one version: what the version lacks is left out. */
export class Projection {
  readonly #version: SessionVersion

  constructor(version: SessionVersion) {
    this.#version = version
  }

  project(kind: Projected, item: Members): Members {
    // The newest of these versions lacks nothing but output schemas of other types than object.
    if (this.#version === NEWEST_SESSION_VERSION && kind !== 'tool') return item
    const since = kind === 'content' ? CONTENT_SINCE[String(item['type'])] : undefined
    if (!this.#has(since)) return { type: 'text', text: describe(item) }
    const gates = GATES[kind]
    const kept: Record<string, unknown> = {}
    for (const [member, value] of Object.entries(item)) {
      if (!this.#has(gates[member])) continue
      kept[member] = isObject(value) ? this.#member(kind, member, value) : value
    }
    if (kind === 'prompt') this.#promptArguments(kept)
    if (kind === 'tool' && !isObjectSchema(kept['outputSchema'])) delete kept['outputSchema']
    return kept
  }

  /** Versions are dates, so that text order is their order; `never` sorts behind all of them. */
  #has(since: string | undefined): boolean {
    return since === undefined || this.#version >= since
  }

  #member(kind: Projected, member: string, value: Members): Members {
    if (member === 'annotations' && !this.#has(LAST_MODIFIED_SINCE)) return omit(value, 'lastModified')
    if (member === 'resource' && kind === 'content') return this.project('contents', value)
    const isSchema = member === 'inputSchema' || member === 'outputSchema'
    return isSchema && !this.#has(DIALECT_SINCE) ? omit(value, '$schema') : value
  }

  #promptArguments(kept: Record<string, unknown>): void {
    const { arguments: list } = kept
    if (Array.isArray(list))
      kept['arguments'] = list.map((argument: Members) => this.project('promptArgument', argument))
  }
}

function omit(item: Members, member: string): Members {
  const { [member]: _left, ...rest } = item
  return rest
}

/** Up to 2025-11-25 an output schema describes an object. */
function isObjectSchema(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'object'
}

/** Nothing vanishes: a block that the version lacks is told in words. */
function describe(block: Members): string {
  if (block['type'] === 'resource_link') return String(block['uri'])
  const { data, mimeType } = block
  return `[audio, ${String(mimeType)}, ${typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0} bytes]`
}
