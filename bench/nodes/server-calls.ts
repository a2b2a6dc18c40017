import { Arena } from '../arena.js'
import { type LoadRequest, legacyCall, modernCall } from '../requests.js'
import type { LoadRow } from '../rows.js'
import { printRow, verdict } from '../table.js'
import type { Engine, EngineName } from './engines.js'

const ROUNDS = 5
const SLICE_MS = 250

/** Calls per second of one node whose backplane is in an engine, against the same server with its own in memory. */
export async function serverCalls(engines: ReadonlyMap<EngineName, Engine>): Promise<void> {
  const arena = new Arena({ rounds: ROUNDS, sliceMs: SLICE_MS, generator: 'node', serverOptions: [] })
  const shared = [...engines].filter(([, { url }]) => url !== undefined)
  // A call of 2026-07-28 asks no engine: one is enough to see that.
  const rows = [
    ...shared.slice(0, 1).map((engine) => rowOf('tools/call, 2026-07-28', modernCall, engine)),
    ...shared.map((engine) => rowOf('tools/call, 2025-11-25', legacyCall, engine)),
  ]
  if (rows.length === 0) return
  const measured = await arena.measure(rows)
  printRow(['', 'figure', 'middle half', 'CPU', '', '', 'engine', 'memory'])
  for (const row of rows) {
    const slices = measured.get(row.name)
    if (slices !== undefined) printRow(verdict(row, slices).cells)
  }
}

function rowOf(what: string, request: LoadRequest, [name, { url = '' }]: readonly [EngineName, Engine]): LoadRow {
  const sides = { server: 'mcp-node', against: 'mcp-node', engine: url } as const
  return { kind: 'load', name: `${what}, ${name}`, request, compare: 'rate', ...sides }
}
