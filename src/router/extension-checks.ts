import { assertOptions } from '../options.js'
import { codecOf } from '../protocol/codecs.js'
import { isProtocolVersion, PROTOCOL_VERSIONS } from '../protocol/versions.js'
import { assertFunction } from './definition.js'
import type { ExtensionRows } from './extension-rows.js'

export type AnyExtension = ExtensionRows<never, never>

/** 2026-07-28 basic, `_meta`: labels of a prefix, a slash, and a name. */
const ID = /^[a-z](?:[a-z\d-]*[a-z\d])?(?:\.[a-z](?:[a-z\d-]*[a-z\d])?)*\/[a-z\d](?:[\w.-]*[a-z\d])?$/i

/** RFC 3986 3.1, in the case in which schemes are written. */
const SCHEME = /^[a-z][a-z\d+.-]*$/

/** Rows that have a name, what they are called, the functions that each needs, and the names that the protocol has itself. */
const GROUPS = {
  methods: { what: 'method', needs: ['handler'], own: methodsOfProtocol },
  toolOptions: { what: 'tool option', needs: ['assert'], own: () => [] },
  outcomes: { what: 'outcome', needs: ['answer'], own: () => ['complete', 'input_required'] },
  listens: {
    what: 'listen filter',
    needs: ['authorize', 'deliver'],
    own: () => ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged', 'resourceSubscriptions'],
  },
} as const
type Group = keyof typeof GROUPS

const ROWS = ['id', 'versions', 'settings', 'requires', 'resources', 'attach', ...Object.keys(GROUPS)]

function methodsOfProtocol(): readonly string[] {
  return PROTOCOL_VERSIONS.flatMap((version) => [...codecOf(version).methods.keys()])
}

/** @throws TypeError that names the extension and the mend, also when two of them have the same. */
export function assertExtensions(extensions: readonly AnyExtension[]): void {
  if (!Array.isArray(extensions)) throw new TypeError('createRouter: extensions must be a list')
  const ids = new Set<string>()
  for (const extension of extensions) {
    const owner = assertExtension(extension)
    if (ids.has(extension.id)) throw new TypeError(`${owner} is there twice: leave one of them out`)
    ids.add(extension.id)
  }
  for (const group of Object.keys(GROUPS) as Group[]) assertNames(extensions, group)
}

/** @throws TypeError for a name that the protocol or another extension has. */
function assertNames(extensions: readonly AnyExtension[], group: Group): void {
  const { what, needs, own } = GROUPS[group]
  const taken = new Map<string, string>(own().map((name) => [name, 'the protocol']))
  for (const { id, [group]: rows } of extensions) {
    for (const [name, row] of Object.entries<object>(rows ?? {})) {
      const owner = `extension '${id}', ${what} '${name}'`
      const other = taken.get(name)
      if (other !== undefined) throw new TypeError(`${owner}: ${other} has it already, so choose another name`)
      taken.set(name, `extension '${id}'`)
      for (const member of needs) assertFunction(`${owner}, ${member}`, (row as Record<string, unknown>)[member])
    }
  }
}

function assertExtension(extension: AnyExtension): string {
  assertOptions('createRouter, extensions', extension, ROWS)
  const { id, versions, resources, attach } = extension
  const owner = `extension '${String(id)}'`
  if (typeof id !== 'string' || !ID.test(id))
    throw new TypeError(`${owner}: an id is a prefix and a name, such as 'com.example/weather'`)
  const wrong = versions?.find((version) => !isProtocolVersion(version))
  if (wrong !== undefined)
    throw new TypeError(`${owner}: version '${String(wrong)}' is none of ${PROTOCOL_VERSIONS.join(', ')}`)
  if (resources !== undefined) assertFunction(`${owner}, resources.read`, resources.read)
  if (resources?.resolve !== undefined) assertFunction(`${owner}, resources.resolve`, resources.resolve)
  if (resources?.scheme !== undefined && !SCHEME.test(resources.scheme))
    throw new TypeError(`${owner}: resources.scheme must be lower-case letters and digits, without a colon`)
  if (attach !== undefined) assertFunction(`${owner}, attach`, attach)
  return owner
}
