import { addProblem, adoptRun, createRun, type FieldSpec, type Run } from './field-check.js'
import { toMember } from './field-nested.js'
import { assertOptions, COMMON_OPTIONS, createField, type SharedOptions } from './field-spec.js'
import type { Field } from './field-types.js'
import { joinOr, problemText } from './schema-text.js'

type UnionOptions = SharedOptions<never>

/** Behind `field.union`. */
export function unionField(
  first: Field | readonly Field[],
  second?: Field | UnionOptions,
  ...others: readonly Field[]
): Field<never, never> {
  const owner = 'field.union'
  const { fields, options } = Array.isArray(first)
    ? { fields: first, options: readOptions(second, owner) }
    : { fields: [first, second, ...others], options: {} }
  const members = fields.map((member) => toMember(member, owner))
  if (members.length < 2) throw new TypeError(`${owner}: needs at least two fields, such as field.union(a, b).`)
  const nouns = new Set(members.map((member) => member.expected))
  const noun = joinOr([...nouns])
  const expected = joinOr(options.nullable === true ? [...nouns, 'null'] : [...nouns])
  return createField<never>({
    owner,
    noun,
    options,
    // What the type is, the members decide.
    isType: (value): value is never => value !== undefined,
    inside: {
      fits: composeFits(members),
      check: (value, run) => checkMembers(members, value, { run, expected, message: options.message }),
      changes: members.some((member) => member.changes),
    },
    json: (at) => ({
      anyOf: [
        ...members.map((member, index) => member.json({ ...at, pointer: `${at.pointer}/anyOf/${index}` })),
        ...(options.nullable === true ? [{ type: 'null' }] : []),
      ],
    }),
  })
}

function readOptions(second: Field | UnionOptions | undefined, owner: string): UnionOptions {
  if (second === undefined) return {}
  if ('~field' in second) {
    throw new TypeError(`${owner}: takes either fields or one list of fields. Put all into the list.`)
  }
  assertOptions(owner, second, COMMON_OPTIONS)
  return second
}

/** Undefined when a member may change the value: then the first that fits must be asked properly, in order. */
function composeFits(members: readonly FieldSpec[]): ((value: unknown) => boolean) | undefined {
  const tests = members.flatMap((member) => (member.fits === undefined || member.changes ? [] : [member.fits]))
  return tests.length === members.length ? (value) => tests.some((test) => test(value)) : undefined
}

interface Trial {
  readonly run: Run
  readonly expected: string
  readonly message: string | undefined
}

/** Takes the first member without a certain problem; an open asynchronous check does not choose another one. */
function checkMembers(members: readonly FieldSpec[], value: unknown, { run, expected, message }: Trial): unknown {
  let near: Run | undefined
  for (const member of members) {
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
  else if (near === undefined) addProblem(run, problemText.type(expected, value), true)
  else adoptRun(run, near)
  return value
}
