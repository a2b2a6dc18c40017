import type { ProtocolVersion } from './versions.js'

/** Notifications of servers that the specification names in some versions only. All others are in every version, or your own. */
const VERSIONS: Readonly<Record<string, readonly ProtocolVersion[]>> = {
  'notifications/elicitation/complete': ['2025-11-25'],
  'notifications/tasks/status': ['2025-11-25'],
  'notifications/subscriptions/acknowledged': ['2026-07-28'],
}

/** True for a notification that is known to the specification, but not in this version. */
export function lacksNotification(version: ProtocolVersion, method: string): boolean {
  return Object.hasOwn(VERSIONS, method) && VERSIONS[method]?.includes(version) === false
}
