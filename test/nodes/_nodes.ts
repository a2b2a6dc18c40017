import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { memoryBackplane } from 'phantom-mcp'
import { afterAll, beforeAll } from 'vitest'
import { natsMissing, type SharedNats, sharedNats } from '../engines/_nats.js'
import { redisMissing, type SharedRedis, sharedRedis } from '../engines/_redis.js'
import { afterTest } from '../http/_http.js'
import { bundled } from '../stdio/_child.js'
import { type NodeSettings, runNode } from './_node.js'
import { NodeProcess } from './_process.js'
import { serveBackplane } from './_store-server.js'

export {
  answerTo,
  call,
  type Door,
  inTurn,
  NodeSession,
  openCall,
  questionOn,
  refusedBy,
  saidBy,
  until,
} from './_calls.js'

export type Kind = 'socket' | 'redis' | 'nats'

/** The backplanes that nodes are tried on: one of the tests' own, and the engines that are there. */
export const KINDS: readonly Kind[] = [
  'socket',
  ...(redisMissing && process.env['REDIS_URL'] === undefined ? [] : (['redis'] as const)),
  ...(natsMissing && process.env['NATS_URL'] === undefined ? [] : (['nats'] as const)),
]

let program = ''
let redis: SharedRedis | undefined
let nats: SharedNats | undefined
beforeAll(async () => {
  program = await bundled(`import { runNode } from './test/nodes/_node.ts'\nvoid ${runNode.name}()`)
  if (KINDS.includes('redis')) redis = await sharedRedis()
  if (KINDS.includes('nats')) nats = await sharedNats()
})
afterAll(async () => {
  await redis?.end()
  await nats?.end()
})

/** A process that serves, and ends with the test. */
export class Node extends NodeProcess {
  constructor(settings: NodeSettings) {
    super(program, settings)
  }
}

/** Two nodes of one server, and more if need be. */
export interface Cluster {
  readonly nodes: readonly [Node, Node]
  /** What handlers did, in order, on whatever node. */
  effects(): readonly string[]
  /** One more, which may have the name of one that is gone. */
  join(name: string): Promise<Node>
  /** Lets time pass for what the backplane keeps. */
  advance(ms: number): void
}

export interface ClusterOptions {
  readonly heartbeatMs?: number
  readonly drainMs?: number
  readonly secondStream?: 'refuse' | 'takeOver'
  readonly sessionTtlMs?: number
  readonly maxSessions?: number
}

/** Starts two nodes, which end with the test. */
export async function cluster(kind: Kind, options: ClusterOptions = {}): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-nodes-'))
  afterTest(() => rmSync(folder, { recursive: true, force: true }))
  let passed = 0
  const backplane = memoryBackplane({ clock: () => Date.now() + passed })
  const socket = join(folder, 'socket')
  if (kind === 'socket') afterTest(await serveBackplane(backplane, socket))
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  const settings = {
    backplane: backplaneOf(kind, basename(folder), socket),
    effects,
    heartbeatMs: 1_000,
    drainMs: 2_000,
    ...options,
  }
  const start = (name: string): Node => new Node({ ...settings, name })
  const nodes = [start('one'), start('two')] as const
  for (const node of nodes) await node.says('port')
  return {
    nodes,
    effects: () => readFileSync(effects, 'utf8').split('\n').filter(Boolean),
    join: async (name) => {
      const node = start(name)
      await node.says('port')
      return node
    },
    advance: (ms) => {
      passed += ms
    },
  }
}

/** Where the nodes of a test meet, and no others. */
function backplaneOf(kind: Kind, prefix: string, socket: string): NodeSettings['backplane'] {
  if (kind === 'redis') return { redis: redis?.url ?? '', prefix }
  return kind === 'nats' ? { nats: nats?.url ?? '', prefix, storage: 'memory' } : { socket }
}
