import { assertSecret, type SecretKeyBase } from '../secret-key-base.js'

/** WebCrypto's key, in the words of every host. */
type WebKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** A key with the mark by which a sealed value tells which one it was made with. */
export interface SealKey {
  readonly id: Uint8Array<ArrayBuffer>
  readonly key: WebKey
}

/** Bytes of a key's mark. */
export const KEY_ID_BYTES = 8
/** Secrets whose keys are kept: a ring holds a few. */
const MAX_KEPT = 16

const utf8 = new TextEncoder()

/** The keys of a ring of secrets, derived once for each of them (HKDF, RFC 5869). */
export class KeyRing {
  readonly #owner: string
  readonly #secrets: SecretKeyBase
  readonly #salt: Uint8Array<ArrayBuffer>
  readonly #derived = new Map<string, Promise<SealKey>>()

  /** @throws TypeError for secrets that are too short. */
  constructor(owner: string, secrets: SecretKeyBase, salt: string) {
    assertSecret(owner, secrets)
    this.#owner = owner
    this.#secrets = secrets
    this.#salt = utf8.encode(salt)
  }

  /** The newest key. @throws TypeError when a function gave no secret. */
  async newest(): Promise<SealKey> {
    const [newest] = await this.#ring()
    return await this.#derive(newest as string)
  }

  /** The key of a mark; undefined when it is none of ours. @throws TypeError when a function gave no secret. */
  async find(id: Uint8Array): Promise<SealKey | undefined> {
    for (const secret of await this.#ring()) {
      const candidate = await this.#derive(secret)
      if (candidate.id.every((byte, at) => byte === id[at])) return candidate
    }
    return undefined
  }

  async #ring(): Promise<readonly string[]> {
    const given: string | readonly string[] =
      typeof this.#secrets === 'function' ? await this.#secrets() : this.#secrets
    assertSecret(this.#owner, given)
    return typeof given === 'string' ? [given] : given
  }

  #derive(secret: string): Promise<SealKey> {
    const known = this.#derived.get(secret)
    if (known !== undefined) return known
    if (this.#derived.size >= MAX_KEPT) this.#derived.clear()
    const derived = this.#deriveNow(secret)
    this.#derived.set(secret, derived)
    return derived
  }

  async #deriveNow(secret: string): Promise<SealKey> {
    const { subtle } = crypto
    const base = await subtle.importKey('raw', utf8.encode(secret), 'HKDF', false, ['deriveBits', 'deriveKey'])
    const of = (info: string) => ({ name: 'HKDF', hash: 'SHA-256', salt: this.#salt, info: utf8.encode(info) })
    const id = await subtle.deriveBits(of('key id'), base, KEY_ID_BYTES * 8)
    const key = await subtle.deriveKey(of('key'), base, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    return { id: new Uint8Array(id), key }
  }
}
