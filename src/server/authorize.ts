import type { Access } from '../router/access.js'
import type { ExtensionResources } from '../router/extension-rows.js'
import type { Router } from '../router/router.js'
import type { SubscribedResource } from '../router/subscribed-resource.js'
import { isCallbackTimeout } from './settled-within.js'

/** What is needed of the server to say who may follow what. */
export interface Authorizing {
  readonly router: Router<never>
  /** Resources of extensions, where not all of them count. */
  readonly added?: readonly ExtensionResources<never, never>[]
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
  authorizing: Authorizing,
  uris: readonly string[],
  access: Access,
): Promise<readonly string[]> {
  const { router, settled, report } = authorizing
  const { authorizeResourceSubscriptions: authorize } = router.options
  const asked = [...new Set(uris)].flatMap((uri) => toSubscribed(authorizing, uri, access) ?? [])
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

/** What a URI leads to that the caller sees: of the router, or else of an extension, as for `resources/read`. */
function toSubscribed(authorizing: Authorizing, uri: string, access: Access): SubscribedResource | undefined {
  const { router, report } = authorizing
  const sees = (name: string): boolean => access.sees('resourceTemplates', name)
  const own = router.catalogue.resolve(uri)
  if (own !== undefined)
    return sees(own.offered.name) ? { uri, params: own.params, template: own.offered.spec } : undefined
  const { added = router.extensions.all.flatMap(({ resources }) => resources ?? []) } = authorizing
  for (const { resolve } of added) {
    try {
      const resolved = resolve?.(uri, sees)
      if (resolved !== undefined) return { uri, params: resolved.params, template: resolved.template }
    } catch (error) {
      report(error, undefined)
    }
  }
  return undefined
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
