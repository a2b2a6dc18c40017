/** Versions that begin with `initialize`, oldest first. */
export const SESSION_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
/** Versions in which each request stands alone. */
export const STATELESS_VERSIONS = ['2026-07-28'] as const

export type SessionVersion = (typeof SESSION_VERSIONS)[number]
export type StatelessVersion = (typeof STATELESS_VERSIONS)[number]
/** Every protocol version that is served. */
export type ProtocolVersion = SessionVersion | StatelessVersion

export const NEWEST_SESSION_VERSION: SessionVersion = '2025-11-25'
/** What a client speaks that names no version (2025-06-18 basic/transports, Protocol Version Header). */
export const ASSUMED_SESSION_VERSION: SessionVersion = '2025-03-26'

export function isSessionVersion(value: unknown): value is SessionVersion {
  return (SESSION_VERSIONS as readonly unknown[]).includes(value)
}

export function isStatelessVersion(value: unknown): value is StatelessVersion {
  return (STATELESS_VERSIONS as readonly unknown[]).includes(value)
}

/** Every version, oldest first. */
export const PROTOCOL_VERSIONS: readonly ProtocolVersion[] = [...SESSION_VERSIONS, ...STATELESS_VERSIONS]

export function isProtocolVersion(value: unknown): value is ProtocolVersion {
  return isSessionVersion(value) || isStatelessVersion(value)
}
