import { embeddedField } from './field-embedded.js'
import { arrayField, mapField } from './field-nested.js'
import { booleanField, integerField, numberField, stringField } from './field-scalar.js'
import type { FieldBuilders } from './field-types.js'
import { unionField } from './field-union.js'

/**
 * Builders of the members of an input, output or form.
 * A mistake that can be seen in the options alone is a `TypeError` here.
 *
 * @example
 * const input = { query: field.string({ required: true }), limit: field.integer({ default: 10, maximum: 100 }) }
 */
export const field: FieldBuilders = {
  string: stringField,
  integer: integerField,
  number: numberField,
  boolean: booleanField,
  array: arrayField,
  map: mapField,
  union: unionField,
  schema: embeddedField,
}
