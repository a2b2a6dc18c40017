import { Cluster, Redis } from 'ioredis'
import type { Backplane } from 'phantom-mcp'
import { type RedisBackplaneOptions, redisBackplane } from 'phantom-mcp/redis'
import { createClient, createCluster } from 'redis'
import { vi } from 'vitest'
import { Engine, type EngineProgram, findProgram, freePort } from './_engine.js'

function server(...more: readonly string[]): EngineProgram {
  const args = (port: number, folder: string): string[] =>
    ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''].concat(more)
  return { name: 'redis-server', args }
}

export const redisMissing: boolean = findProgram('redis-server') === undefined
export const runRedis = (): Promise<Engine> => Engine.run(server())
/** One that has written what it answers: with fewer syncs it loses the last writes when it is killed. */
export const runDurableRedis = (): Promise<Engine> =>
  Engine.run(server('--appendonly', 'yes', '--appendfsync', 'always'))

/** Two servers of a cluster, with half of the slots each. */
export async function runCluster(): Promise<readonly [Engine, Engine]> {
  const bus = [await freePort(), await freePort()] as const
  const run = (port: number): Promise<Engine> =>
    Engine.run(server('--cluster-enabled', 'yes', '--cluster-port', String(port)))
  const engines = [await run(bus[0]), await run(bus[1])] as const
  const clients = engines.map(({ port }) => new Redis(port, '127.0.0.1'))
  const [one, two] = clients as [Redis, Redis]
  await one.call('CLUSTER', 'ADDSLOTSRANGE', 0, 8191)
  await two.call('CLUSTER', 'ADDSLOTSRANGE', 8192, 16383)
  await one.call('CLUSTER', 'MEET', '127.0.0.1', engines[1].port, bus[1])
  for (const client of clients) {
    const isWhole = async (): Promise<void> => {
      const info = String(await client.call('CLUSTER', 'INFO'))
      if (!/cluster_state:ok[\s\S]*cluster_known_nodes:2/.test(info)) throw new Error(info)
    }
    await vi.waitFor(isWhole, { timeout: 20_000, interval: 50 })
    client.disconnect()
  }
  return engines
}

/** A server's address, and whether it is ours to stop. `REDIS_URL` is used instead of a server of our own where it is set. */
export interface SharedRedis {
  readonly url: string
  end(): Promise<void>
}

export async function sharedRedis(): Promise<SharedRedis> {
  const given = process.env['REDIS_URL']
  if (given !== undefined) return { url: given, end: async () => undefined }
  const engine = await runRedis()
  return { url: urlOf(engine), end: () => engine.end() }
}

export function urlOf({ port }: Engine): string {
  return `redis://127.0.0.1:${port}`
}

/** A client of the user's, and how he closes it. */
export interface UserClient {
  backplane(options: RedisBackplaneOptions): Backplane
  /** Sends a command as it is. */
  send(...command: string[]): Promise<unknown>
  close(): void
}

export const CLIENTS: Readonly<Record<'ioredis' | 'node-redis', (url: string) => Promise<UserClient>>> = {
  ioredis: async (url) => {
    const client = new Redis(url, { retryStrategy: () => 50 })
    client.on('error', () => undefined)
    return {
      backplane: (options) => redisBackplane(client, options),
      send: (command = '', ...args) => client.call(command, ...args),
      close: () => client.disconnect(),
    }
  },
  'node-redis': async (url) => {
    const client = createClient({ url, socket: { reconnectStrategy: 50 } })
    client.on('error', () => undefined)
    await client.connect()
    return {
      backplane: (options) => redisBackplane(client, options),
      send: (...command) => client.sendCommand(command),
      close: () => client.destroy(),
    }
  },
}

/** The same, of a cluster. */
export const CLUSTER_CLIENTS: Readonly<Record<'ioredis' | 'node-redis', (url: string) => Promise<UserClient>>> = {
  ioredis: async (url) => {
    const client = new Cluster([url])
    client.on('error', () => undefined)
    return {
      backplane: (options) => redisBackplane(client, options),
      send: (command = '', ...args) => client.call(command, args),
      close: () => client.disconnect(),
    }
  },
  'node-redis': async (url) => {
    const client = createCluster({ rootNodes: [{ url }] })
    client.on('error', () => undefined)
    await client.connect()
    return {
      backplane: (options) => redisBackplane(client, options),
      send: (...command) => client.sendCommand(undefined, false, command),
      close: () => client.destroy(),
    }
  },
}
