import { isRequestId, type Params, type RequestId } from '../protocol/jsonrpc.js'
import type { RunningCall } from './client.js'

/** `notifications/cancelled`: what names no running call is ignored, for it may have crossed the answer. */
export function cancelCall(calls: ReadonlyMap<RequestId, RunningCall> | undefined, params: Params): void {
  const { requestId, reason } = params
  if (!isRequestId(requestId)) return
  calls?.get(requestId)?.cancel(typeof reason === 'string' ? reason : undefined)
}
