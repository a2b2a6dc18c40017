import type { Json } from '../protocol/model.js'
import { type Choices, readChoices, writeChoices } from './form-choices.js'
import { isRecord } from './json-value.js'

/** One member of a form. */
export interface FormMember {
  /** What clients are told: only what the specification has for forms (2026-07-28 schema, PrimitiveSchemaDefinition). */
  readonly json: Json
  /** What decides which answers fit, whether or not it is told. */
  readonly limits: Json
}

type Kind = 'choice' | 'list' | 'string' | 'number' | 'integer' | 'boolean'

/** The keywords of a kind. What no version has for forms is not told, and enforced all the same. */
interface Keywords {
  readonly told: readonly string[]
  readonly untold: readonly string[]
}

const NUMBER: Keywords = {
  told: ['minimum', 'maximum', 'default'],
  untold: ['exclusiveMinimum', 'exclusiveMaximum'],
}
const KEYWORDS: { readonly [K in Kind]: Keywords } = {
  choice: { told: ['default'], untold: ['minLength', 'maxLength', 'format', 'pattern'] },
  list: { told: ['minItems', 'maxItems', 'default'], untold: ['uniqueItems'] },
  string: { told: ['minLength', 'maxLength', 'format', 'default'], untold: ['pattern'] },
  number: NUMBER,
  integer: NUMBER,
  boolean: { told: ['default'], untold: [] },
}
const LABELS = ['title', 'description'] as const
const CHOICE_KEYWORDS = ['enum', 'enumNames', 'oneOf', 'anyOf', 'const']
/** The formats of a string in a form (2026-07-28 schema, StringSchema). */
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time']

/**
 * Reads the JSON Schema of one member of a form.
 * @param owner As messages name it: whose form, and which member.
 * @throws TypeError with the mend, for what has no place in a form.
 */
export function readFormMember(given: unknown, owner: string): FormMember {
  if (!isRecord(given)) throw new TypeError(`${owner} needs a JSON Schema that is an object.`)
  const choices = given['type'] === 'array' ? readChoices(given['items']) : readChoices(given)
  const kind = kindOf(given, choices, owner)
  assertKeywords(given, kind, owner)
  if (kind === 'list') assertKnown(given['items'] as Json, [...LABELS, ...CHOICE_KEYWORDS], `${owner}, in its items,`)
  const { told, untold } = KEYWORDS[kind]
  const limits = choices === undefined ? {} : { enum: [...choices.values].sort() }
  return {
    json: {
      ...pickMembers(given, LABELS),
      type: typeOf(kind),
      ...pickMembers(given, told),
      ...(kind === 'integer' ? wholeBounds(given) : {}),
      ...(choices === undefined ? {} : tellChoices(choices, kind)),
    },
    limits: { type: typeOf(kind), ...pickMembers(given, [...told, ...untold]), ...limits },
  }
}

function kindOf(given: Json, choices: Choices | undefined, owner: string): Kind {
  const { type } = given
  if (type === 'array') {
    if (choices !== undefined) return 'list'
    throw new TypeError(`${owner} is a list of any values, and a form has lists of choices only. Give its items 'in'.`)
  }
  if (choices !== undefined && (type === undefined || type === 'string')) return 'choice'
  if (type === 'object') {
    throw new TypeError(`${owner} is an object, and a form is flat. Ask for its members one by one.`)
  }
  if (Array.isArray(type)) {
    throw new TypeError(`${owner} has more than one type, and null is no answer. Leave 'nullable' out, and 'required'.`)
  }
  const isPlain = type === 'string' || type === 'number' || type === 'integer' || type === 'boolean'
  if (isPlain && !CHOICE_KEYWORDS.some((keyword) => Object.hasOwn(given, keyword))) return type
  if (isPlain)
    throw new TypeError(`${owner} has choices that are not strings. Use strings, and read them in the handler.`)
  throw new TypeError(
    `${owner} is of no kind that a form has. Use a string, a number, an integer, a boolean, or choices that are strings.`,
  )
}

function assertKeywords(given: Json, kind: Kind, owner: string): void {
  const { told, untold } = KEYWORDS[kind]
  const own = kind === 'choice' ? CHOICE_KEYWORDS : kind === 'list' ? ['items'] : []
  assertKnown(given, [...LABELS, ...told, ...untold, ...own], owner)
  if (kind === 'string' && given['format'] !== undefined && !FORMATS.includes(given['format'])) {
    throw new TypeError(
      `${owner} has the format ${String(given['format'])}; a form has ${FORMATS.join(', ')}. Use one of them, or a pattern.`,
    )
  }
}

function assertKnown(given: Json, known: readonly string[], owner: string): void {
  const unknown = Object.keys(given).find((keyword) => keyword !== 'type' && !known.includes(keyword))
  if (unknown === undefined) return
  throw new TypeError(`${owner} has '${unknown}', which has no place in a form. Leave it out.`)
}

function typeOf(kind: Kind): string {
  if (kind === 'choice') return 'string'
  return kind === 'list' ? 'array' : kind
}

function tellChoices(choices: Choices, kind: Kind): Json {
  if (kind === 'choice') return writeChoices(choices, 'oneOf')
  const items = writeChoices({ ...choices, names: undefined }, 'anyOf')
  return { items: choices.titles === undefined ? { type: 'string', ...items } : items }
}

/** Bounds that are not allowed themselves are told as the whole numbers next to them. */
function wholeBounds({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }: Json): Json {
  const low = typeof above === 'number' ? Math.floor(above) + 1 : undefined
  const high = typeof below === 'number' ? Math.ceil(below) - 1 : undefined
  return {
    ...(low === undefined ? {} : { minimum: typeof minimum === 'number' ? Math.max(low, minimum) : low }),
    ...(high === undefined ? {} : { maximum: typeof maximum === 'number' ? Math.min(high, maximum) : high }),
  }
}

function pickMembers(source: Json, keys: readonly string[]): Json {
  return Object.fromEntries(keys.filter((key) => source[key] !== undefined).map((key) => [key, source[key]]))
}
