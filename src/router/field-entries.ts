import {
  addProblem,
  collectProblems,
  createRun,
  type FieldSpec,
  place,
  prefixSlots,
  type Run,
  settle,
} from './field-check.js'
import { isRecord } from './json-value.js'
import { toPointerToken } from './schema-keywords.js'
import type { Outcome, SchemaPlace, Validate } from './schema-model.js'
import { keySegment, problemText } from './schema-text.js'
import { isStandardSchema } from './standard-schema.js'

/** One field of a record, with everything its check needs at hand. */
export interface Entry {
  readonly key: string
  readonly spec: FieldSpec
  readonly fits: FieldSpec['fits']
  /** Every plain object inherits something by this name, so only an own property counts. */
  readonly inherited: boolean
  /** A missing member cannot stay missing. */
  readonly needed: boolean
}

/**
 * The entries of a record of fields, in declaration order.
 * @throws TypeError naming `owner` and the key of a value that is not a field.
 */
export function toEntries(fields: Readonly<Record<string, unknown>>, owner: string): readonly Entry[] {
  return Object.keys(fields).map((key) => toEntry(key, fields[key], owner))
}

function toEntry(key: string, value: unknown, owner: string): Entry {
  const spec = findFieldSpec(value)
  if (spec === undefined) throw new TypeError(`${owner}: '${key}' is not a field. ${mendOf(key, value)}`)
  // An own `__proto__` cannot be set by assignment, and no client has a use for it.
  if (key === '__proto__') throw new TypeError(`${owner}: a field cannot be named '__proto__'. Choose another name.`)
  return {
    key,
    spec,
    fits: spec.fits,
    inherited: Object.hasOwn(Object.prototype, key),
    needed: spec.required || spec.initial !== undefined,
  }
}

function mendOf(key: string, value: unknown): string {
  if (isStandardSchema(value)) return 'A Standard Schema goes into field.schema().'
  const isKeyword = key === 'type' || key === '$schema' || key === 'properties'
  if (isKeyword) return 'A plain JSON Schema goes into inputSchema or outputSchema.'
  return 'Use field.string(), field.integer() and so on.'
}

/** What a field is made of, or undefined when the value is not a field. */
export function findFieldSpec(value: unknown): FieldSpec | undefined {
  const spec: unknown = isRecord(value) ? value['~field'] : undefined
  return isFieldSpec(spec) ? spec : undefined
}

function isFieldSpec(value: unknown): value is FieldSpec {
  return isRecord(value) && typeof value['check'] === 'function' && typeof value['json'] === 'function'
}

/** Checks the members of an object. The same object comes back unless a member had to change. */
export function checkEntries(entries: readonly Entry[], value: Record<string, unknown>, run: Run): unknown {
  const plain = isPlain(value)
  let copy: Record<string, unknown> | undefined
  for (const entry of entries) {
    const given = readMember(entry, value, plain)
    if (given !== undefined && entry.fits?.(given) === true) continue
    const next = given === undefined ? checkMissing(entry, run) : checkGiven(entry, given, run)
    if (next === given) continue
    const changed = copy ?? { ...value }
    copy = changed
    place(next, run, (parsed) => {
      changed[entry.key] = parsed
    })
  }
  return copy ?? value
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

// Asking for an own property is slow; on a plain object only a few names could be found on the prototype.
function readMember(entry: Entry, value: Record<string, unknown>, plain: boolean): unknown {
  return (plain && !entry.inherited) || Object.hasOwn(value, entry.key) ? value[entry.key] : undefined
}

function checkMissing({ key, spec }: Entry, run: Run): unknown {
  if (!spec.required) return spec.initial?.()
  const from = run.slots.length
  addProblem(run, spec.message ?? problemText.required)
  prefixSlots(run, from, keySegment(key))
  return undefined
}

function checkGiven({ key, spec }: Entry, given: unknown, run: Run): unknown {
  const from = run.slots.length
  const next = spec.check(given, run)
  if (run.slots.length !== from) prefixSlots(run, from, keySegment(key))
  return next
}

/** The index of the first member that does not fit as it is, or that has a default to fill in; -1 when there is none. */
export function findMisfit(entries: readonly Entry[], value: Record<string, unknown>): number {
  if (!isPlain(value)) return findMisfitByName(entries, value)
  // Members mostly come in declaration order, and walking an object is twice as fast as asking it for each name.
  let index = 0
  for (const key in value) {
    const next = skipTo(entries, key, index)
    if (next < 0) return findMisfitByName(entries, value)
    index = next + 1
    const entry = entries[next]
    if (entry !== undefined && !memberFits(entry, value[key])) return next
  }
  return findNeeded(entries, index)
}

/** The index of the entry for a key, from a start on; -1 when it lies elsewhere or something needed would be skipped. */
function skipTo(entries: readonly Entry[], key: string, start: number): number {
  for (let index = start; index < entries.length; index++) {
    const entry = entries[index]
    if (entry === undefined || entry.key === key) return index
    if (entry.needed) return -1
  }
  return -1
}

function findNeeded(entries: readonly Entry[], start: number): number {
  for (let index = start; index < entries.length; index++) if (entries[index]?.needed === true) return index
  return -1
}

function findMisfitByName(entries: readonly Entry[], value: Record<string, unknown>): number {
  const plain = isPlain(value)
  return entries.findIndex((entry) => !memberFits(entry, readMember(entry, value, plain)))
}

function memberFits(entry: Entry, given: unknown): boolean {
  return given === undefined ? !entry.needed : entry.fits?.(given) === true
}

/** The JSON Schema keywords of a record of fields at a place. */
export function entriesJson(entries: readonly Entry[], at: SchemaPlace): Record<string, unknown> {
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const { key, spec } of entries) {
    properties[key] = spec.json({ ...at, pointer: `${at.pointer}/properties/${toPointerToken(key)}` })
    if (spec.required) required.push(key)
  }
  return required.length === 0 ? { type: 'object', properties } : { type: 'object', properties, required }
}

/** The check of a whole object described by fields. */
export function validateEntries(entries: readonly Entry[]): Validate {
  return (value) => {
    if (!isRecord(value)) return { ok: false, problems: [{ path: '', text: problemText.type('an object', value) }] }
    const misfit = findMisfit(entries, value)
    if (misfit < 0) return { ok: true, value }
    const run = createRun()
    // Everything before the first misfit is known to be right.
    return finish(run, checkEntries(entries.slice(misfit), value, run))
  }
}

function finish(run: Run, value: unknown): Outcome | Promise<Outcome> {
  return run.pending.length > 0 ? settle(run).then(() => conclude(run, value)) : conclude(run, value)
}

function conclude(run: Run, value: unknown): Outcome {
  const problems = collectProblems(run)
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}
