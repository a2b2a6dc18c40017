import { toBase64Url } from '../../base64.js'

const utf8 = new TextEncoder()

/** SHA-256 of a text, in characters that are safe everywhere. */
export async function digest(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8.encode(text))))
}
