import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Json, Result } from '../../protocol/model.js'
import { commonCache } from '../../router/cache.js'
import { assertNotDeferred } from '../../router/deferred.js'
import type { ExtensionResources } from '../../router/extension-rows.js'
import { foreignCursor, fromCursor, toCursor } from '../../router/page.js'
import { isResourceList } from '../../router/resource-result.js'
import type { CallSession } from '../call-session.js'
import type { ServerContext } from '../context.js'
import { settingsOf } from '../extension-settings.js'

interface ListPart {
  readonly resources: readonly object[]
  readonly nextCursor?: string | undefined
}
/** Gives a page of its own; the cursor is its own too. */
type ListSource = (cursor: string | undefined) => Promise<ListPart>

/** Resources that extensions have for this caller. */
export function extensionResources(
  { router }: ServerContext,
  session: CallSession,
): readonly ExtensionResources<never, unknown>[] {
  return router.extensions
    .in(session.client.codec)
    .filter((extension) => extension.resources !== undefined && settingsOf(extension, session) !== undefined)
    .map(({ resources }) => resources as ExtensionResources<never, unknown>)
}

/** `resources/list`: what the router has, or its callback gives, and behind that what extensions have. */
export function listResources(context: ServerContext, session: CallSession): Result | Promise<Result> {
  const byCallback = context.router.options.listResources !== undefined
  const added = extensionResources(context, session).filter(({ list }) => list !== undefined)
  if (added.length === 0)
    return byCallback ? listByCallback(context, session, cursorOf(session)) : listFixed(context, session)
  const own: ListSource = byCallback
    ? (cursor) => listByCallback(context, session, cursor)
    : async (cursor) => JSON.parse(listFixed(context, session, cursor).json) as ListPart
  return listAll(context, session, [own, ...added.map((source) => fromExtension(context, session, source))])
}

function listFixed({ pages }: ServerContext, session: CallSession, cursor: unknown = session.params['cursor']) {
  return pages.page('resources', { client: session.client, access: session.access, params: { cursor } })
}

function cursorOf({ params: { cursor } }: CallSession): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor
  throw new McpError('INVALID_PARAMS', 'params.cursor must be a string')
}

async function listByCallback(
  { router }: ServerContext,
  session: CallSession,
  cursor: string | undefined,
): Promise<ListPart> {
  const list: unknown = await router.options.listResources?.(cursor, session as never)
  assertNotDeferred('listResources', list)
  if (!isResourceList(list)) throw new TypeError('listResources must return Resource.list(links, nextCursor)')
  const { codec } = session.client
  return { ...list, resources: list.resources.map((link) => codec.project('resource', link)) }
}

function fromExtension(
  { host }: ServerContext,
  session: CallSession,
  { list }: ExtensionResources<never, unknown>,
): ListSource {
  return async (cursor) => {
    const part: unknown = await list?.(cursor, session as never, host)
    if (!isObject(part) || !Array.isArray(part['resources']))
      throw new TypeError('resources.list of an extension must return { resources, nextCursor? }')
    const { codec } = session.client
    return { ...(part as Json), resources: part['resources'].map((link) => codec.project('resource', link)) }
  }
}

/** One source behind the other. A cursor says which one goes on, and where. */
async function listAll(
  { router }: ServerContext,
  session: CallSession,
  sources: readonly ListSource[],
): Promise<Result> {
  let [at, cursor] = placeOf(cursorOf(session), sources.length)
  const parts: ListPart[] = []
  const resources: object[] = []
  for (;;) {
    const part: ListPart = await (sources[at] as ListSource)(cursor)
    parts.push(part)
    resources.push(...part.resources)
    cursor = part.nextCursor
    if (cursor === undefined) at++
    if (at === sources.length) return { resources, ...commonCache(parts) }
    if (cursor !== undefined || resources.length >= router.pageSize)
      return { resources, nextCursor: toCursor(JSON.stringify([at, cursor])), ...commonCache(parts) }
  }
}

/** @throws McpError `INVALID_PARAMS` for a cursor that was not issued here. */
function placeOf(cursor: string | undefined, count: number): [number, string | undefined] {
  if (cursor === undefined) return [0, undefined]
  try {
    const [at, inner] = JSON.parse(fromCursor(cursor) ?? '') as [unknown, unknown]
    if (Number.isInteger(at) && Number(at) >= 0 && Number(at) < count && (inner === null || typeof inner === 'string'))
      return [Number(at), inner ?? undefined]
  } catch {
    // Whatever it is, it is none of ours.
  }
  throw foreignCursor()
}
