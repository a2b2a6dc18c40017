/** How long a client may keep a result, in milliseconds, and whether others may see the copy. */
export interface CacheOptions {
  readonly ttlMs: number
  /** `public` lets a shared cache give the result to other users, whoever they are. @default 'private' */
  readonly scope?: 'public' | 'private'
}

/** A result that tells the client how long it may be kept. */
export type Cached<Result> = Result & { readonly ttlMs: number; readonly cacheScope: 'public' | 'private' }

/**
 * Lets clients of 2026-07-28 keep a resource or a list of resources; others get it without the hint. Results are not kept
 * unless this says so (2026-07-28 server/utilities/caching).
 *
 * @throws TypeError when `ttlMs` is not a whole number of at least 0, or `scope` is not one of the two words.
 */
export function withCache<Result extends object>(result: Result, options: CacheOptions): Cached<Result> {
  const { ttlMs, scope = 'private' } = options
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) {
    throw new TypeError(`withCache: ttlMs must be a whole number of milliseconds from 0 on, not ${String(ttlMs)}`)
  }
  if (scope !== 'public' && scope !== 'private') {
    throw new TypeError(`withCache: scope must be 'public' or 'private', not ${JSON.stringify(scope)}`)
  }
  if (Array.isArray(result))
    return Object.assign([...result], { ttlMs, cacheScope: scope }) as unknown as Cached<Result>
  return { ...result, ttlMs, cacheScope: scope }
}

/** The hint for what was put together from several results: as short as the shortest, public where all are; none where one has none. */
export function commonCache(results: readonly object[]): { ttlMs?: number; cacheScope?: 'public' | 'private' } {
  const hints = results.map((result) => result as Partial<Cached<object>>)
  const ttls = hints.map(({ ttlMs }) => ttlMs).filter((ttlMs) => ttlMs !== undefined)
  if (ttls.length === 0 || ttls.length < hints.length) return {}
  const isPublic = hints.every(({ cacheScope }) => cacheScope === 'public')
  return { ttlMs: Math.min(...ttls), cacheScope: isPublic ? 'public' : 'private' }
}
