// npm run bench -- [--check] [--rounds n] [--slice ms] [--row text] [--generator node|wrk] [--cpu-prof]
// Ratios against bare servers that get the same load in the same rounds. --check exits with 1 when a budget is exceeded.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Arena, type Measured } from './arena.js'
import { endChildren, timeInChild } from './children.js'
import { HEAPS, type HeapFigures } from './heap.js'
import { ROWS, type Row } from './rows.js'
import { type Budget, printRow, verdict } from './table.js'

const LIMIT_MS = 180_000

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '15' },
    slice: { type: 'string', default: '500' },
    row: { type: 'string', default: '' },
    generator: { type: 'string' },
    'cpu-prof': { type: 'boolean', default: false },
  },
})

/** Compiled, this file is .build/bench/main.js. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const budgets = JSON.parse(readFileSync(`${root}/bench/budgets.json`, 'utf8')) as Readonly<Record<string, Budget>>

async function main(): Promise<void> {
  const started = performance.now()
  const rows = ROWS.filter(({ name }) => name.includes(options.row))
  if (rows.length === 0) throw new Error(`No row has '${options.row}' in its name`)
  const rounds = Number(options.rounds)
  const arena = new Arena({
    rounds,
    sliceMs: Number(options.slice),
    generator: options.generator,
    serverOptions: options['cpu-prof'] ? ['--cpu-prof', `--cpu-prof-dir=${root}/.build/profiles`] : [],
  })
  const measured = await arena.measure(rows.filter((row) => row.kind === 'load'))
  for (const row of rows) {
    if (row.kind === 'process') measured.set(row.name, { timings: await timeInChild(row.module, rounds * 2) })
  }
  // They do not measure time, so that one may wait while the others work.
  const heaps = rows.filter((row) => row.kind === 'heap')
  const figures = await Promise.all(heaps.map(({ measure }) => HEAPS[measure]()))
  for (const [index, { name }] of heaps.entries()) measured.set(name, { heap: figures[index] as HeapFigures })
  const failed = report(rows, measured)
  console.log(`${arena.describe()}; ${((performance.now() - started) / 1000).toFixed(0)} s in all`)
  if (options.check && failed.length > 0) process.exitCode = 1
}

function report(rows: readonly Row[], measured: ReadonlyMap<string, Measured>): readonly string[] {
  const failed: string[] = []
  printRow(['', 'figure', 'middle half', 'CPU', 'budget', '', 'ours', 'bare'])
  for (const row of rows) {
    const told = verdict(row, measured.get(row.name) as Measured, budgets[row.name])
    printRow(told.cells)
    if (!told.ok) failed.push(row.name)
  }
  return failed
}

const limit = setTimeout(() => {
  console.error(`The bench has taken ${LIMIT_MS / 1000} s: given up`)
  process.exit(1)
}, LIMIT_MS)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
process.on('exit', endChildren)

await main()
clearTimeout(limit)
