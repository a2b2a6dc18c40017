import type { Failure } from '../errors.js'
import type { Codec } from '../protocol/codec.js'
import { codecOf } from '../protocol/codecs.js'
import { errorMessage, type RequestId } from '../protocol/jsonrpc.js'
import { refuse } from '../server/dispatch.js'
import type { HttpHeaders } from './http-call.js'

/** An answer that ends a request before it became a call. */
export interface Refusal {
  readonly status: number
  readonly headers: HttpHeaders
  readonly body: string
}

/** Why, in a fixed word, and which option or header would change it. */
export interface RefusalReason {
  readonly reason: string
  readonly option?: string
  readonly header?: string
}

/** A refusal by HTTP's own rules: its code says no more than that the request was not one to serve. */
export function refusal(status: number, data: RefusalReason, message: string): Refusal {
  return { status, headers: {}, body: errorMessage(undefined, { code: -32600, message, data }) }
}

/** A refusal of a message that was read: the era's own form and code. */
export function refuseMessage(codec: Codec, { failure, id, status = 400 }: Refused): Refusal {
  return { status, headers: {}, body: String(refuse(codec, id, failure).body) }
}

export interface Refused {
  readonly failure: Failure
  readonly id?: RequestId | undefined
  /** @default 400 */
  readonly status?: number
}

/** A refusal of what could not be read, before it is known whose rules it would follow. */
export function refuseUnread(refused: Refused): Refusal {
  return refuseMessage(codecOf('2026-07-28'), refused)
}

/** The client takes nothing that there is to give. */
export function notAcceptable(types: string): Refusal {
  return refusal(406, { reason: 'accept', header: 'Accept' }, `Accept must allow ${types}`)
}
