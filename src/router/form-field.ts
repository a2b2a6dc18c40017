import { pick } from '../options.js'
import type { Json } from '../protocol/model.js'
import { arrayField } from './field-nested.js'
import { booleanField, integerField, numberField, stringField } from './field-scalar.js'
import type { Field } from './field-types.js'

/** The limits of a form's member, as its JSON Schema has them. */
interface Limits {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'array'
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: never
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly default?: never
}

/**
 * The field that checks one member of a form that was given as JSON Schema.
 * @throws TypeError naming `owner` when the limits contradict each other, or the default does not fit them.
 */
export function readFormField(limits: Json, { owner, required }: { owner: string; required: boolean }): Field {
  const { default: initial, ...others } = limits as Limits
  try {
    const defaulted = build(others, initial === undefined ? {} : { default: initial })
    // A member that is required and has a default is asked for with the default filled in, and must come back.
    return required ? build(others, { required }) : defaulted
  } catch (cause) {
    throw new TypeError(`${owner}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

function build(limits: Limits, presence: { readonly required?: true; readonly default?: never } | object): Field {
  switch (limits.type) {
    case 'array': {
      const items = stringField(choices(limits))
      const { minItems, maxItems } = limits
      const lengths = {
        ...(minItems !== undefined && { minLength: minItems }),
        ...(maxItems !== undefined && { maxLength: maxItems }),
      }
      return arrayField(items, { ...lengths, ...pick(limits, ['uniqueItems']), ...presence })
    }
    case 'boolean':
      return booleanField(presence)
    case 'integer':
      return integerField({ ...bounds(limits), ...presence })
    case 'number':
      return numberField({ ...bounds(limits), ...presence })
    default:
      return stringField({
        ...choices(limits),
        ...pick(limits, ['minLength', 'maxLength', 'pattern', 'format']),
        ...presence,
      })
  }
}

function choices({ enum: values }: Limits): { in?: readonly string[] } {
  return values === undefined ? {} : { in: values }
}

function bounds(limits: Limits): { readonly minimum?: number; readonly greaterThan?: number } {
  const { exclusiveMinimum: greaterThan, exclusiveMaximum: lessThan } = limits
  return {
    ...pick(limits, ['minimum', 'maximum']),
    ...(greaterThan !== undefined && { greaterThan }),
    ...(lessThan !== undefined && { lessThan }),
  }
}
