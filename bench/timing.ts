/** Two pieces of work that do the same by different means; each is called many times. */
export interface Pair {
  ours(): void
  theirs(): void
  /** Calls in one timing, so that it takes some milliseconds. */
  readonly calls: number
}

/** Nanoseconds for one call of each, in the same round. */
export interface Timing {
  readonly ours: number
  readonly theirs: number
}

const WARM_UP_ROUNDS = 5

/** Times both in turn, the one that begins changing with each round. */
export function timePair({ ours, theirs, calls }: Pair, rounds: number): Timing[] {
  const timings: Timing[] = []
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const first = time(round % 2 === 0 ? ours : theirs, calls)
    const second = time(round % 2 === 0 ? theirs : ours, calls)
    if (round >= 0) timings.push(round % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first })
  }
  return timings
}

function time(work: () => void, calls: number): number {
  const start = process.hrtime.bigint()
  for (let call = 0; call < calls; call++) work()
  return Number(process.hrtime.bigint() - start) / calls
}

/** The value in the middle, and the range that holds the middle half. */
export interface Summary {
  readonly median: number
  readonly low: number
  readonly high: number
}

export function summarise(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number): number => sorted[Math.round((sorted.length - 1) * part)] ?? Number.NaN
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}
