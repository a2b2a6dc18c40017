import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { type Backplane, memoryBackplane } from 'phantom-mcp'
import { natsBackplane } from 'phantom-mcp/nats'
import { redisBackplane } from 'phantom-mcp/redis'
import { createClient } from 'redis'

export interface OpenedBackplane {
  readonly backplane: Backplane
  close(): Promise<void>
}

/** The backplane in an engine: `ioredis://host:port`, `node-redis://…`, `nats://…`; without one it is in memory. */
export async function openBackplane(engine: string | undefined): Promise<OpenedBackplane> {
  if (engine === undefined) return opened(memoryBackplane(), () => undefined)
  const { protocol, host } = new URL(engine)
  switch (protocol) {
    case 'ioredis:': {
      const client = new Redis(`redis://${host}`)
      return opened(redisBackplane(client), () => client.disconnect())
    }
    case 'node-redis:': {
      const client = createClient({ url: `redis://${host}` })
      await client.connect()
      return opened(redisBackplane(client), () => client.destroy())
    }
    case 'nats:': {
      const connection = await connect({ servers: host, noAsyncTraces: true })
      return opened(natsBackplane(connection), () => connection.close())
    }
    default:
      throw new Error(`No backplane for ${engine}`)
  }
}

function opened(backplane: Backplane, end: () => unknown): OpenedBackplane {
  return {
    backplane,
    close: async () => {
      await backplane.close?.()
      await end()
    },
  }
}
