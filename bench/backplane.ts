// npm run bench:backplane -- [--row text] [--engine text] [--rounds n]
// What a backplane costs on this machine: its calls, and servers that share one. Engines are started on loopback, with their data
// on this disk, and ended; those that are not installed are left out. `--row` and `--engine` choose what has that text in its
// name; `--rounds` is for the row `store`.
import { parseArgs } from 'node:util'
import { endChildren } from './children.js'
import { bytesPerSession } from './nodes/bytes-per-session.js'
import { ENGINES, type Engine, type EngineName, endEngines, startEngine } from './nodes/engines.js'
import { fanOut } from './nodes/fan-out.js'
import { requestsPerCall } from './nodes/requests-per-call.js'
import { serverCalls } from './nodes/server-calls.js'
import { storeCalls } from './nodes/store-calls.js'

const LIMIT_MS = 180_000

const { values: options } = parseArgs({
  options: {
    row: { type: 'string', default: '' },
    engine: { type: 'string', default: '' },
    rounds: { type: 'string', default: '1000' },
  },
})

type Measure = (engines: ReadonlyMap<EngineName, Engine>) => Promise<void>

interface Row {
  /** Without those that cost the same for what is measured. */
  readonly engines: readonly EngineName[]
  readonly measure: Measure
}

const ROWS: Readonly<Record<string, Row>> = {
  store: {
    engines: ENGINES,
    measure: async (engines) => {
      for (const [name, engine] of engines) await storeCalls(name, engine, Number(options.rounds))
    },
  },
  'server calls': { engines: ENGINES, measure: serverCalls },
  'fan-out, GET': {
    engines: ['memory', 'ioredis', 'nats'],
    measure: (engines) => fanOut(engines, 'GET streams'),
  },
  'fan-out, listen': {
    engines: ['memory', 'ioredis', 'nats'],
    measure: (engines) => fanOut(engines, 'listen streams'),
  },
  requests: { engines: ['ioredis', 'nats'], measure: requestsPerCall },
  bytes: { engines: ['ioredis', 'nats'], measure: bytesPerSession },
}

async function run({ engines: names, measure }: Row): Promise<void> {
  const engines = new Map<EngineName, Engine>()
  try {
    for (const name of names) {
      // What is in memory is what the others are compared with.
      if (name !== 'memory' && !name.includes(options.engine)) continue
      const engine = await startEngine(name)
      if (engine === undefined) console.log(`${name}: not installed`)
      else engines.set(name, engine)
    }
    await measure(engines)
  } finally {
    for (const engine of engines.values()) await engine.stop()
  }
}

const limit = setTimeout(() => {
  console.error(`The bench has taken ${LIMIT_MS / 1000} s: given up`)
  process.exit(1)
}, LIMIT_MS)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
process.on('exit', () => {
  endChildren()
  endEngines()
})

const chosen = Object.entries(ROWS).filter(([name]) => name.includes(options.row))
if (chosen.length === 0) throw new Error(`No row has '${options.row}' in its name: ${Object.keys(ROWS).join(', ')}`)
for (const [name, row] of chosen) {
  const started = performance.now()
  await run(row)
  console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
}
clearTimeout(limit)
