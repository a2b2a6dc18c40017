import { type Connecting, type ConnectRequest, forbidden, type Refusal, unauthorized } from 'phantom-mcp'
import type { StudiesDatabase, User } from './database.js'

/** What handlers find in the session. */
export interface Assigns {
  readonly user: User
}

const METADATA = 'https://example.com/.well-known/oauth-protected-resource'

/** Lets in who holds a token of the database's, and shows them what their plan allows. */
export function admit(
  studies: StudiesDatabase,
  session: Connecting,
  request: ConnectRequest,
): Connecting<Assigns> | Refusal {
  const [, token] = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const user = token === undefined ? undefined : studies.userOf(token)
  if (user === undefined) return unauthorized({ method: 'Bearer', resource_metadata: METADATA })
  if (user.suspended) return forbidden('Please upgrade your plan to use this server')
  if (user.plan === 'basic') session.allowTools(['create_question']).allowResourceTemplates(['study'])
  return session.assign({ user })
}
