import { type Connecting, type ConnectRequest, forbidden, type Refusal, unauthorized } from 'phantom-mcp'

/** What handlers of the guarded endpoints find in the session. */
export interface Caller {
  /** The user, whichever of their tokens they come with. */
  readonly subject: string
  readonly scopes: readonly ('read' | 'write')[]
}

/** Every token that is valid; each may read. */
const CALLERS: ReadonlyMap<string, Caller> = new Map([
  ['tok-ana', { subject: 'ana', scopes: ['read', 'write'] }],
  ['tok-ana-2', { subject: 'ana', scopes: ['read', 'write'] }],
  ['tok-bo', { subject: 'bo', scopes: ['read', 'write'] }],
  ['tok-read', { subject: 'ana', scopes: ['read'] }],
])

/** All tools but wipe, which writes. */
const READING = [
  ...['echo', 'noargs', 'größe', 'opts', 'slow', 'stats', 'tree', 'shared', 'val', 'boom', 'out', 'routed', 'touch'],
  ...['logger', 'ask', 'ask2'],
]

const MORE_SCOPE = { method: 'Bearer', error: 'insufficient_scope', scope: 'read write' }

/**
 * Lets in who has a token, and shows them what its scopes allow. A client that names the tool in a header is told which scope
 * it lacks; for the others the tool is not there.
 */
export function admit(session: Connecting, request: ConnectRequest): Connecting<Caller> | Refusal {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (token === undefined) return unauthorized()
  const caller = CALLERS.get(token)
  if (caller === undefined) return unauthorized({ method: 'Bearer', error: 'invalid_token' })
  if (!caller.scopes.includes('write')) {
    if (request.headers.get('mcp-name') === 'wipe') return forbidden('The scope write is needed', MORE_SCOPE)
    session.allowTools(READING)
  }
  return session.assign(caller)
}
