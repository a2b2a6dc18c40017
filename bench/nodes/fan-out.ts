import { setTimeout as sleep } from 'node:timers/promises'
import { followCall } from '../requests.js'
import { each, type OnChunk, Visit } from '../visit.js'
import { Cluster } from './cluster.js'
import type { Engine, EngineName } from './engines.js'

const NODES = 3
const STREAMS = 1_000
/** Sessions that are kept beside the streams, and have none. */
const IDLE_SESSIONS = 10_000
const ROUNDS = 20
/** Before the first round that counts, so that the code that is measured is compiled. */
const WARM_UP_ROUNDS = 5
const ROUND_MS = 10_000
const PAUSE_MS = 20
const UPDATED = 'notifications/resources/updated'

/** Opens the stream of one client. */
type Open = (cluster: Cluster, index: number, onChunk: OnChunk) => Promise<Visit>

type StreamKind = 'GET streams' | 'listen streams'

const STREAM_KINDS: Readonly<Record<StreamKind, Open>> = {
  'GET streams': async (cluster, index, onChunk) => {
    const visit = await Visit.begin(cluster.at(index), cluster.agent)
    await visit.subscribe()
    await visit.openGet(onChunk)
    return visit
  },
  'listen streams': async (cluster, index, onChunk) => {
    const visit = Visit.alone(cluster.at(index), cluster.agent)
    await visit.openListen(followCall, onChunk)
    return visit
  },
}

/**
 * How long it takes from `server.notifyResourcesUpdated` until the clients have it that follow the resource, on three processes; the
 * clients are in this one. In memory there is one process for all of them.
 */
export async function fanOut(engines: ReadonlyMap<EngineName, Engine>, kind: StreamKind): Promise<void> {
  console.log(
    `one update on ${STREAMS} ${kind}`.padEnd(36),
    'arrival p50, p99      last p50   resolved   last against memory',
  )
  let memory: Figures | undefined
  for (const [name, engine] of engines) {
    const cluster = await Cluster.start(engine, NODES)
    const clients = new Clients(cluster)
    await clients.open(STREAM_KINDS[kind])
    const figures = await clients.measure()
    if (engine.url === undefined) memory = figures
    print(name, figures, memory)
    if (engine.url !== undefined && kind === 'listen streams') {
      await each(Array.from({ length: IDLE_SESSIONS }), (_, index) => Visit.begin(cluster.at(index), cluster.agent))
      print(`${name}, beside ${IDLE_SESSIONS} sessions`, await clients.measure(), memory)
    }
    clients.leave()
    await cluster.close()
  }
}

/** Milliseconds, of all rounds. */
interface Figures {
  /** From the call to each of the clients. */
  readonly arrivals: readonly number[]
  /** From the call to the last of them. */
  readonly last: readonly number[]
  /** Until the call has resolved. */
  readonly resolved: readonly number[]
}

class Clients {
  readonly #cluster: Cluster
  readonly #visits: Visit[] = []
  #arrivedNs: bigint[] = []
  #all: () => void = () => undefined

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  async open(open: Open): Promise<void> {
    const visits = await each(Array.from({ length: STREAMS }), (_, index) => {
      // An event may come in two parts.
      let text = ''
      return open(this.#cluster, index, (chunk) => {
        text += chunk.toString('latin1')
        if (!text.includes(UPDATED)) return
        text = ''
        this.#arrive()
      })
    })
    this.#visits.push(...visits)
  }

  async measure(): Promise<Figures> {
    const figures = { arrivals: [] as number[], last: [] as number[], resolved: [] as number[] }
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      const { arrivals, tookMs } = await this.#round(round + WARM_UP_ROUNDS)
      await sleep(PAUSE_MS)
      if (round < 0) continue
      figures.arrivals.push(...arrivals)
      figures.last.push(Math.max(...arrivals))
      figures.resolved.push(tookMs)
    }
    return figures
  }

  leave(): void {
    for (const visit of this.#visits) visit.leave()
  }

  async #round(index: number): Promise<{ readonly arrivals: readonly number[]; readonly tookMs: number }> {
    this.#arrivedNs = []
    const all = new Promise<void>((resolve) => {
      this.#all = resolve
    })
    const { atNs, told, tookMs } = await this.#cluster.touch(index)
    await Promise.race([all, sleep(ROUND_MS, undefined, { ref: false })])
    if (told !== STREAMS || this.#arrivedNs.length !== STREAMS)
      throw new Error(`${told} clients were told, ${this.#arrivedNs.length} of ${STREAMS} have heard it`)
    return { arrivals: this.#arrivedNs.map((arrivedNs) => Number(arrivedNs - BigInt(atNs)) / 1e6), tookMs }
  }

  #arrive(): void {
    this.#arrivedNs.push(process.hrtime.bigint())
    if (this.#arrivedNs.length === STREAMS) this.#all()
  }
}

function print(name: string, { arrivals, last, resolved }: Figures, memory: Figures | undefined): void {
  const at = (values: readonly number[], share: number): number =>
    [...values].sort((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? Number.NaN
  const ms = (value: number): string => `${value.toFixed(1).padStart(7)} ms`
  const ratio = memory === undefined ? '' : `×${(at(last, 0.5) / at(memory.last, 0.5)).toFixed(2)}`.padStart(10)
  const cells = [ms(at(arrivals, 0.5)), ms(at(arrivals, 0.99)), ms(at(last, 0.5)), ms(at(resolved, 0.5)), ratio]
  console.log(`  ${name.padEnd(34)}${cells.join('')}`.trimEnd())
}
