import type { NatsConnection } from '@nats-io/transport-node'
import { type NatsBackplaneOptions, natsBackplane } from 'phantom-mcp/nats'
import { afterAll, beforeAll, describe } from 'vitest'
import { type OpenedNodes, testContracts } from './_contracts.js'
import { connectTo, natsMissing, runNats, type SharedNats, sharedNats, urlOf } from './_nats.js'

const left = natsMissing ? ' (left out: nats-server is not installed)' : ''

describe.skipIf(natsMissing)(`NATS${left}`, () => {
  let nats: SharedNats
  let connections: readonly NatsConnection[]
  let opened = 0

  beforeAll(async () => {
    nats = await sharedNats()
    connections = await Promise.all([connectTo(nats.url), connectTo(nats.url)])
  })
  afterAll(async () => {
    for (const connection of connections) await connection.close()
    await nats.end()
  })

  const nodes = ([here, there]: readonly NatsConnection[], more: NatsBackplaneOptions = {}): OpenedNodes => {
    if (here === undefined || there === undefined) throw new Error('two connections are needed')
    opened += 1
    const prefix = `test-${process.pid}-${Date.now()}-${opened}`
    const backplanes = {
      here: natsBackplane(here, { prefix, ...more }),
      there: natsBackplane(there, { prefix, ...more }),
    }
    const close = async (): Promise<void> => {
      await backplanes.here.close?.()
      await backplanes.there.close?.()
      for (const name of ['values', 'logs']) await here.request(`$JS.API.STREAM.DELETE.${prefix}_${name}`)
    }
    return { ...backplanes, close }
  }

  testContracts('NATS', {
    open: async () => nodes(connections),
    openLosable: async () => {
      const engine = await runNats()
      const own = await Promise.all([connectTo(urlOf(engine)), connectTo(urlOf(engine))])
      const { here, there, close } = nodes(own, { timeoutMs: 300 })
      return {
        here,
        there,
        close: async () => {
          await close()
          for (const connection of own) await connection.close()
          await engine.end()
        },
        lose: () => engine.stop(),
        restore: () => engine.start(),
      }
    },
  })
})
