import type { Codec, Projected } from '../protocol/codec.js'
import { SerializedResult } from '../protocol/model.js'
import type { Access } from '../router/access.js'
import type { Catalogue } from '../router/catalogue.js'
import { cutPage } from '../router/page.js'
import type { Visible } from '../router/session.js'
import type { CallSession } from './call-session.js'

type PageCall = Pick<CallSession, 'client' | 'access' | 'params'>

/** The lists that are cut into pages here, with their member in the result and the kind of their entries. */
const LISTS: Readonly<Record<ListName, Projected>> = {
  tools: 'tool',
  prompts: 'prompt',
  resources: 'resource',
  resourceTemplates: 'resourceTemplate',
}

export type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** The allow-list that each list is seen through. */
const VISIBLE: Readonly<Record<ListName, Visible>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resourceTemplates',
  resourceTemplates: 'resourceTemplates',
}

interface Asked {
  readonly access: Access
  readonly cursor: unknown
}

interface Entry {
  readonly name: string
  readonly spec: object
}

/** Pages that are kept at once; each version of each list has its own. */
const MAX_KEPT = 64

/**
 * List results as JSON text, made once per revision of the catalogue, protocol version and visibility. A cursor names the entry that
 * its page begins with, so that it survives other changes of the catalogue.
 */
export class Pages {
  readonly #catalogue: Catalogue
  readonly #size: number
  readonly #kept = new Map<string, SerializedResult>()
  #revision = -1

  constructor(catalogue: Catalogue, size: number) {
    this.#catalogue = catalogue
    this.#size = size
  }

  /** @throws McpError `INVALID_PARAMS` for a cursor that was not issued for this list, or whose entry is gone. */
  page(list: ListName, { client: { codec }, access, params: { cursor } }: PageCall): SerializedResult {
    if (this.#revision !== this.#catalogue.revision) this.#kept.clear()
    this.#revision = this.#catalogue.revision
    const key = JSON.stringify([
      list,
      codec.version,
      cursor === undefined ? 'first' : [cursor],
      access.visibility(VISIBLE[list]),
    ])
    const kept = this.#kept.get(key)
    if (kept !== undefined) return this.#touch(key, kept)
    const made = this.#make(list, codec, { access, cursor })
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value as string)
    this.#kept.set(key, made)
    return made
  }

  /** The page that was asked for last is the last to go. */
  #touch(key: string, kept: SerializedResult): SerializedResult {
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    return kept
  }

  #make(list: ListName, codec: Codec, { access, cursor }: Asked): SerializedResult {
    const entries = this.#entries(list).filter(({ name }) => access.sees(VISIBLE[list], name))
    const { entries: page, nextCursor } = cutPage(list, entries, { cursor, size: this.#size })
    const projected = page.map(({ spec }) => codec.project(LISTS[list], spec))
    return new SerializedResult(
      JSON.stringify({ [list]: projected, ...(nextCursor === undefined ? {} : { nextCursor }) }),
    )
  }

  #entries(list: ListName): readonly Entry[] {
    const { tools, prompts, resources } = this.#catalogue
    if (list === 'tools') return [...tools.values()]
    if (list === 'prompts') return [...prompts.values()]
    return [...resources.values()].filter(({ definition }) => definition.template.fixed === (list === 'resources'))
  }
}
