import {
  addProblem,
  collectProblems,
  createRun,
  type FieldSpec,
  type Inside,
  Later,
  type Run,
  reserveSlot,
  type Slot,
} from './field-check.js'
import { type FieldType, isConstrained } from './field-options.js'
import { type Constraints, ListConstraints, NumberConstraints, TextConstraints } from './field-rules.js'
import type { Field, FieldOptions, IntegerOptions, LengthOptions, StringOptions, Verdict } from './field-types.js'
import { copyJson, isRecord } from './json-value.js'
import { assertHeaderName } from './mirrored-params.js'
import type { SchemaPlace } from './schema-model.js'
import { problemText } from './schema-text.js'

const NOUNS: { readonly [Type in FieldType]: string } = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  map: 'an object',
  union: 'one of its members',
  schema: 'what its schema says',
}

/** A field as its builder makes it: the object that the user holds, and what the framework knows about it. */
export class BuiltField implements FieldSpec, Field<never, never> {
  readonly type: FieldType
  readonly options: FieldOptions
  readonly required: boolean
  readonly nullable: boolean
  readonly quick: boolean
  /** The type, when `fits` can tell. */
  readonly quickType: FieldType | undefined
  readonly changes: boolean
  readonly eager: boolean
  readonly constraints: Constraints | undefined
  readonly inside: Inside | undefined
  readonly completed: unknown
  readonly needed: boolean

  /** @throws TypeError when an option is unknown or wrong, or options contradict each other. */
  constructor(type: FieldType, options: FieldOptions, inside?: Inside) {
    const constraints = isConstrained(type, options) ? readConstraints(type, options) : undefined
    const { required, default: initial, header } = options
    this.type = type
    this.options = options
    this.required = required === true
    this.nullable = options.nullable === true
    this.quick = options.validate === undefined && inside?.quick !== false
    this.quickType = this.quick ? type : undefined
    this.changes = inside?.changes === true
    this.eager = header !== undefined || inside?.eager === true
    this.constraints = constraints
    this.inside = inside
    if (header !== undefined) assertHeader(header, this)
    if (this.required && initial !== undefined) {
      throw new TypeError(`field.${type}: 'required' and 'default' exclude each other. Leave one of them out.`)
    }
    this.completed = initial === undefined ? undefined : completeDefault(this, initial)
    this.needed = this.required || initial !== undefined
  }

  get '~field'(): FieldSpec {
    return this
  }

  get message(): string | undefined {
    return this.options.message
  }

  get expected(): string {
    const noun = this.inside?.noun ?? NOUNS[this.type]
    return this.nullable ? `${noun} or null` : noun
  }

  fits(value: unknown): boolean {
    if (value === null && this.nullable) return this.quick
    const { constraints, inside } = this
    // A call of its own for each type: the engine then knows whose `fits` it is, and need not look it up.
    switch (this.quickType) {
      case 'string':
        return typeof value === 'string' && (constraints === undefined || constraints.fits(value as never))
      case 'integer':
        return Number.isInteger(value) && (constraints === undefined || constraints.fits(value as never))
      case 'number':
        return Number.isFinite(value) && (constraints === undefined || constraints.fits(value as never))
      case 'boolean':
        return typeof value === 'boolean'
      case 'array':
        if (!Array.isArray(value) || constraints?.fits(value as never) === false) return false
        return inside?.fits(value as never) === true
      case 'map':
        return isRecord(value) && inside?.fits(value as never) !== false
      case 'union':
        return value !== undefined && inside?.fits(value as never) === true
      default:
        return false
    }
  }

  check(value: unknown, run: Run): unknown {
    return checkField(this, value, { run, message: this.options.message })
  }

  json(place: SchemaPlace): Record<string, unknown> {
    const { type, nullable } = this
    const { title, description, header } = this.options
    const json = this.inside?.json(place, nullable) ?? { type: typeKeyword(type === 'map' ? 'object' : type, nullable) }
    this.constraints?.tell(json, nullable)
    if (header !== undefined) json['x-mcp-header'] = header
    if (title !== undefined) json['title'] = title
    if (description !== undefined) json['description'] = description
    if (this.completed !== undefined) json['default'] = copyJson(this.completed)
    return json
  }
}

/** `string`, or `['string', 'null']`. */
export function typeKeyword(word: string, nullable: boolean): string | readonly string[] {
  return nullable ? [word, 'null'] : word
}

function readConstraints(type: FieldType, options: FieldOptions): Constraints | undefined {
  switch (type) {
    case 'string':
      return new TextConstraints(options as StringOptions, 'field.string')
    case 'integer':
    case 'number':
      return new NumberConstraints(options as IntegerOptions, `field.${type}`)
    case 'array':
      return new ListConstraints(options as LengthOptions, 'field.array')
    default:
      return undefined
  }
}

function assertHeader(header: unknown, { type, nullable }: BuiltField): void {
  assertHeaderName(header, `field.${type}`)
  if (nullable) throw new TypeError(`field.${type}: 'header' needs a value that is never null. Leave 'nullable' out.`)
}

function isOfType(type: FieldType, value: unknown): value is never {
  switch (type) {
    case 'string':
      return typeof value === 'string'
    case 'integer':
      // JSON Schema: a number without a fraction is an integer, so 1.0 is one.
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'array':
      return Array.isArray(value)
    case 'map':
      return isRecord(value)
    default:
      // What the type is, the members or the foreign schema decide.
      return value !== undefined
  }
}

/** Checks the default like a value, except by the user's code, and lets the defaults inside it fill in. */
function completeDefault(field: BuiltField, value: unknown): unknown {
  if (typeof value !== 'object' && field.fits(value)) return value
  const run = createRun('shape')
  const completed = checkField(field, value, { run, message: undefined })
  const [wrong] = collectProblems(run)
  if (wrong !== undefined) throw new TypeError(`field.${field.type}: 'default'${wrong.path} ${wrong.text}.`)
  return copyJson(completed)
}

interface Telling {
  readonly run: Run
  readonly message: string | undefined
}

function checkField(field: BuiltField, value: unknown, { run, message }: Telling): unknown {
  const { type, inside } = field
  const { validate } = field.options
  if (value === null && field.nullable) return value
  if (!isOfType(type, value)) {
    addProblem(run, message ?? problemText.type(field.expected, value), true)
    return value
  }
  const before = { found: run.found, slots: run.slots.length, pending: run.pending.length }
  addBroken(field.constraints?.problems(value), { run, message })
  const next = inside === undefined ? value : inside.check(value, run, message)
  // A check of the user's may rely on the types inside, and must not add to a message that replaces all errors.
  const sound = run.found === before.found || (inside === undefined && message === undefined)
  if (validate !== undefined && sound && run.extent === 'all') {
    const ask = (parsed: unknown): Verdict | Promise<Verdict> => (isOfType(type, parsed) ? validate(parsed) : undefined)
    const open = run.slots.slice(before.slots)
    runValidate({ run, message, ask, next, open, ready: run.pending.slice(before.pending) })
  }
  return next
}

function addBroken(broken: readonly string[] | undefined, { run, message }: Telling): void {
  if (broken === undefined || broken.length === 0) return
  if (message !== undefined) addProblem(run, message)
  else for (const text of broken) addProblem(run, text)
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
