import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { type Backplane, memoryBackplane } from 'phantom-mcp'
import { natsBackplane } from 'phantom-mcp/nats'
import { redisBackplane } from 'phantom-mcp/redis'

export interface OpenBackplane {
  readonly backplane: Backplane
  /** Closes it, and the client that it was made with. */
  close(): Promise<void>
}

/**
 * The backplane that the environment names: REDIS_URL, NATS_URL, or that of this process alone. Servers with another BACKPLANE_PREFIX
 * may be on the same engine.
 */
export async function openBackplane(environment: NodeJS.ProcessEnv): Promise<OpenBackplane> {
  const { REDIS_URL, NATS_URL, BACKPLANE_PREFIX: prefix } = environment
  const options = prefix === undefined ? {} : { prefix }
  if (REDIS_URL !== undefined) {
    const client = new Redis(REDIS_URL)
    return closing(redisBackplane(client, options), () => client.disconnect())
  }
  if (NATS_URL !== undefined) {
    const connection = await connect({ servers: NATS_URL })
    return closing(natsBackplane(connection, options), () => connection.close())
  }
  return closing(memoryBackplane(), () => undefined)
}

function closing(backplane: Backplane, end: () => Promise<void> | void): OpenBackplane {
  return {
    backplane,
    close: async () => {
      await backplane.close?.()
      await end()
    },
  }
}
