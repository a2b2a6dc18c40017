import { afterAll, beforeAll, describe } from 'vitest'
import { type OpenedNodes, testContracts } from './_contracts.js'
import {
  CLIENTS,
  redisMissing,
  runDurableRedis,
  type SharedRedis,
  sharedRedis,
  type UserClient,
  urlOf,
} from './_redis.js'

const left = redisMissing ? ' (left out: redis-server is not installed)' : ''

describe.skipIf(redisMissing).each(['ioredis', 'node-redis'] as const)(`Redis by %s${left}`, (kind) => {
  let redis: SharedRedis
  let clients: readonly UserClient[]
  let opened = 0

  beforeAll(async () => {
    redis = await sharedRedis()
    clients = await Promise.all([CLIENTS[kind](redis.url), CLIENTS[kind](redis.url)])
  })
  afterAll(async () => {
    for (const client of clients) client.close()
    await redis.end()
  })

  const nodes = ([here, there]: readonly UserClient[], timeoutMs?: number): OpenedNodes => {
    if (here === undefined || there === undefined) throw new Error('two clients are needed')
    opened += 1
    const options = {
      prefix: `test-${process.pid}-${Date.now()}-${kind}-${opened}:`,
      ...(timeoutMs !== undefined && { timeoutMs }),
    }
    const backplanes = { here: here.backplane(options), there: there.backplane(options) }
    const close = async (): Promise<void> => {
      await backplanes.here.close?.()
      await backplanes.there.close?.()
    }
    return { ...backplanes, close }
  }

  testContracts(kind, {
    open: async () => nodes(clients),
    openLosable: async () => {
      const engine = await runDurableRedis()
      const own = await Promise.all([CLIENTS[kind](urlOf(engine)), CLIENTS[kind](urlOf(engine))])
      const { here, there, close } = nodes(own, 300)
      return {
        here,
        there,
        close: async () => {
          await close()
          for (const client of own) client.close()
          await engine.end()
        },
        lose: () => engine.stop(),
        restore: () => engine.start(),
      }
    },
  })
})
