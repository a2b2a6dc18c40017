import { isRequestId, type Params } from '../protocol/jsonrpc.js'
import type { Client } from './client.js'

/** `notifications/cancelled`: what names no running call is ignored, for it may have crossed the answer. */
export function cancelCall(client: Client, params: Params): void {
  const { requestId, reason } = params
  if (isRequestId(requestId)) client.cancelled(requestId, typeof reason === 'string' ? reason : undefined)
}
