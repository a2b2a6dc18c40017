import { assertOptions, pick } from '../options.js'
import type { Codec, Method } from '../protocol/codec.js'
import { type AnyExtension, assertExtensions } from './extension-checks.js'
import type { ExtensionMethod } from './extension-rows.js'
import type { ResourceDefinition } from './resource.js'
import { inputSchema, type Schema } from './schema.js'
import type { ToolDefinition } from './tool.js'

export type { AnyExtension }

/** A method of an extension, ready to be served. */
export interface OfferedMethod {
  readonly extension: AnyExtension
  readonly row: ExtensionMethod<never, never>
  readonly method: Method
  readonly params: Schema | undefined
}

const METHOD_ROWS = ['params', 'mirrors', 'cacheable', 'paginated', 'requires', 'handler']

/** The extensions of a router, each known by what it adds. */
export class Extensions {
  readonly all: readonly AnyExtension[]
  readonly #methods: ReadonlyMap<string, OfferedMethod>

  /** @throws TypeError that names the extension and the mend. */
  constructor(extensions: readonly AnyExtension[]) {
    assertExtensions(extensions)
    this.all = [...extensions]
    this.#methods = new Map(extensions.flatMap(methodsOf))
  }

  /** Those that exist in a version. */
  in(codec: Codec): readonly AnyExtension[] {
    return this.all.filter((extension) => existsIn(extension, codec.version))
  }

  /** A method that the version's own table does not have. */
  method(codec: Codec, name: string): OfferedMethod | undefined {
    const offered = this.#methods.get(name)
    return offered !== undefined && existsIn(offered.extension, codec.version) ? offered : undefined
  }

  /** @throws TypeError for a resource whose scheme is that of an extension. */
  assertResource({ name, template: { uriTemplate } }: ResourceDefinition<never>): void {
    const scheme = uriTemplate.slice(0, uriTemplate.indexOf(':')).toLowerCase()
    const owner = this.all.find(({ resources }) => resources?.scheme === scheme)
    if (owner !== undefined)
      throw new TypeError(`resource '${name}': ${scheme}: is for the extension '${owner.id}', so choose another scheme`)
  }

  /** @throws TypeError for an option of a tool that neither tools nor these extensions have, or that one of them refuses. */
  assertTool({ name: tool, added, known }: ToolDefinition<never>): void {
    if (added === undefined) return
    assertOptions(`tool '${tool}'`, added, [
      ...known,
      ...this.all.flatMap(({ toolOptions = {} }) => Object.keys(toolOptions)),
    ])
    for (const { toolOptions = {} } of this.all) {
      for (const [option, { assert }] of Object.entries(toolOptions))
        if (Object.hasOwn(added, option)) assert(added[option], `tool '${tool}': ${option}`)
    }
  }
}

export function existsIn({ versions }: AnyExtension, version: string): boolean {
  return versions === undefined || (versions as readonly string[]).includes(version)
}

function methodsOf(extension: AnyExtension): [string, OfferedMethod][] {
  return Object.entries(extension.methods ?? {}).map(([name, row]) => {
    const owner = `extension '${extension.id}', method '${name}'`
    assertOptions(owner, row, METHOD_ROWS)
    const params = row.params === undefined ? undefined : inputSchema(owner, { input: row.params })
    const method: Method = { operation: 'extension', ...pick(row, ['cacheable', 'mirrors']) }
    return [name, { extension, row, method, params }]
  })
}
