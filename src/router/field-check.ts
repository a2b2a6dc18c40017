import type { Problem, SchemaPlace } from './schema-model.js'

// A field's check is a closure made once. The valid path allocates nothing: `fits` says yes or no, and only what does not
// fit, or has to be changed or awaited, goes through `check` with a `Run` that collects the problems.

/** What a field is made of, behind `Field['~field']`. */
export interface FieldSpec {
  /** What the value must be, as in `a string or null`. */
  readonly expected: string
  readonly required: boolean
  /** A fresh copy of the default, or undefined when there is none. */
  readonly initial: (() => unknown) | undefined
  readonly message: string | undefined
  /** True when the value is right as it is; undefined when only `check` can tell. */
  readonly fits: ((value: unknown) => boolean) | undefined
  /** The parsed value may differ from the given one although nothing is wrong: defaults inside, or a foreign schema. */
  readonly changes: boolean
  /** Adds what is wrong to the run and returns the value to use, perhaps a `Later`. */
  readonly check: (value: unknown, run: Run) => unknown
  /** The JSON Schema of the field at a place in a document. */
  readonly json: (place: SchemaPlace) => Record<string, unknown>
}

/** A problem that may still be open: an asynchronous check fills `text` or `inner` in, or leaves both empty. */
export interface Slot {
  path: string
  text: string | undefined
  /** The type itself was wrong; lets a union tell a near miss from a value of another kind. */
  readonly wrongType: boolean
  inner?: readonly Problem[]
}

/** The state of one check of one value. Slots keep declaration order even when they are filled out of order. */
export interface Run {
  readonly slots: Slot[]
  readonly pending: Promise<unknown>[]
  /** How many problems are certain. */
  found: number
  readonly extent: Extent
}

/** `shape` leaves out the user's code (custom checks, embedded schemas), which must not run while a field is defined. */
type Extent = 'all' | 'shape'

/** Lists stop being checked after so many problems: a large body must not become a larger answer. */
export const MAX_PROBLEMS = 100

/** A value that an asynchronous schema has not parsed yet; its container puts it in place when it arrives. */
export class Later {
  readonly value: Promise<unknown>

  constructor(value: Promise<unknown>) {
    this.value = value
  }
}

/** Begins a check. */
export function createRun(extent: Extent = 'all'): Run {
  return { slots: [], pending: [], found: 0, extent }
}

/** Notes a problem at the value itself; containers put their segment in front later. */
export function addProblem(run: Run, text: string, wrongType = false): void {
  run.slots.push({ path: '', text, wrongType })
  run.found++
}

/** Reserves the place of a problem that an asynchronous check may yet find. */
export function reserveSlot(run: Run): Slot {
  const slot: Slot = { path: '', text: undefined, wrongType: false }
  run.slots.push(slot)
  return slot
}

/** Puts a path segment in front of every problem noted since `from`. */
export function prefixSlots(run: Run, from: number, segment: string): void {
  for (let index = from; index < run.slots.length; index++) {
    const slot = run.slots[index]
    if (slot !== undefined) slot.path = segment + slot.path
  }
}

/** Takes over what a trial run found. */
export function adoptRun(run: Run, trial: Run): void {
  run.slots.push(...trial.slots)
  run.pending.push(...trial.pending)
  run.found += trial.found
}

/** The problems found, in declaration order, once nothing is pending. */
export function collectProblems(run: Run): Problem[] {
  return run.slots.flatMap(({ path, text, inner }) => {
    if (text !== undefined) return [{ path, text }]
    return (inner ?? []).map((problem) => ({ path: path + problem.path, text: problem.text }))
  })
}

/** Puts a changed value into the copy of its object or list, by `put`, at once or when it arrives. */
export function place(value: unknown, run: Run, put: (parsed: unknown) => void): void {
  if (value instanceof Later) run.pending.push(value.value.then(put))
  else put(value)
}

/** Waits for everything asynchronous, also for what was added while waiting. */
export async function settle(run: Run): Promise<void> {
  let done = 0
  while (done < run.pending.length) {
    const batch = run.pending.slice(done)
    done = run.pending.length
    await Promise.all(batch)
  }
}
