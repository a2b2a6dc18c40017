import { addProblem, collectProblems, createRun, Later, type Run, reserveSlot, type Slot } from './field-check.js'
import type { Rule } from './field-rules.js'
import type { CommonOptions, Field, Verdict } from './field-types.js'
import { copyJson } from './json-value.js'
import type { SchemaPlace } from './schema-model.js'
import { problemText } from './schema-text.js'

/** The options that all kinds have, as the builders' shared code sees them. */
export interface SharedOptions<T> extends Omit<CommonOptions<T>, 'default'> {
  readonly default?: unknown
}

/** What one kind of field adds to the options that all have. */
export interface FieldKind<T> {
  /** The builder as messages name it, such as `field.string`. */
  readonly owner: string
  /** Such as `a string`. */
  readonly noun: string
  readonly options: SharedOptions<T>
  readonly isType: (value: unknown) => value is T
  readonly rules?: readonly Rule<T>[]
  /** What is inside the value: a quick test, a thorough check, and whether the latter may change the value. */
  readonly inside?: {
    readonly fits: ((value: T) => boolean) | undefined
    readonly check: (value: T, run: Run) => unknown
    readonly changes: boolean
  }
  /** The JSON Schema without title, description and default; says itself that null is allowed. */
  readonly json: (place: SchemaPlace) => Record<string, unknown>
}

/** The names of the options that every field takes. */
export const COMMON_OPTIONS = [
  'required',
  'default',
  'nullable',
  'title',
  'description',
  'message',
  'validate',
] as const

/** Composes a field. @throws TypeError when the options contradict each other. */
export function createField<T>(kind: FieldKind<T>): Field<never, never> {
  const { options, owner } = kind
  if (options.required === true && options.default !== undefined) {
    throw new TypeError(`${owner}: 'required' and 'default' exclude each other. Leave one of them out.`)
  }
  const fits = composeFits(kind)
  const completed = options.default === undefined ? undefined : completeDefault(kind, fits)
  return {
    '~field': {
      expected: options.nullable === true ? `${kind.noun} or null` : kind.noun,
      required: options.required === true,
      initial: toInitial(completed),
      message: options.message,
      fits: options.validate === undefined ? fits : undefined,
      changes: kind.inside?.changes === true,
      check: (value, run) => check(kind, value, run),
      json: (place) => describe(kind, completed, place),
    },
  }
}

function toInitial(completed: unknown): (() => unknown) | undefined {
  if (completed === undefined) return undefined
  // A handler may change what it receives, so an object is copied for each call.
  return typeof completed === 'object' && completed !== null ? () => copyJson(completed) : () => completed
}

/** Checks the default like a value, except by the user's code, and lets the defaults inside it fill in. */
function completeDefault<T>(kind: FieldKind<T>, fits: ((value: unknown) => boolean) | undefined): unknown {
  const { default: value, message: _, ...options } = kind.options
  if (typeof value !== 'object' && fits?.(value) === true) return value
  const run = createRun('shape')
  const completed = check({ ...kind, options }, value, run)
  const [wrong] = collectProblems(run)
  if (wrong !== undefined) throw new TypeError(`${kind.owner}: 'default'${wrong.path} ${wrong.text}.`)
  return copyJson(completed)
}

function composeFits<T>(kind: FieldKind<T>): ((value: unknown) => boolean) | undefined {
  const { isType, rules = [], inside } = kind
  const tests = rules.map((rule) => rule.fits)
  if (inside !== undefined) {
    if (inside.fits === undefined) return undefined
    tests.push(inside.fits)
  }
  const strict = composeTests(isType, tests)
  return kind.options.nullable === true ? (value) => value === null || strict(value) : strict
}

function composeTests<T>(
  isType: (value: unknown) => value is T,
  tests: readonly ((value: T) => boolean)[],
): (value: unknown) => boolean {
  const [first, second] = tests
  if (first === undefined) return isType
  if (second === undefined) return (value) => isType(value) && first(value)
  if (tests.length === 2) return (value) => isType(value) && first(value) && second(value)
  return (value) => isType(value) && tests.every((test) => test(value))
}

function check<T>(kind: FieldKind<T>, value: unknown, run: Run): unknown {
  const { isType, rules = [], inside } = kind
  const { message, nullable, validate } = kind.options
  if (value === null && nullable === true) return value
  if (!isType(value)) {
    const expected = nullable === true ? `${kind.noun} or null` : kind.noun
    addProblem(run, message ?? problemText.type(expected, value), true)
    return value
  }
  const before = { found: run.found, slots: run.slots.length, pending: run.pending.length }
  addBroken(rules, value, { run, message })
  const next = inside === undefined ? value : inside.check(value, run)
  // A check of the user's may rely on the types inside, and must not add to a message that replaces all errors.
  const sound = run.found === before.found || (inside === undefined && message === undefined)
  if (validate !== undefined && sound && run.extent === 'all') {
    const ask = (parsed: unknown): Verdict | Promise<Verdict> => (isType(parsed) ? validate(parsed) : undefined)
    runValidate({
      run,
      message,
      ask,
      next,
      open: run.slots.slice(before.slots),
      ready: run.pending.slice(before.pending),
    })
  }
  return next
}

interface Telling {
  readonly run: Run
  readonly message: string | undefined
}

function addBroken<T>(rules: readonly Rule<T>[], value: T, { run, message }: Telling): void {
  const broken = rules.filter((rule) => !rule.fits(value))
  if (broken.length > 0 && message !== undefined) addProblem(run, message)
  else for (const rule of broken) addProblem(run, rule.text())
}

interface Question extends Telling {
  readonly ask: (parsed: unknown) => Verdict | Promise<Verdict>
  readonly next: unknown
  /** What may yet be found wrong inside, and what has to arrive before that is known. */
  readonly open: readonly Slot[]
  readonly ready: readonly Promise<unknown>[]
}

function runValidate({ run, message, ask, next, open, ready }: Question): void {
  const waits = ready.length > 0 || next instanceof Later
  const verdict = waits ? askLater({ ask, next, open, ready }) : ask(next)
  if (!isPromise(verdict)) {
    const reason = toReason(verdict)
    if (reason !== undefined) addProblem(run, message ?? reason)
    return
  }
  const slot = reserveSlot(run)
  run.pending.push(
    verdict.then((answer) => {
      const reason = toReason(answer)
      if (reason !== undefined) slot.text = message ?? reason
    }),
  )
}

async function askLater({ ask, next, open, ready }: Omit<Question, keyof Telling>): Promise<Verdict> {
  const [parsed] = await Promise.all([next instanceof Later ? next.value : next, ...ready])
  return open.some((slot) => slot.text !== undefined || slot.inner !== undefined) ? undefined : ask(parsed)
}

function isPromise(value: Verdict | Promise<Verdict>): value is Promise<Verdict> {
  return typeof value === 'object' && value !== null && typeof value.then === 'function'
}

function toReason(verdict: Verdict): string | undefined {
  if (verdict === false) return 'is not valid'
  return typeof verdict === 'string' ? verdict : undefined
}

function describe<T>(kind: FieldKind<T>, completed: unknown, place: SchemaPlace): Record<string, unknown> {
  const { title, description } = kind.options
  const json = kind.json(place)
  if (title !== undefined) json['title'] = title
  if (description !== undefined) json['description'] = description
  if (completed !== undefined) json['default'] = copyJson(completed)
  return json
}

/** `string`, or `['string', 'null']`. */
export function typeKeyword(word: string, options: { readonly nullable?: boolean }): string | readonly string[] {
  return options.nullable === true ? [word, 'null'] : word
}

/** @throws TypeError for an option that the builder does not have: a typing mistake must not go unnoticed. */
export function assertOptions(owner: string, options: object, allowed: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!allowed.includes(name)) {
      throw new TypeError(`${owner}: unknown option '${name}'. It takes ${allowed.join(', ')}.`)
    }
  }
}
