import { BuiltField } from './field-spec.js'
import type { BooleanOptions, Field, IntegerOptions, NumberOptions, StringOptions } from './field-types.js'

/** Behind `field.string`. */
export function stringField(options: StringOptions = {}): Field<never, never> {
  return new BuiltField('string', options)
}

/** Behind `field.integer`. */
export function integerField(options: IntegerOptions = {}): Field<never, never> {
  return new BuiltField('integer', options)
}

/** Behind `field.number`. */
export function numberField(options: NumberOptions = {}): Field<never, never> {
  return new BuiltField('number', options)
}

/** Behind `field.boolean`. */
export function booleanField(options: BooleanOptions = {}): Field<never, never> {
  return new BuiltField('boolean', options)
}
