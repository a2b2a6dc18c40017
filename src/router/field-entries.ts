import { addProblem, type FieldSpec, Later, placeLater, prefixSlots, type Run } from './field-check.js'
import { copyJson, isRecord } from './json-value.js'
import { toPointerToken } from './schema-keywords.js'
import type { SchemaPlace } from './schema-model.js'
import { keySegment, problemText } from './schema-text.js'
import { isStandardSchema } from './standard-schema.js'

// Costs nothing when it is asked of the object and key of a loop, which cannot be said of `Object.hasOwn`.
const hasOwn = Object.prototype.hasOwnProperty

/** One field of a record. Entries are linked, which is the fastest way to walk them beside the members of an object. */
interface Entry {
  readonly key: string
  readonly spec: FieldSpec
  next: Entry | undefined
}

/** A record of fields by name, in the order of declaration. */
export class FieldRecord {
  readonly first: Entry | undefined
  /** Whether `findMisfit` can find that there is none. */
  readonly quick: boolean
  /** Whether a check may change the object although nothing is wrong. */
  readonly changes: boolean
  readonly eager: boolean
  #inherits: boolean | undefined

  /** @throws TypeError naming `owner` and the key of a value that is not a field. */
  constructor(fields: Readonly<Record<string, unknown>>, owner: string) {
    let first: Entry | undefined
    let last: Entry | undefined
    let quick = true
    let changes = false
    let eager = false
    for (const key of Object.keys(fields)) {
      const spec = toSpec(key, fields[key], owner)
      const entry: Entry = { key, spec, next: undefined }
      if (last === undefined) first = entry
      else last.next = entry
      last = entry
      quick &&= spec.quick
      changes ||= spec.changes || spec.completed !== undefined
      eager ||= spec.eager
    }
    this.first = first
    this.quick = quick
    this.changes = changes
    this.eager = eager
  }

  /**
   * The field to begin a thorough check with: one that does not fit as it is, or has a default to fill in, or comes before such
   * a one. Undefined when every member fits.
   */
  findMisfit(value: Record<string, unknown>): Entry | undefined {
    let entry = this.first
    let skipped: Entry | undefined
    // Members mostly come in declaration order, and walking an object is twice as fast as asking it for each name.
    for (const key in value) {
      const found = seek(entry, key)
      if (found === undefined || !hasOwn.call(value, key)) return this.#findByName(value)
      if (found !== entry) skipped ??= entry
      const member = value[key]
      // What was skipped may come later, so that nothing is known about it yet.
      if (member === undefined ? found.spec.needed : !found.spec.fits(member)) return skipped ?? found
      entry = found.next
    }
    while (entry !== undefined && !entry.spec.needed) entry = entry.next
    return entry
  }

  #findByName(value: Record<string, unknown>): Entry | undefined {
    const direct = this.#readsDirectly(value)
    for (let entry = this.first; entry !== undefined; entry = entry.next) {
      const { key, spec } = entry
      const member = readMember(value, key, direct)
      if (member === undefined ? spec.needed : !spec.fits(member)) return entry
    }
    return undefined
  }

  /** Asking for an own property is slow; on a plain object only a few names could be found on the prototype. */
  #readsDirectly(value: object): boolean {
    this.#inherits ??= [...this].some(({ key }) => Object.hasOwn(Object.prototype, key))
    return !this.#inherits && isPlain(value)
  }

  /** Checks the members from an entry on. The same object comes back unless a member had to change. */
  check(value: Record<string, unknown>, run: Run, from: Entry | undefined = this.first): unknown {
    const direct = this.#readsDirectly(value)
    let copy: Record<string, unknown> | undefined
    for (let entry = from; entry !== undefined; entry = entry.next) {
      const { key, spec } = entry
      const given = readMember(value, key, direct)
      if (given === undefined ? !spec.needed : spec.fits(given)) continue
      const next = given === undefined ? checkMissing(entry, run) : checkGiven(entry, given, run)
      if (next === given) continue
      copy ??= { ...value }
      if (next instanceof Later) placeLater(next, copy, { key, run })
      else copy[key] = next
    }
    return copy ?? value
  }

  /** The JSON Schema of the object at a place. */
  json(at: SchemaPlace): Record<string, unknown> {
    const required = this.requiredKeys()
    return { type: 'object', properties: this.properties(at), ...(required && { required }) }
  }

  /** The JSON Schemas of the members, by name. */
  properties(at: SchemaPlace): Record<string, unknown> {
    const properties: Record<string, unknown> = {}
    for (const { key, spec } of this) {
      properties[key] = spec.json({ ...at, pointer: `${at.pointer}/properties/${toPointerToken(key)}` })
    }
    return properties
  }

  /** The names that must be there; undefined when there is none. */
  requiredKeys(): readonly string[] | undefined {
    let required: string[] | undefined
    for (let entry = this.first; entry !== undefined; entry = entry.next) {
      if (!entry.spec.required) continue
      required ??= []
      required.push(entry.key)
    }
    return required
  }

  *[Symbol.iterator](): Generator<Entry, void> {
    for (let entry = this.first; entry !== undefined; entry = entry.next) yield entry
  }
}

function toSpec(key: string, value: unknown, owner: string): FieldSpec {
  const spec = findFieldSpec(value)
  if (spec === undefined) throw new TypeError(`${owner}: '${key}' is not a field. ${mendOf(key, value)}`)
  // An own `__proto__` cannot be set by assignment, and no client has a use for it.
  if (key === '__proto__') throw new TypeError(`${owner}: a field cannot be named '__proto__'. Choose another name.`)
  return spec
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

/** The entry of a key, from one on; undefined when it lies elsewhere or something needed would be skipped. */
function seek(from: Entry | undefined, key: string): Entry | undefined {
  let entry = from
  while (entry !== undefined && entry.key !== key) entry = entry.spec.needed ? undefined : entry.next
  return entry
}

function readMember(value: Record<string, unknown>, key: string, direct: boolean): unknown {
  return direct || Object.hasOwn(value, key) ? value[key] : undefined
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function checkMissing({ key, spec }: Entry, run: Run): unknown {
  // A handler may change what it receives, so an object is copied for each call.
  if (!spec.required) return copyJson(spec.completed)
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
