import { canonicalUri } from '../router/uri-template-encode.js'

/** Scheme and host, whose case does not count (RFC 3986 6.2.2.1). */
const CASELESS = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*)?/i

/** One spelling for the URIs of a resource that is followed: what was subscribed is found again, however it was written. */
export function followedUri(uri: string): string {
  return (canonicalUri(uri) ?? uri).replace(CASELESS, (start) => start.toLowerCase())
}
