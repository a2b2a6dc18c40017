import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Inside, Later, type Run, reserveSlot } from './field-check.js'
import { BuiltField } from './field-spec.js'
import type { Field, FieldOptions } from './field-types.js'
import { compileJsonSchema } from './json-schema.js'
import { isRecord } from './json-value.js'
import type { JsonSchema, Outcome, Problem, SchemaPlace, Validate } from './schema-model.js'
import { relocateReferences, rewriteSchema } from './schema-rewrite.js'
import { describeStandardSchema, isStandardSchema, validateStandardSchema } from './standard-schema.js'

/** Behind `field.schema`. */
export function embeddedField(
  shape: StandardSchemaV1 | { readonly jsonSchema: JsonSchema },
  options: FieldOptions = {},
): Field<never, never> {
  return new BuiltField('schema', options, new Embedded(open(shape, 'field.schema')))
}

/** A schema of another kind. */
class Embedded implements Inside<unknown> {
  readonly noun: string | undefined = undefined
  readonly quick: boolean = false
  readonly changes: boolean = true
  readonly eager: boolean = true
  readonly opened: Opened

  constructor(opened: Opened) {
    this.opened = opened
  }

  /** Only the schema itself can tell, and it may wait. */
  fits(): boolean {
    return false
  }

  check(value: unknown, run: Run, message: string | undefined): unknown {
    if (run.extent === 'shape') return value
    const outcome = this.opened.validate(value)
    if (!(outcome instanceof Promise)) {
      if (outcome.ok) return outcome.value
      reserveSlot(run).inner = toInner(outcome, message)
      run.found++
      return value
    }
    const slot = reserveSlot(run)
    const parsed = outcome.then((settled) => {
      if (settled.ok) return settled.value
      slot.inner = toInner(settled, message)
      return value
    })
    return new Later(parsed)
  }

  json(at: SchemaPlace, nullable: boolean): Record<string, unknown> {
    const pointer = nullable ? `${at.pointer}/anyOf/0` : at.pointer
    const { $schema: _, ...json } = relocateReferences(this.opened.describe(at), pointer)
    return nullable ? { anyOf: [json, { type: 'null' }] } : json
  }
}

interface Opened {
  readonly describe: (at: SchemaPlace) => JsonSchema
  readonly validate: Validate
}

function open(shape: unknown, owner: string): Opened {
  if (isStandardSchema(shape)) return openStandard(shape)
  if (!isRecord(shape) || !isRecord(shape['jsonSchema'])) {
    throw new TypeError(
      `${owner}: expects a Standard Schema or { jsonSchema }. For a record of fields use field.map().`,
    )
  }
  const { json, validate } = compileJsonSchema(shape['jsonSchema'], owner)
  assertEmbeddable(json, owner)
  return { describe: () => json, validate }
}

function openStandard(schema: StandardSchemaV1): Opened {
  const known = new Map<string, JsonSchema>()
  return {
    validate: validateStandardSchema(schema),
    // Converted once however many tools use the field; which side is wanted is known only then.
    describe: ({ owner, side }) => {
      const json = known.get(side) ?? describeStandardSchema(schema, { owner, side })
      if (!known.has(side)) assertEmbeddable(json, owner)
      known.set(side, json)
      return json
    },
  }
}

/** @throws TypeError for what would mean something else inside another document. */
function assertEmbeddable(json: JsonSchema, owner: string): void {
  if (json['$id'] !== undefined) return
  if (String(json['$schema'] ?? '').includes('draft-07')) {
    throw new TypeError(
      `${owner}: a draft-07 schema cannot stand inside a 2020-12 one. Use it as inputSchema or outputSchema.`,
    )
  }
  const refuse = (keyword: string, value: unknown): unknown => {
    if (keyword === '$anchor' || keyword === '$dynamicAnchor') {
      throw new TypeError(
        `${owner}: '${keyword}' ${String(value)} may clash with other schemas. Refer to #/$defs/… instead.`,
      )
    }
    return value
  }
  rewriteSchema(json, refuse, (part) => part['$id'] === undefined)
}

function toInner(outcome: Outcome, message: string | undefined): readonly Problem[] {
  if (message !== undefined) return [{ path: '', text: message }]
  return outcome.ok ? [] : outcome.problems
}
