import { post } from '../http.js'
import { legacyCall, modernCall, streamedBody } from '../requests.js'
import { Visit } from '../visit.js'
import { Cluster } from './cluster.js'
import type { Engine, EngineCounts, EngineName } from './engines.js'

const NODES = 3
const TIMES = 200
/** What the bench and the clients ask for themselves. */
const OWN = ['info', 'dbsize', 'hello', 'client', 'command']

/** How often an engine is asked for one of each, by all of three nodes. It is nearly the same on every machine. */
export async function requestsPerCall(engines: ReadonlyMap<EngineName, Engine>): Promise<void> {
  for (const [name, engine] of engines) {
    if (engine.url === undefined) continue
    console.log(`${name}: requests to the engine for one of each, ${NODES} nodes`)
    const cluster = await Cluster.start(engine, NODES)
    const visits: Visit[] = []
    const visit = (index: number): Visit => visits[index] as Visit
    const work: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
      'tools/call, 2026-07-28': () => post(cluster.at(0).port, modernCall.headers, modernCall.body),
      initialize: async () => visits.push(await Visit.begin(cluster.at(0), cluster.agent)),
      'tools/call, 2025-11-25': (index) => visit(index).call(),
      'the same on another node': (index) => visit(index).call(legacyCall.body, cluster.at(1)),
      'the same, with progress once': (index) => visit(index).call(streamedBody),
      'resources/subscribe': (index) => visit(index).subscribe(),
      'the stream of a session': (index) => visit(index).openGet(),
      DELETE: (index) => visit(index).end(),
      notifyResourcesUpdated: (index) => cluster.touch(index),
    }
    for (const [what, call] of Object.entries(work)) await count(what, call, engine)
    for (const opened of visits) opened.leave()
    await cluster.close()
  }
}

async function count(what: string, call: (index: number) => Promise<unknown>, engine: Engine): Promise<void> {
  const before = await engine.counts()
  for (let index = 0; index < TIMES; index++) await call(index)
  const after = await engine.counts()
  const each = ((after.requests - before.requests) / TIMES).toFixed(1)
  console.log(`  ${what.padEnd(34)}${each.padStart(8)}   ${byName(before, after)}`.trimEnd())
}

/** What is asked at least once in two calls: the signs of life of the nodes are not part of them. */
function byName(before: EngineCounts, after: EngineCounts): string {
  const all = Object.entries(after.byName).map(
    ([name, calls]) => [name, (calls - (before.byName[name] ?? 0)) / TIMES] as const,
  )
  const told = all.filter(([name, calls]) => calls >= 0.5 && !OWN.includes(name))
  return told
    .map(([name, calls]) => `${name} ${calls.toFixed(1)}`)
    .sort()
    .join(', ')
}
