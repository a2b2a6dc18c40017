import type { HttpCall } from './http-call.js'
import { accepted, isJsonType } from './media.js'
import { notAcceptable, type Refusal, refusal } from './refusal.js'

/** What is wrong with a POST before its body is read. */
export function postProblem(call: HttpCall): Refusal | undefined {
  if (!isJsonType(call.headers('content-type'))) {
    const data = { reason: 'content_type', header: 'Content-Type' }
    return refusal(415, data, 'Content-Type must be application/json')
  }
  const { json, stream } = accepted(call.headers('accept'))
  if (json || stream) return undefined
  return notAcceptable('application/json or text/event-stream')
}

export function tooLarge(maxBodyBytes: number): Refusal {
  const message = `The body has more than ${maxBodyBytes} bytes`
  return {
    ...refusal(413, { reason: 'too_large', option: 'maxBodyBytes' }, message),
    // What is left of the body is not read, so that nothing else can come on this connection.
    headers: { connection: 'close' },
  }
}
