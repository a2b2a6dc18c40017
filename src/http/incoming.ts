import type { Access } from '../router/access.js'
import type { Server } from '../server/server.js'
import type { Accepted } from './media.js'
import type { Responder } from './responder.js'

/** A request that has passed what is asked of all, with what serving it needs. */
export interface Incoming {
  readonly server: Server
  readonly responder: Responder
  readonly accepted: Accepted
  /** What `connect` left behind; undefined without it. */
  readonly access: Access | undefined
  readonly streamAfterMs: number
  readonly retryMs: number
  readonly cacheHeaders: boolean
}
