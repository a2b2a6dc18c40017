import { isRequestId, type Params } from '../protocol/jsonrpc.js'
import type { RunningCalls } from './running-calls.js'

/** `notifications/cancelled`: what names no running call is ignored, for it may have crossed the answer. */
export function cancelCall(calls: RunningCalls | undefined, params: Params): void {
  const { requestId, reason } = params
  if (!isRequestId(requestId)) return
  calls?.get(requestId)?.cancel(typeof reason === 'string' ? reason : undefined)
}
