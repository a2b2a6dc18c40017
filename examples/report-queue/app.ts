import { Redis } from 'ioredis'
import { createServer, type Server } from 'phantom-mcp'
import { redisBackplane } from 'phantom-mcp/redis'
import type { Tasks } from 'phantom-mcp/tasks'
import { Archive } from './archive.js'
import { Reports } from './reports.js'
import { type Caller, reportRouter } from './router.js'

/** What both kinds of process have: the server, which one of them serves, and the queue. */
export interface App {
  readonly url: string
  readonly server: Server
  readonly jobs: Tasks<Caller>
  readonly reports: Reports
  readonly archive: Archive
  close(): Promise<void>
}

export function openApp(url: string = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'): App {
  const redis = new Redis(url)
  const backplane = redisBackplane(redis)
  const reports = new Reports({ redis, url, bell: backplane.pubSub })
  const { router, jobs } = reportRouter(reports)
  const server = createServer(router, { backplane })
  return {
    url,
    server,
    jobs,
    reports,
    archive: new Archive(redis),
    close: async () => {
      await server.close()
      await reports.close()
      await backplane.close?.()
      redis.disconnect()
    },
  }
}

/** Ends what was opened, once, on a signal. */
export function onSignal(end: () => Promise<void>): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void end())
}
