import { canonicalUri } from '../router/uri-template-encode.js'

/** One spelling for the URIs of a resource that is followed: what was subscribed is found again, however it was written. */
export function followedUri(uri: string): string {
  return canonicalUri(uri) ?? uri
}
