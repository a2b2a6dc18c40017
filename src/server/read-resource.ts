import { McpError } from '../errors.js'
import type { ResourceContents } from '../protocol/model.js'
import type { Catalogue, ResolvedResource } from '../router/catalogue.js'
import { type ReadResult, toReadResult } from '../router/resource-result.js'
import type { Session } from '../router/session.js'
import { whenAnswered } from './deferral.js'
import type { ReferredCall } from './referred-call.js'

/** What the handler of a resource returns. */
export function runResource({ offered, params }: ResolvedResource, session: Session): unknown {
  const handler = offered.definition.handler as (params: unknown, session: Session) => unknown
  return handler(params, session)
}

/** @throws McpError `RESOURCE_NOT_FOUND` when the handler has returned nothing. */
export function toRead({ offered }: ResolvedResource, uri: string, returned: unknown): ReadResult {
  const result = toReadResult(returned, uri, offered.definition.mimeType)
  if (result === undefined) throw notFound(uri)
  return result
}

/** 2026-07-28 server/resources, Error Handling: the URI goes back in `data`. */
export function notFound(uri: string): McpError {
  return new McpError('RESOURCE_NOT_FOUND', `Resource not found: ${uri}`, { data: { uri } })
}

/** Reads a resource by its name in a catalogue, for a handler that wants it inside its own answer. */
export async function readNamed(
  catalogue: Catalogue,
  session: Session & ReferredCall,
  { name, params }: { name: string; params: Readonly<Record<string, unknown>> },
): Promise<ResourceContents> {
  const offered = session.sees('resourceTemplates', name) ? catalogue.resources.get(name) : undefined
  if (offered === undefined) throw new McpError('INVALID_PARAMS', `Unknown resource: ${name}`)
  const { template } = offered.definition
  const uri = template.expand(params)
  const resolved = { offered, params: template.match(uri) ?? {} }
  const returned = await whenAnswered(session, await runResource(resolved, session))
  const { contents } = toRead(resolved, uri, returned)
  return contents[0] as ResourceContents
}
