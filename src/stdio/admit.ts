import type { Access } from '../router/access.js'
import { isRefusal } from '../router/refusal.js'
import { NO_REQUEST } from '../server/connect.js'
import type { Server } from '../server/server.js'

/**
 * Asks `connect` once for a whole connection; undefined where the router has none.
 *
 * @throws Error when the caller is not let in, or `connect` failed.
 */
export async function admit(server: Server): Promise<Access | undefined> {
  if (!server.connects) return undefined
  const admitted = await server.connect({ ...NO_REQUEST, query: new URLSearchParams() })
  if (admitted === undefined) throw new Error('connect failed: see onError')
  if (isRefusal(admitted)) throw new Error(`connect refused the connection: ${admitted.message}`)
  return admitted
}
