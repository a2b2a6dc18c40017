import type { Problem, SchemaPlace } from './schema-model.js'

// A field is one object with plain members. The valid path allocates nothing: `fits` says yes or no, and only what does not
// fit, or has to be changed or awaited, goes through `check` with a `Run` that collects the problems.

/** What a field is made of, behind `Field['~field']`. */
export interface FieldSpec {
  /** What the value must be, as in `a string or null`. */
  readonly expected: string
  readonly required: boolean
  /** A missing member cannot stay missing: it is required, or has a default. */
  readonly needed: boolean
  /** The default with the defaults inside it; undefined when there is none. */
  readonly completed: unknown
  readonly message: string | undefined
  /** Whether `fits` can say yes; otherwise only `check` can tell. */
  readonly quick: boolean
  /** The parsed value may differ from the given one although nothing is wrong: defaults inside, or a foreign schema. */
  readonly changes: boolean
  /** Its JSON Schema has to be looked at when a tool is defined: it may not be to be had, or holds `x-mcp-header`. */
  readonly eager: boolean
  /** True when the value is right as it is. */
  fits(value: unknown): boolean
  /** Adds what is wrong to the run and returns the value to use, perhaps a `Later`. */
  check(value: unknown, run: Run): unknown
  /** The JSON Schema of the field at a place in a document. */
  json(place: SchemaPlace): Record<string, unknown>
}

/** What a list, an object, a union or an embedded schema has inside. */
export interface Inside<T = never> extends Pick<FieldSpec, 'quick' | 'changes' | 'eager'> {
  /** What the value must be, where the kind of field does not say it. */
  readonly noun: string | undefined
  fits(value: T): boolean
  /** Like `FieldSpec.check`; `message` replaces errors about the value itself. */
  check(value: T, run: Run, message: string | undefined): unknown
  /** The JSON Schema; says itself that null is allowed. */
  json(place: SchemaPlace, nullable: boolean): Record<string, unknown>
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

/** Puts a value into the copy of its object or list when it arrives. */
export function placeLater<Key extends PropertyKey>(
  later: Later,
  copy: Record<Key, unknown>,
  { key, run }: { readonly key: Key; readonly run: Run },
): void {
  const put = (value: unknown): void => {
    copy[key] = value
  }
  run.pending.push(later.value.then(put))
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
