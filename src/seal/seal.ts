import { fromBase64Url, toBase64Url } from '../base64.js'
import { KEY_ID_BYTES, type KeyRing } from './key-ring.js'

/** First byte of every sealed text: another way of sealing gets another one. */
const VERSION = 1
const IV_BYTES = 12
const HEAD_BYTES = 1 + KEY_ID_BYTES
const TAG_BYTES = 16

const utf8 = new TextEncoder()

/** Text that only we can read and make (AES-256-GCM). */
export class Seal {
  readonly #keys: KeyRing
  readonly #maxCharacters: number

  constructor(keys: KeyRing, maxCharacters: number) {
    this.#keys = keys
    this.#maxCharacters = maxCharacters
  }

  /** Undefined when it would be longer than allowed. */
  async seal(text: string): Promise<string | undefined> {
    const plain = utf8.encode(text)
    const bytes = HEAD_BYTES + IV_BYTES + plain.length + TAG_BYTES
    if (Math.ceil((bytes * 4) / 3) > this.#maxCharacters) return undefined
    const { id, key } = await this.#keys.newest()
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
    const sealed = new Uint8Array(bytes)
    sealed[0] = VERSION
    sealed.set(id, 1)
    sealed.set(iv, HEAD_BYTES)
    const additionalData = sealed.slice(0, HEAD_BYTES)
    const closed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, plain)
    sealed.set(new Uint8Array(closed), HEAD_BYTES + IV_BYTES)
    return toBase64Url(sealed)
  }

  /** Undefined for what is not ours, was changed, or was sealed with a key that we do not have. */
  async open(sealed: string): Promise<string | undefined> {
    if (sealed.length > this.#maxCharacters) return undefined
    const bytes = fromBase64Url(sealed)
    if (bytes === undefined || bytes.length < HEAD_BYTES + IV_BYTES + TAG_BYTES || bytes[0] !== VERSION)
      return undefined
    const found = await this.#keys.find(bytes.subarray(1, HEAD_BYTES))
    if (found === undefined) return undefined
    const iv = bytes.slice(HEAD_BYTES, HEAD_BYTES + IV_BYTES)
    const additionalData = bytes.slice(0, HEAD_BYTES)
    try {
      const opened = await crypto.subtle.decrypt(
        { name: 'AES-GCM', iv, additionalData },
        found.key,
        bytes.slice(HEAD_BYTES + IV_BYTES),
      )
      return new TextDecoder().decode(opened)
    } catch {
      return undefined
    }
  }
}
