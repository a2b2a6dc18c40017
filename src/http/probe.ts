import type { Server } from '../server/server.js'
import type { HttpCall } from './http-call.js'
import type { ResolvedOptions } from './options.js'

/** Status for whoever asks whether the process lives, or wants to send it work; undefined when that was not asked. */
export function probe({ method, path }: HttpCall, options: ResolvedOptions, server: Server): number | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined
  if (path === options.healthPath) return 200
  if (path === options.readyPath) return server.ready ? 200 : 503
  return undefined
}
