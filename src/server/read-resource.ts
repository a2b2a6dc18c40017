import { McpError } from '../errors.js'
import type { ResourceContents } from '../protocol/model.js'
import type { ResolvedResource } from '../router/catalogue.js'
import { type ReadResult, toReadResult } from '../router/resource-result.js'
import type { Router } from '../router/router.js'
import type { Session } from '../router/session.js'

/** Runs the handler of a resource. @throws McpError `RESOURCE_NOT_FOUND` when it has nothing. */
export async function readResolved(
  { resource, params }: ResolvedResource,
  uri: string,
  session: Session,
): Promise<ReadResult> {
  const handler = resource.handler as (params: unknown, session: Session) => unknown
  const result = toReadResult(await handler(params, session), uri, resource.mimeType)
  if (result === undefined) throw notFound(uri)
  return result
}

/** 2026-07-28 server/resources, Error Handling: the URI goes back in `data`. */
export function notFound(uri: string): McpError {
  return new McpError('RESOURCE_NOT_FOUND', `Resource not found: ${uri}`, { data: { uri } })
}

/** Reads a resource by its name in the router, for a handler that wants it inside its own answer. */
export async function readNamedResource(
  router: Router<never>,
  session: Session,
  { name, params }: { name: string; params: Readonly<Record<string, unknown>> },
): Promise<ResourceContents> {
  const uri = router.resourceUri(name, params)
  const resource = router.catalogue.resources.get(name)
  const matched = resource?.template.match(uri)
  if (resource === undefined || matched === undefined) throw notFound(uri)
  const { contents } = await readResolved({ resource, params: matched }, uri, session)
  return contents[0] as ResourceContents
}
