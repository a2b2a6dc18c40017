import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../engines/_engine.js'
import { natsMissing, runNats } from '../engines/_nats.js'
import { redisMissing, runDurableRedis } from '../engines/_redis.js'
import { afterTest } from '../http/_http.js'
import type { NodeSettings } from '../nodes/_node.js'
import { Node } from '../nodes/_nodes.js'

type EngineName = 'redis' | 'nats'

const RUN: Readonly<Record<EngineName, () => Promise<Engine>>> = { redis: runDurableRedis, nats: runNats }
const MISSING: Readonly<Record<EngineName, boolean>> = { redis: redisMissing, nats: natsMissing }

/** The engines that are installed. */
export const ENGINES: readonly EngineName[] = (['redis', 'nats'] as const).filter((name) => !MISSING[name])

/** Nodes on an engine that faults are made of. */
export interface Faulty {
  readonly engine: Engine
  /** Another node. */
  start(name: string, more?: Partial<NodeSettings>): Node
  /** The same, once it serves. */
  serving(name: string, more?: Partial<NodeSettings>): Promise<Node>
  effects(): readonly string[]
}

interface FaultyOptions {
  /** The port at which the nodes look for the engine. */
  readonly portOf?: (engine: Engine) => Promise<number>
  readonly settings?: Partial<NodeSettings>
}

/** An engine of its own, which keeps what it has been told when it is stopped; it ends with the test. */
export async function faulty(name: EngineName, { portOf, settings }: FaultyOptions = {}): Promise<Faulty> {
  const engine = await RUN[name]()
  afterTest(() => engine.end())
  const port = portOf === undefined ? engine.port : await portOf(engine)
  const folder = mkdtempSync(join(tmpdir(), 'phantom-faults-'))
  afterTest(() => rmSync(folder, { recursive: true, force: true }))
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  const start = (node: string, more: Partial<NodeSettings> = {}): Node =>
    new Node({
      name: node,
      backplane:
        name === 'redis'
          ? { redis: `redis://127.0.0.1:${port}`, prefix: 'faults:' }
          : { nats: `nats://127.0.0.1:${port}`, prefix: 'faults', storage: 'file' },
      effects,
      heartbeatMs: 1_000,
      drainMs: 1_000,
      timeoutMs: 300,
      ...settings,
      ...more,
    })
  return {
    engine,
    start,
    serving: async (node, more) => {
      const started = start(node, more)
      await started.says('port')
      return started
    },
    effects: () => readFileSync(effects, 'utf8').split('\n').filter(Boolean),
  }
}
