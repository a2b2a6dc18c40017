import { McpError } from '../errors.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { ClientCapabilities } from '../protocol/model.js'
import { type AnyExtension, existsIn } from '../router/extensions.js'
import type { Session } from '../router/session.js'

/** Whether all that is asked for is declared: an empty object asks only that it is there. */
function declares(declared: unknown, required: unknown): boolean {
  if (!isObject(required)) return JSON.stringify(declared) === JSON.stringify(required)
  if (!isObject(declared)) return false
  return Object.entries(required).every(
    ([member, inner]) => Object.hasOwn(declared, member) && declares(declared[member], inner),
  )
}

/** @throws McpError `MISSING_CLIENT_CAPABILITY` that tells what is missing (2026-07-28 basic, Error Codes). */
export function assertDeclared(
  session: Session | undefined,
  required: ClientCapabilities | undefined,
  by: string,
): void {
  if (required === undefined || declares(session?.clientCapabilities, required)) return
  const data = { requiredCapabilities: required }
  throw new McpError('MISSING_CLIENT_CAPABILITY', `${by} needs a capability that the client does not declare`, { data })
}

/** Whether the extension exists in the caller's version, and they declare what it requires. */
export function isSupported(extension: AnyExtension, session: Session): boolean {
  return existsIn(extension, session.protocolVersion) && declares(session.clientCapabilities, extension.requires ?? {})
}
