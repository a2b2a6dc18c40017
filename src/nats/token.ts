const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })
/** A server ends the connection of a client that sends a line of more than 4 KiB, and names may come from outside. */
const LONGEST = 255

/** A name as one token of a subject: what a subject refuses, and what it takes for a pattern, is encoded. */
export function tokenOf(name: string): string | Promise<string> {
  const bytes = new TextEncoder().encode(name)
  const token = `k${toBase64Url(bytes)}`
  return token.length <= LONGEST ? token : hashed(bytes)
}

/** The name of a token; undefined when it was too long to be in there. */
export function nameOf(token: string): string | undefined {
  return token.startsWith('k')
    ? UTF8.decode(fromBase64(token.slice(1).replaceAll('-', '+').replaceAll('_', '/')))
    : undefined
}

/** A loop, since `Uint8Array.from` takes ten times as long, and values come this way. */
export function fromBase64(text: string): Uint8Array {
  const chars = atob(text)
  const bytes = new Uint8Array(chars.length)
  for (let index = 0; index < chars.length; index += 1) bytes[index] = chars.charCodeAt(index)
  return bytes
}

/** A loop, since `Array.from` takes three times as long, and names come this way with every call. */
function toBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

async function hashed(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return `h${toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}`
}
