const CHUNK = 0x8000
const OUTSIDE = /[^A-Za-z0-9+/]/

interface NativeBytes extends Uint8Array {
  toBase64?(): string
}

/** Standard Base64 with padding, on every host. */
export function encodeBase64(bytes: Uint8Array): string {
  const native = (bytes as NativeBytes).toBase64
  if (typeof native === 'function') return native.call(bytes)
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

/** Strict: alphabet and padding are checked, since hosts' own decoders let both slip. Undefined when it is not Base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!isBase64(text)) return undefined
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}

export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  // Searched for what is wrong: an expression that matches the whole overflows the stack where a text has some megabytes.
  const end = text.search(OUTSIDE)
  return end < 0 || (end >= text.length - 2 && /^==?$/.test(text.slice(end)))
}

/** Base64 for URLs, without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Undefined for text that {@link toBase64Url} would not have made: each value has one text. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  const bytes = decodeBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='))
  return bytes !== undefined && toBase64Url(bytes) === text ? bytes : undefined
}
