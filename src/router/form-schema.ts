import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Json } from '../protocol/model.js'
import { findFieldSpec } from './field-entries.js'
import { FieldSchema } from './field-schema.js'
import { BuiltField } from './field-spec.js'
import type { Fields } from './field-types.js'
import { readFormField } from './form-field.js'
import { readFormMember } from './form-member.js'
import { isRecord } from './json-value.js'
import { readSchemaDocument } from './schema-document.js'
import { type Schema, toSchema } from './schema-model.js'
import { describeStandardSchema, isStandardSchema, validateStandardSchema } from './standard-schema.js'

/** What a form asks for: flat, as the specification restricts it, and enforced. */
export interface FormSchema {
  /** The `requestedSchema`. */
  readonly json: Json
  /** The same without what is only read by people: equal where the same answers fit. */
  readonly limits: Json
  /** Checks the content of an answer and fills in its defaults. */
  readonly check: Schema['check']
}

const ROOT = 'content'

/** A form of fields. @throws TypeError naming the field that has no place in a form, with the mend. */
export function fieldForm(fields: unknown, owner: string): FormSchema {
  if (!isRecord(fields) || isStandardSchema(fields)) {
    throw new TypeError(
      `${owner}: 'fields' expects a record of fields. A Standard Schema goes into 'schema', a JSON Schema into 'requestedSchema'.`,
    )
  }
  for (const [key, value] of Object.entries(fields)) assertAsked(value, `${owner}: '${key}'`)
  const schema = new FieldSchema(fields, { owner, side: 'input' }, ROOT)
  return { ...readForm(schema.json, owner), check: (value) => schema.check(value) }
}

/** A form by a Standard Schema, which checks the answer itself. @throws TypeError likewise. */
export function standardForm(shape: unknown, owner: string): FormSchema {
  if (!isStandardSchema(shape)) {
    throw new TypeError(
      `${owner}: 'schema' expects a Standard Schema. Fields go into 'fields', a JSON Schema into 'requestedSchema'.`,
    )
  }
  const json = describeStandardSchema(shape as StandardSchemaV1, { owner, side: 'input' })
  // A library says how it treats members that are not declared; its own check does so, too.
  const { additionalProperties, ...rest } = json
  const isOpen = isRecord(additionalProperties) && Object.keys(additionalProperties).length === 0
  const form = typeof additionalProperties === 'boolean' || isOpen ? rest : json
  const schema = toSchema(json, validateStandardSchema(shape as StandardSchemaV1), ROOT)
  return { ...readForm(form, owner), check: (value) => schema.check(value) }
}

/** A form by the JSON Schema that goes over the wire. @throws TypeError likewise. */
export function plainForm(given: unknown, owner: string): FormSchema {
  const form = readForm(readSchemaDocument(given, owner).json, owner)
  const required = form.json['required'] as readonly string[] | undefined
  const fields: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(form.limits['properties'] as Readonly<Record<string, Json>>)) {
    fields[key] = readFormField(member, { owner: `${owner}: '${key}'`, required: required?.includes(key) === true })
  }
  const schema = new FieldSchema(fields as Fields, { owner, side: 'input' }, ROOT)
  return { ...form, check: (value) => schema.check(value) }
}

/**
 * A check of the user's is code: the user would be asked before anybody could say what is wanted. Nor is an answer a request,
 * which headers could mirror.
 */
function assertAsked(value: unknown, owner: string): void {
  const spec = findFieldSpec(value)
  if (!(spec instanceof BuiltField)) return
  const { type, options, quick } = spec
  if (options.header !== undefined)
    throw new TypeError(`${owner} has a 'header', which has no place in a form. Leave it out.`)
  if (options.validate === undefined && (quick || type === 'schema')) return
  throw new TypeError(`${owner} has a 'validate', which has no place in a form. Check the answer in the handler.`)
}

const KNOWN = ['$schema', 'type', 'title', 'description', 'properties', 'required']

function readForm(schema: Json, owner: string): Omit<FormSchema, 'check'> {
  const { type, properties = {}, required = [] } = schema
  if (type !== 'object' || !isRecord(properties)) {
    throw new TypeError(`${owner}: a form is an object, so the root of its schema needs the type 'object'.`)
  }
  for (const keyword of Object.keys(schema)) {
    if (!KNOWN.includes(keyword)) {
      throw new TypeError(`${owner}: '${keyword}' has no place at the root of a form. Leave it out.`)
    }
  }
  const told: Record<string, unknown> = {}
  const limits: Record<string, unknown> = {}
  for (const [key, given] of Object.entries(properties)) {
    const member = readFormMember(given, `${owner}: '${key}'`)
    told[key] = member.json
    limits[key] = member.limits
  }
  const names = readRequired(required, told, owner)
  const needs = names.length === 0 ? {} : { required: names }
  const sorted = names.length === 0 ? {} : { required: [...names].sort() }
  return {
    json: { type: 'object', properties: told, ...needs },
    limits: { properties: limits, ...sorted },
  }
}

function readRequired(required: unknown, properties: Json, owner: string): readonly string[] {
  const names = Array.isArray(required) ? (required as readonly string[]) : []
  const unknown = names.find((name) => !Object.hasOwn(properties, name))
  if (unknown === undefined) return names
  throw new TypeError(`${owner}: 'required' names '${unknown}', which is not in 'properties'. Correct one of them.`)
}
