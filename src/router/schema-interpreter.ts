import { isRecord, setOwn } from './json-value.js'
import type { SchemaDocument } from './schema-document.js'
import { type Failure, memberOf, toProblems } from './schema-failures.js'
import { parsePointer } from './schema-keywords.js'
import type { FindProblems } from './schema-model.js'
import { toEngineSchema } from './schema-rewrite.js'

/** Deeper values are refused rather than followed into a stack overflow. */
const MAX_VALUE_DEPTH = 500

interface Unit {
  readonly keyword: string
  readonly keywordLocation: string
  readonly instanceLocation: string
  readonly error: string
}

/** Keywords whose own error only says that something inside is wrong. */
const WRAPPERS = [
  '$recursiveRef',
  '$ref',
  'allOf',
  'additionalItems',
  'additionalProperties',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'unevaluatedItems',
  'unevaluatedProperties',
]

/** The validator for hosts that forbid code generation; slower, and just as strict. */
export async function prepareInterpreter(document: SchemaDocument): Promise<FindProblems> {
  if (document.isDynamic) {
    throw new TypeError('A JSON Schema with $dynamicRef needs a host that allows code generation. Use $ref instead.')
  }
  const { Validator } = await import('@cfworker/json-schema')
  const validator = new Validator(
    toEngineSchema(document.json),
    document.dialect === 'draft-07' ? '7' : '2020-12',
    false,
  )
  return (value) => {
    const instance = toInstance(value, [])
    if (instance instanceof Foreign) return toProblems([instance.failure], value)
    const { valid, errors } = validator.validate(instance)
    if (valid) return []
    const problems = toProblems(
      errors.flatMap((unit) => toFailure(unit, document, instance)),
      instance,
    )
    return problems.length > 0 ? problems : [{ path: '', text: 'does not match its schema' }]
  }
}

/** What JSON does not know, found on the way. */
class Foreign {
  readonly failure: Failure

  constructor(tokens: readonly string[], rule: string, value: unknown) {
    this.failure = { keyword: 'type', tokens, rule, value }
  }
}

/** A copy that holds JSON only, since the interpreter throws at anything else and takes NaN for a number. */
function toInstance(value: unknown, tokens: readonly string[]): unknown {
  if (tokens.length > MAX_VALUE_DEPTH) return new Foreign([], 'less deeply nested', value)
  if (Array.isArray(value)) {
    const copy = value.map((item: unknown, index) => toInstance(item, [...tokens, String(index)]))
    return copy.find((item) => item instanceof Foreign) ?? copy
  }
  if (isRecord(value)) return toObject(value, tokens)
  const isJson = value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  return isJson ? value : new Foreign(tokens, 'a JSON value', value)
}

function toObject(value: Record<string, unknown>, tokens: readonly string[]): unknown {
  const copy: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    // The interpreter writes keys as URIs, which a lone surrogate cannot be.
    if (/\p{Surrogate}/u.test(key)) return new Foreign(tokens, 'an object with well-formed keys', value)
    const part = toInstance(member, [...tokens, key])
    if (part instanceof Foreign) return part
    setOwn(copy, key, part)
  }
  return copy
}

// What fails under these says nothing that the keyword's own error does not; a property may bear the same name.
const NOISE =
  /(?<!\/(?:properties|patternProperties|\$defs|definitions|dependentSchemas))\/(?:contains|propertyNames)\//

function toFailure(unit: Unit, document: SchemaDocument, root: unknown): readonly Failure[] {
  const key = /(?:required property|does not have) "(.*)"\.$/s.exec(unit.error)?.[1]
  const dependent = unit.keyword === 'dependencies' && key === undefined
  if (dependent || WRAPPERS.includes(unit.keyword) || NOISE.test(unit.keywordLocation)) return []
  const tokens = parsePointer(unit.instanceLocation.slice(1)) ?? []
  const value = tokens.reduce(memberOf, root)
  const failure = { keyword: unit.keyword, tokens, rule: findRule(unit.keywordLocation, document), value }
  const name = unit.keyword === 'propertyNames' ? /^Property name "(.*)" does/s.exec(unit.error)?.[1] : key
  return [name === undefined ? failure : { ...failure, key: name }]
}

/** The value of the keyword that failed, reached through the references on the way. */
function findRule(location: string, { json, targets }: SchemaDocument): unknown {
  let found: unknown = json
  for (const token of parsePointer(location.slice(1)) ?? []) {
    const target = token === '$ref' && isRecord(found) ? targets.get(found) : undefined
    found = target ?? memberOf(found, token)
  }
  return found
}
