import { KeyRing } from '../../seal/key-ring.js'
import { Seal } from '../../seal/seal.js'
import type { SecretKeyBase } from '../../secret-key-base.js'

/** Characters of a sealed state; what is longer is kept in the store. */
const MAX_STATE = 16_384
const DEFAULT_SALT = 'phantom-mcp request state'
const RANDOM_BYTES = 64

export interface SecretsOptions {
  readonly secretKeyBase?: SecretKeyBase | undefined
  readonly requestStateSalt?: string | undefined
}

/** What seals the states that clients carry: with the router's secret, or one of this process where that is enough. */
export class Secrets {
  readonly #salt: string
  #seal: Seal | undefined
  #warn: (() => void) | undefined
  #mayBeRandom = false

  /** @throws TypeError for a secret that is too short. */
  constructor({ secretKeyBase, requestStateSalt = DEFAULT_SALT }: SecretsOptions) {
    this.#salt = requestStateSalt
    if (secretKeyBase !== undefined) {
      this.#seal = new Seal(new KeyRing('createRouter', secretKeyBase, requestStateSalt), MAX_STATE)
    }
  }

  get given(): boolean {
    return this.#seal !== undefined
  }

  /** What sealed values can be opened with; undefined while there can be none. */
  get known(): Seal | undefined {
    return this.#seal
  }

  /** From here on a server without a secret makes one when it asks: all its clients are of this machine. `warn` is called once then. */
  allowRandom(warn?: () => void): void {
    this.#mayBeRandom = true
    this.#warn = warn
  }

  /** @throws TypeError when there is no secret, and none may be made. */
  seal(): Seal {
    if (this.#seal === undefined && !this.#mayBeRandom) {
      throw new TypeError(
        'A question to the client needs createRouter({ secretKeyBase }), text of 64 bytes or more: what the client carries is sealed with it',
      )
    }
    this.#seal ??= this.#random()
    return this.#seal
  }

  #random(): Seal {
    this.#warn?.()
    const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
    const secret = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
    return new Seal(new KeyRing('createRouter', secret, this.#salt), MAX_STATE)
  }
}
