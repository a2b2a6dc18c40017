import type { Awaitable } from './awaitable.js'

/**
 * The secret that sealed values are made with: text of 64 bytes or more, several of them, newest first, or a function that
 * gives one of both and is asked each time. Values are sealed with the newest one and opened with all.
 */
export type SecretKeyBase = string | readonly string[] | (() => Awaitable<string | readonly string[]>)

const MIN_SECRET_BYTES = 64
const utf8 = new TextEncoder()

/** @throws TypeError for a secret that is none, without a word of it. */
export function assertSecret(owner: string, secret: unknown): void {
  if (typeof secret === 'function') return
  const ring: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  if (ring.length === 0) throw new TypeError(`${owner}: secretKeyBase is an empty list; put the newest secret first`)
  for (const text of ring) {
    if (typeof text === 'string' && utf8.encode(text).length >= MIN_SECRET_BYTES) continue
    throw new TypeError(
      `${owner}: secretKeyBase must be text of ${MIN_SECRET_BYTES} bytes or more, a list of them, or a function that gives one: make one with openssl rand -base64 64`,
    )
  }
}
