import { commonCache } from '../router/cache.js'
import type { Session } from '../router/session.js'
import type { ServedSkill } from './shelf.js'

/** How long something may be kept. */
export interface Hint {
  readonly ttlMs?: number
  readonly cacheScope?: 'public' | 'private'
}

/** True where an allow-list of resources stands: no skill has the empty name, so that a list which hides it hides something. */
export function isLimited(session: Session): boolean {
  return !session.sees('resourceTemplates', '')
}

/** The hint of one skill; what a caller with an allow-list got is theirs. */
export function ownHint({ hint: { ttlMs, cacheScope } }: ServedSkill, session: Session): Hint {
  if (ttlMs === undefined) return {}
  return { ttlMs, cacheScope: isLimited(session) ? 'private' : (cacheScope ?? 'private') }
}

/** The hint of a list: none where one of its skills has none. `shared`: others would get the same. */
export function listHint(skills: readonly ServedSkill[], list: Hint | undefined, shared: boolean): Hint {
  const own = list?.ttlMs === undefined ? [] : [list]
  const { ttlMs, cacheScope } = commonCache([...skills.map(({ hint }) => hint), ...own])
  return ttlMs === undefined ? {} : { ttlMs, cacheScope: shared ? (cacheScope ?? 'private') : 'private' }
}
