import type { Measured, Slice } from './arena.js'
import type { Row } from './rows.js'
import { summarise } from './timing.js'

/** The least or the most that a row's figure may be: a ratio, or a size in the row's unit. */
export interface Budget {
  readonly least?: number
  readonly most?: number
}

const WIDTHS = [34, 8, 12, 6, 7, 5, 32, 32]
/** A server that uses less of its core than this was not the bottleneck, and its rate says little. */
const LEAST_BUSY = 0.85

export function printRow(cells: readonly string[]): void {
  console.log(
    cells
      .map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0))
      .join(' ')
      .trimEnd(),
  )
}

/** A row of the table, and whether it keeps its budget. */
export function verdict(row: Row, measured: Measured, budget: Budget = {}): { cells: readonly string[]; ok: boolean } {
  const { median, low, high } = summarise(figures(row, measured))
  const ok = median >= (budget.least ?? 0) && median <= (budget.most ?? Number.POSITIVE_INFINITY)
  const bound = budget.least === undefined ? (budget.most === undefined ? '' : `≤ ${budget.most}`) : `≥ ${budget.least}`
  const told = bound === '' ? '' : ok ? 'ok' : 'OVER'
  const spread = `${low.toFixed(2)}–${high.toFixed(2)}`
  const figure = row.kind === 'heap' ? `${median.toFixed(2)} ${row.unit}` : median.toFixed(2)
  const cells = [row.name, figure, spread, cpuText(row, measured), bound, told, ...sides(measured)]
  return { cells, ok }
}

const KILO = 1024

function figures(row: Row, measured: Measured): readonly number[] {
  if ('heap' in measured) {
    const unit = row.kind === 'heap' && row.unit === 'MB' ? KILO * KILO : KILO
    return measured.heap.ours.map((bytes) => bytes / unit)
  }
  if ('timings' in measured) return measured.timings.map(({ ours, theirs }) => ours / theirs)
  return measured.slices.map(({ ours, theirs }) => {
    const rate = ours.perSecond / theirs.perSecond
    return isRate(row) ? rate : 1 / rate
  })
}

const isRate = (row: Row): boolean => row.kind === 'load' && row.compare === 'rate'

/** The ratio of CPU times, which what else runs on the machine disturbs less than it does the rates. */
function cpuText(row: Row, measured: Measured): string {
  if (!('slices' in measured)) return ''
  const costs = measured.slices.map(({ ours, theirs }) => ours.cpuMicros / theirs.cpuMicros)
  const { median } = summarise(costs)
  return (isRate(row) ? 1 / median : median).toFixed(2)
}

function sides(measured: Measured): readonly string[] {
  if ('slices' in measured) {
    return [sliceText(measured.slices.map(({ ours }) => ours)), sliceText(measured.slices.map(({ theirs }) => theirs))]
  }
  if ('heap' in measured) {
    const { theirs, told } = measured.heap
    return [told ?? '', theirs === undefined ? '' : `${(summarise(theirs).median / KILO).toFixed(2)} KB`]
  }
  const { timings } = measured
  return [timeText(timings.map(({ ours }) => ours)), timeText(timings.map(({ theirs }) => theirs))]
}

function sliceText(slices: readonly Slice[]): string {
  const middle = (value: (slice: Slice) => number): number => summarise(slices.map(value)).median
  const busy = middle((slice) => slice.busy)
  const rate = Math.round(middle((slice) => slice.perSecond)).toLocaleString('en')
  const idle = busy < LEAST_BUSY ? ', waited' : ''
  return `${rate}/s, ${middle((slice) => slice.cpuMicros).toFixed(1)} µs CPU (${(busy * 100).toFixed(0)} %)${idle}`
}

function timeText(nanos: readonly number[]): string {
  const { median } = summarise(nanos)
  return median > 1e5 ? `${(median / 1e6).toFixed(2)} ms` : `${median.toFixed(0)} ns`
}
