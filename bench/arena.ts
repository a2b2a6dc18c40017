import { LoadChild, ServerChild } from './children.js'
import type { HeapFigures } from './heap.js'
import { openHeaders, post, toWire } from './http.js'
import type { Load, LoadResult } from './load.js'
import type { ServerName } from './modules.js'
import type { LoadRequest } from './requests.js'
import type { LoadRow } from './rows.js'
import type { Timing } from './timing.js'
import { findWrk, runWrk } from './wrk.js'

/** One server under load for a while. */
export interface Slice {
  readonly perSecond: number
  /** CPU time of the server for one answer, in microseconds. */
  readonly cpuMicros: number
  /** Share of one core that the server used; well under 1, it was waiting for its load. */
  readonly busy: number
}

/** What a row was measured as: pairs of slices, timings, or sizes. */
export type Measured =
  | { readonly slices: readonly { readonly ours: Slice; readonly theirs: Slice }[] }
  | { readonly timings: readonly Timing[] }
  | { readonly heap: HeapFigures }

export interface ArenaOptions {
  readonly rounds: number
  readonly sliceMs: number
  /** `node` or `wrk`; wrk where it is installed unless said. */
  readonly generator: string | undefined
  readonly serverOptions: readonly string[]
}

const CONNECTIONS = 32
const WARM_UP_MS = 60
/** Before the first round, so that the code that is measured is compiled. */
const FIRST_WARM_UP_MS = 1_000

/** A running server with a request for it, ready for slices. */
interface Lane {
  readonly server: ServerChild
  readonly request: LoadRequest
  readonly requests: readonly (readonly string[])[]
  readonly headers: Readonly<Record<string, string>>
}

/** Puts servers under load in turn. Lanes that are the same server with the same request are measured once a round. */
export class Arena {
  readonly #options: ArenaOptions
  readonly #wrk: string | undefined
  readonly #lanes = new Map<string, Lane>()
  #load: LoadChild | undefined

  constructor(options: ArenaOptions) {
    this.#options = options
    this.#wrk = options.generator === 'node' ? undefined : findWrk()
    if (options.generator === 'wrk' && this.#wrk === undefined) throw new Error('wrk is not installed')
  }

  describe(): string {
    const { rounds, sliceMs } = this.#options
    const by = this.#wrk === undefined ? `${sliceMs} ms of a load generator in Node` : 'a second or more of wrk'
    return `${rounds} rounds of ${by}, ${CONNECTIONS} connections`
  }

  async measure(rows: readonly LoadRow[]): Promise<Map<string, Measured>> {
    const measured = new Map<string, { ours: Slice; theirs: Slice }[]>(rows.map(({ name }) => [name, []]))
    for (const row of rows) await this.#open(row)
    for (let round = 0; round < this.#options.rounds; round++) {
      const due = rows.filter(({ every = 1 }) => round % every === 0)
      const slices = await this.#round(round, new Set(due.flatMap(lanesOf)))
      for (const row of due) {
        const [ours, theirs] = lanesOf(row).map((key) => slices.get(key) as Slice) as [Slice, Slice]
        measured.get(row.name)?.push({ ours, theirs })
      }
    }
    for (const { server } of this.#lanes.values()) await server.close()
    await this.#load?.close()
    return new Map([...measured].map(([name, slices]) => [name, { slices }]))
  }

  async #open(row: LoadRow): Promise<void> {
    for (const side of sidesOf(row)) {
      const key = laneKey(side)
      if (this.#lanes.has(key)) continue
      const lane = await openLane(side, this.#options.serverOptions)
      this.#lanes.set(key, lane)
      await this.#slice(lane, FIRST_WARM_UP_MS)
    }
  }

  /** Every lane that is due once; each round begins with another one, so that none is always the first. */
  async #round(round: number, due: ReadonlySet<string>): Promise<ReadonlyMap<string, Slice>> {
    const lanes = [...this.#lanes].filter(([key]) => due.has(key))
    const first = round % Math.max(1, lanes.length)
    const slices = new Map<string, Slice>()
    for (const [key, lane] of [...lanes.slice(first), ...lanes.slice(0, first)]) {
      slices.set(key, await this.#slice(lane, this.#options.sliceMs))
    }
    return slices
  }

  async #slice(lane: Lane, ms: number): Promise<Slice> {
    await checkAnswer(lane)
    const before = await lane.server.usage()
    const result = await this.#run({ port: lane.server.port, requests: lane.requests, warmUpMs: WARM_UP_MS, ms })
    const micros = (await lane.server.usage()) - before
    return {
      perSecond: (result.answers / result.elapsedMs) * 1000,
      cpuMicros: micros / result.allAnswers,
      busy: micros / 1000 / result.allMs,
    }
  }

  async #run(load: Load): Promise<LoadResult> {
    // wrk does not tell its script which connection an answer came on, and a session belongs to one.
    if (this.#wrk !== undefined && load.requests[0]?.length === 1) return await runWrk(this.#wrk, load)
    this.#load ??= await LoadChild.start()
    return await this.#load.run(load)
  }
}

/** One of the two servers that a row compares. */
interface Side {
  readonly name: ServerName
  readonly request: LoadRequest
  readonly engine?: string | undefined
}

function sidesOf({ server, against, request, engine }: LoadRow): readonly Side[] {
  return [
    { name: server, request, engine },
    { name: against, request },
  ]
}

function laneKey({ name, request, engine = '' }: Side): string {
  // A bare echo does the same work for every request, so the rows share its slices.
  if (name.startsWith('bare-')) return name
  return `${name} ${engine} ${JSON.stringify([request.headers, request.cycle === undefined])}`
}

function lanesOf(row: LoadRow): readonly string[] {
  return sidesOf(row).map(laneKey)
}

async function openLane({ name, request, engine }: Side, nodeOptions: readonly string[]): Promise<Lane> {
  const server = await ServerChild.start(name, { nodeOptions, engine })
  const headers = await openHeaders(server.port, request, CONNECTIONS)
  const { cycle, body } = request
  const requests = headers.map((set) =>
    (cycle ?? [{ method: 'POST', headers: set, body } as const]).map((step) => toWire(server.port, step)),
  )
  return { server, request, requests, headers: headers[0] ?? {} }
}

/** Looks at one whole answer; those of the slice have to be as long, and 200. */
async function checkAnswer({ server, request, headers }: Lane): Promise<void> {
  const { status, body } = await post(server.port, headers, request.body)
  if (status !== 200) throw new Error(`${server.name} answered ${status}: ${body.slice(0, 300)}`)
  request.check(JSON.parse(body))
}
