import { Access } from '../router/access.js'
import { isRefusal, type Refusal } from '../router/refusal.js'
import type { AnyRouterOptions } from '../router/router-options.js'
import type { ConnectRequest } from '../router/session.js'

/**
 * Asks the application who is calling.
 *
 * @throws whatever `connect` or `principal` throw, and a TypeError for what they must not return: the caller is not let in.
 */
export async function connectCaller(
  { connect, principal }: AnyRouterOptions,
  request: ConnectRequest,
  sessionId: string | undefined,
): Promise<Access | Refusal> {
  const access = new Access(sessionId)
  if (connect === undefined) return access
  const answer: unknown = await connect(access, request)
  if (isRefusal(answer)) return answer
  if (answer !== access) throw new TypeError('connect must return the session that it was given, or a refusal')
  nameCaller(access, principal)
  return access
}

/** Asks the application what to call a caller. @throws what `principal` throws, and a TypeError for what it must not return. */
export function nameCaller(access: Access, principal: AnyRouterOptions['principal']): void {
  const name: unknown = principal?.(access as never)
  if (name !== null && (typeof name !== 'string' || name === '')) {
    throw new TypeError('principal must return a string that is not empty, or null')
  }
  access.principal = name
}

/** What is known of a caller without an HTTP request. */
export const NO_REQUEST: Omit<ConnectRequest, 'query'> = {
  headers: { get: () => null },
  url: '',
  remote: undefined,
}
