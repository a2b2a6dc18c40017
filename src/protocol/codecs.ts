import type { Codec } from './codec.js'
import { legacyCodec } from './legacy/codec.js'
import { modernCodec } from './modern/codec.js'
import { isSessionVersion, NEWEST_SESSION_VERSION, type ProtocolVersion, STATELESS_VERSIONS } from './versions.js'

/** The versions that `server/discover` names; the others are found by `initialize`. */
export const DISCOVERED_VERSIONS: readonly string[] = STATELESS_VERSIONS

export function codecOf(version: ProtocolVersion): Codec {
  return isSessionVersion(version) ? legacyCodec(version) : modernCodec
}

/**
 * The version of a session whose client asked for `requested`: that one when it is served, else our newest
 * (2025-11-25 basic/lifecycle, Version Negotiation).
 */
export function negotiateCodec(requested: string): Codec {
  return legacyCodec(isSessionVersion(requested) ? requested : NEWEST_SESSION_VERSION)
}
