import { each, Visit } from '../visit.js'
import { Cluster } from './cluster.js'
import type { Engine, EngineName } from './engines.js'

const WARM_UP = 100
const SESSIONS = 10_000
const STREAMS = 500

/** What an engine keeps of sessions that nobody uses, and of those whose stream is open. */
export async function bytesPerSession(engines: ReadonlyMap<EngineName, Engine>): Promise<void> {
  console.log('what the engine keeps'.padEnd(38), '        bytes         entries')
  for (const [name, engine] of engines) {
    if (engine.url === undefined) continue
    const cluster = await Cluster.start(engine, 1)
    const visits: Visit[] = []
    const begin = async (): Promise<unknown> => visits.push(await Visit.begin(cluster.at(0), cluster.agent))
    await each(Array.from({ length: WARM_UP }), begin)
    await count(`${name}, idle session`, engine, { times: SESSIONS, call: begin })
    await count(`${name}, its stream`, engine, { times: STREAMS, call: (index) => visits[index]?.openGet() })
    for (const visit of visits) visit.leave()
    await cluster.close()
  }
}

interface Work {
  readonly times: number
  call(index: number): Promise<unknown> | undefined
}

async function count(what: string, engine: Engine, { times, call }: Work): Promise<void> {
  const before = await engine.counts()
  await each(Array.from({ length: times }), async (_, index) => await call(index))
  const after = await engine.counts()
  const bytes = ((after.bytes - before.bytes) / times).toFixed(0)
  const entries = ((after.entries - before.entries) / times).toFixed(2)
  console.log(`  ${what.padEnd(36)}${bytes.padStart(12)}${entries.padStart(16)}`)
}
