import { isIoredis, type RedisClient } from './clients.js'
import { RedisLink } from './link.js'

const COUNT = 1_000

interface Batch {
  readonly cursor: string
  readonly keys: readonly string[]
}

/** What the clients have beside what their interfaces say: overloads, and what only a client of a cluster has. */
interface ClusterParts {
  nodes?(role: 'master'): RedisClient[]
  readonly masters?: readonly unknown[]
  nodeClient?(master: unknown): Promise<RedisClient>
}

interface IoredisScan {
  scan(cursor: string, ...args: string[]): Promise<[cursor: string, keys: string[]]>
}

interface NodeRedisScan {
  scan(cursor: string, options: { MATCH: string; COUNT: number }): Promise<Batch>
}

/** The keys that begin with a prefix, on whatever servers there are; one may come twice. */
export async function* scanKeys(
  link: RedisLink,
  prefix: string,
  timeoutMs: number,
): AsyncGenerator<string, void, void> {
  const pattern = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}*`
  for (const client of await link.call(mastersOf)) {
    const master = new RedisLink(client, timeoutMs)
    let cursor = '0'
    do {
      const batch = await master.call(() => scan(client, cursor, pattern))
      yield* batch.keys
      cursor = batch.cursor
    } while (cursor !== '0')
  }
}

async function mastersOf(client: RedisClient): Promise<readonly RedisClient[]> {
  const parts: ClusterParts = client as object
  if (isIoredis(client)) return parts.nodes?.('master') ?? [client]
  if (parts.masters === undefined) return [client]
  return await Promise.all(parts.masters.map((master) => parts.nodeClient?.(master) ?? client))
}

async function scan(client: RedisClient, from: string, pattern: string): Promise<Batch> {
  if (!isIoredis(client)) return await (client as RedisClient & NodeRedisScan).scan(from, { MATCH: pattern, COUNT })
  const [cursor, keys] = await (client as RedisClient & IoredisScan).scan(from, 'MATCH', pattern, 'COUNT', `${COUNT}`)
  return { cursor, keys }
}
