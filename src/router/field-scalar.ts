import { numberConstraints, stringConstraints } from './field-rules.js'
import { assertOptions, COMMON_OPTIONS, createField, typeKeyword } from './field-spec.js'
import type { BooleanOptions, Field, IntegerOptions, NumberOptions, StringOptions } from './field-types.js'
import { assertHeaderName } from './mirrored-params.js'

const NUMBER_OPTIONS = [...COMMON_OPTIONS, 'in', 'exclusion', 'minimum', 'maximum', 'greaterThan', 'lessThan'] as const
const INTEGER_OPTIONS = [...NUMBER_OPTIONS, 'header'] as const
const BOOLEAN_OPTIONS = [...COMMON_OPTIONS, 'header'] as const
const STRING_OPTIONS = [
  ...COMMON_OPTIONS,
  'in',
  'exclusion',
  'length',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'header',
] as const

/** Behind `field.string`. */
export function stringField(options: StringOptions = {}): Field<never, never> {
  const owner = 'field.string'
  assertOptions(owner, options, STRING_OPTIONS)
  const { rules, keywords } = stringConstraints(options, owner)
  const mirror = mirrorKeyword(options, owner)
  return createField<string>({
    owner,
    noun: 'a string',
    options,
    isType: isString,
    rules,
    json: () => ({ type: typeKeyword('string', options), ...keywords, ...mirror }),
  })
}

/** Behind `field.integer`. */
export function integerField(options: IntegerOptions = {}): Field<never, never> {
  const owner = 'field.integer'
  assertOptions(owner, options, INTEGER_OPTIONS)
  const { rules, keywords } = numberConstraints(options, owner)
  const mirror = mirrorKeyword(options, owner)
  return createField<number>({
    owner,
    noun: 'an integer',
    options,
    isType: isInteger,
    rules,
    json: () => ({ type: typeKeyword('integer', options), ...keywords, ...mirror }),
  })
}

/** Behind `field.number`. */
export function numberField(options: NumberOptions = {}): Field<never, never> {
  const owner = 'field.number'
  // 2026-07-28 tools: x-mcp-header is not for numbers, whose text form is ambiguous.
  assertOptions(owner, options, NUMBER_OPTIONS)
  const { rules, keywords } = numberConstraints(options, owner)
  return createField<number>({
    owner,
    noun: 'a number',
    options,
    isType: isFiniteNumber,
    rules,
    json: () => ({ type: typeKeyword('number', options), ...keywords }),
  })
}

/** Behind `field.boolean`. */
export function booleanField(options: BooleanOptions = {}): Field<never, never> {
  const owner = 'field.boolean'
  assertOptions(owner, options, BOOLEAN_OPTIONS)
  const mirror = mirrorKeyword(options, owner)
  return createField<boolean>({
    owner,
    noun: 'true or false',
    options,
    isType: isBoolean,
    json: () => ({ type: typeKeyword('boolean', options), ...mirror }),
  })
}

function mirrorKeyword(
  options: { readonly header?: string; readonly nullable?: boolean },
  owner: string,
): { readonly 'x-mcp-header'?: string } {
  const { header } = options
  if (header === undefined) return {}
  assertHeaderName(header, owner)
  if (options.nullable === true) {
    throw new TypeError(`${owner}: 'header' needs a value that is never null. Leave 'nullable' out.`)
  }
  return { 'x-mcp-header': header }
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

// JSON Schema: a number without a fraction is an integer, so 1.0 is one.
function isInteger(value: unknown): value is number {
  return Number.isInteger(value)
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}
