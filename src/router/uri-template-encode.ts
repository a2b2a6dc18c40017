const PLAIN = /^[!-$&-~]*$/
const NOT_PLAIN = /(?:%[0-9a-f]{2})+|%|[^!-~]+/gi
const RESERVED_KEPT = /%[0-9a-f]{2}|%|[^\w.~:/?#[\]@!$&'()*+,;=%-]+/gi
const PATH_KEPT = /[^\w.~:/@!$&'()*+,;=-]+/g

/**
 * One spelling for equal URIs: `ä` and `%c3%a4` both become `%C3%A4`, `%41` becomes `A`, while reserved characters stay
 * as they are, since `%2F` and `/` differ. Undefined for malformed percent-encoding and lone surrogates.
 */
export function canonicalUri(uri: string): string | undefined {
  if (PLAIN.test(uri)) return uri
  try {
    return uri.replace(NOT_PLAIN, (run) => encodeURIComponent(run.startsWith('%') ? decodeURIComponent(run) : run))
  } catch {
    // A malformed URI is one that no template matches, not a failure of the server.
    return undefined
  }
}

/** RFC 6570 3.2.1, the set U: everything but unreserved characters is encoded. @throws URIError on a lone surrogate. */
export function encodeUnreserved(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** RFC 6570 3.2.1, the set U+R: reserved characters and triplets pass. @throws URIError on a lone surrogate. */
export function encodeReserved(text: string): string {
  return text.replace(RESERVED_KEPT, (run) => (run.length === 3 && run.startsWith('%') ? run : encodeURIComponent(run)))
}

/** For a glob: slashes pass, `?`, `#` and `%` do not, so the value is read back as it was. @throws URIError on a lone surrogate. */
export function encodePath(text: string): string {
  return text.replace(PATH_KEPT, (run) => encodeURIComponent(run))
}
