import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import type { Backplane } from 'phantom-mcp'
import { natsBackplane } from 'phantom-mcp/nats'
import { redisBackplane } from 'phantom-mcp/redis'

export interface OpenBackplane {
  readonly backplane: Backplane
  /** Closes it, and then the client that it was made with. */
  close(): Promise<void>
}

/** The backplane at `redis://host:port` or `nats://host:port`. */
export async function openBackplane(url: string): Promise<OpenBackplane> {
  const onError = console.error
  if (url.startsWith('redis://')) {
    const client = new Redis(url, { autoResendUnfulfilledCommands: false })
    client.on('error', onError)
    return closing(redisBackplane(client, { onError }), () => client.disconnect())
  }
  if (url.startsWith('nats://')) {
    const connection = await connect({ servers: url, maxReconnectAttempts: -1 })
    return closing(natsBackplane(connection, { onError }), () => connection.close())
  }
  throw new TypeError(`The backplane is at redis://… or nats://…, not at '${url}'`)
}

function closing(backplane: Backplane, end: () => Promise<void> | void): OpenBackplane {
  const close = async (): Promise<void> => {
    await backplane.close?.()
    await end()
  }
  return { backplane, close }
}
