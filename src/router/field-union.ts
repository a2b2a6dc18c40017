import { addProblem, adoptRun, createRun, type FieldSpec, type Inside, type Run } from './field-check.js'
import { toMember } from './field-nested.js'
import { BuiltField } from './field-spec.js'
import type { Field, FieldOptions } from './field-types.js'
import type { SchemaPlace } from './schema-model.js'
import { joinOr, problemText } from './schema-text.js'

/** Behind `field.union`. */
export function unionField(
  first: Field | readonly Field[],
  second?: Field | FieldOptions,
  ...others: readonly Field[]
): Field<never, never> {
  const owner = 'field.union'
  const { fields, options } = Array.isArray(first)
    ? { fields: first, options: readOptions(second, owner) }
    : { fields: [first, second, ...others], options: {} }
  const members = fields.map((member) => toMember(member, owner))
  if (members.length < 2) throw new TypeError(`${owner}: needs at least two fields, such as field.union(a, b).`)
  return new BuiltField('union', options, new Alternatives(members, options.nullable === true))
}

function readOptions(second: Field | FieldOptions | undefined, owner: string): FieldOptions {
  if (second === undefined) return {}
  if ('~field' in second) {
    throw new TypeError(`${owner}: takes either fields or one list of fields. Put all into the list.`)
  }
  return second
}

/** The members of a union. */
class Alternatives implements Inside<unknown> {
  readonly noun: string
  readonly quick: boolean
  readonly changes: boolean
  readonly eager: boolean
  readonly members: readonly FieldSpec[]
  readonly expected: string

  constructor(members: readonly FieldSpec[], nullable: boolean) {
    const nouns = [...new Set(members.map((member) => member.expected))]
    this.noun = joinOr(nouns)
    this.expected = joinOr(nullable ? [...nouns, 'null'] : nouns)
    // When a member may change the value, the first that fits must be asked properly, in order.
    this.quick = members.every((member) => member.quick && !member.changes)
    this.changes = members.some((member) => member.changes)
    this.eager = members.some((member) => member.eager)
    this.members = members
  }

  fits(value: unknown): boolean {
    for (const member of this.members) if (member.fits(value)) return true
    return false
  }

  /** Takes the first member without a certain problem; an open asynchronous check does not choose another one. */
  check(value: unknown, run: Run, message: string | undefined): unknown {
    let near: Run | undefined
    for (const member of this.members) {
      const trial = createRun(run.extent)
      const next = member.check(value, trial)
      if (trial.found === 0) {
        adoptRun(run, trial)
        return next
      }
      // Nobody waits for a trial that failed, so its rejections must not become unhandled ones.
      for (const promise of trial.pending) promise.catch(() => undefined)
      if (!trial.slots.some((slot) => slot.wrongType && slot.path === '')) near ??= { ...trial, pending: [] }
    }
    if (message !== undefined) addProblem(run, message)
    else if (near === undefined) addProblem(run, problemText.type(this.expected, value), true)
    else adoptRun(run, near)
    return value
  }

  json(at: SchemaPlace, nullable: boolean): Record<string, unknown> {
    const anyOf = this.members.map((member, index) => member.json({ ...at, pointer: `${at.pointer}/anyOf/${index}` }))
    return { anyOf: nullable ? [...anyOf, { type: 'null' }] : anyOf }
  }
}
