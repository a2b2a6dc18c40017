import type { Access } from '../router/access.js'
import type { Router } from '../router/router.js'
import type { SubscribedResource } from '../router/router-options.js'
import { isCallbackTimeout } from './settled-within.js'

/** What is needed of the server to say who may follow what. */
export interface Authorizing {
  readonly router: Router<never>
  settled<Value>(callback: string, value: PromiseLike<Value>): Promise<Value>
  report(error: unknown, session: undefined): void
}

/**
 * The URIs that the caller may follow, of those that were asked for. Fails closed: what is no resource of the caller's, a
 * callback that throws or answers with something else than was asked, allows nothing.
 *
 * @throws McpError, retryable, when the callback does not settle.
 */
export async function authorizeResources(
  { router, settled, report }: Authorizing,
  uris: readonly string[],
  access: Access,
): Promise<readonly string[]> {
  const { catalogue, options } = router
  const asked: SubscribedResource[] = []
  for (const uri of new Set(uris)) {
    const resolved = catalogue.resolve(uri)
    if (resolved === undefined || !access.sees('resourceTemplates', resolved.offered.name)) continue
    asked.push({ uri, params: resolved.params, template: resolved.offered.spec })
  }
  const { authorizeResourceSubscriptions: authorize } = options
  if (authorize === undefined || asked.length === 0) return asked.map(({ uri }) => uri)
  try {
    const answering = Promise.resolve(authorize(asked, access as never))
    return allowedOf(asked, await settled('authorizeResourceSubscriptions', answering))
  } catch (error) {
    if (isCallbackTimeout(error)) throw error
    report(error, undefined)
    return []
  }
}

/** @throws TypeError for an answer that is neither null nor a part of what was asked. */
function allowedOf(asked: readonly SubscribedResource[], answer: unknown): readonly string[] {
  if (answer === null || answer === undefined) return []
  if (!Array.isArray(answer)) {
    throw new TypeError('authorizeResourceSubscriptions must return a list of what it was given, or null')
  }
  const known = new Set(asked.map(({ uri }) => uri))
  const allowed = answer.map((entry: unknown) =>
    typeof entry === 'string' ? entry : (entry as Partial<SubscribedResource> | null)?.uri,
  )
  const foreign = allowed.find((uri) => uri === undefined || !known.has(uri))
  if (allowed.length > 0 && allowed.some((uri) => uri === undefined || !known.has(uri))) {
    throw new TypeError(`authorizeResourceSubscriptions allowed what was not asked for: ${String(foreign)}`)
  }
  return [...new Set(allowed as readonly string[])]
}
