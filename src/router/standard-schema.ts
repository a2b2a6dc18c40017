import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord } from './json-value.js'
import { readSchemaDocument } from './schema-document.js'
import type { JsonSchema, Outcome, Problem, Validate } from './schema-model.js'
import { indexSegment, keySegment } from './schema-text.js'

/** Whether a value is a Standard Schema (version 1), be it an object or, as in arktype, a function. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value))
    return false
  const standard = value['~standard']
  return isRecord(standard) && standard['version'] === 1 && typeof standard['validate'] === 'function'
}

/**
 * One side of a Standard Schema as JSON Schema 2020-12.
 * @throws TypeError naming `owner` when the schema has no converter or cannot be written as JSON Schema.
 */
export function describeStandardSchema(
  schema: StandardSchemaV1,
  { owner, side }: { readonly owner: string; readonly side: 'input' | 'output' },
): JsonSchema {
  const { vendor } = schema['~standard']
  const converter = findConverter(schema)
  if (converter === undefined) {
    throw new TypeError(
      `${owner}: this ${vendor} schema cannot give its JSON Schema. Wrap it in its converter${
        vendor === 'valibot' ? ' (toStandardJsonSchema of @valibot/to-json-schema)' : ''
      }, or declare a plain JSON Schema instead.`,
    )
  }
  return readSchemaDocument(convert(converter, { owner, side, vendor }), owner).json
}

function findConverter(schema: StandardSchemaV1): StandardJSONSchemaV1.Converter | undefined {
  const standard: StandardSchemaV1.Props & { readonly jsonSchema?: unknown } = schema['~standard']
  return isConverter(standard.jsonSchema) ? standard.jsonSchema : undefined
}

function isConverter(value: unknown): value is StandardJSONSchemaV1.Converter {
  return isRecord(value) && typeof value['input'] === 'function' && typeof value['output'] === 'function'
}

function convert(
  converter: StandardJSONSchemaV1.Converter,
  { owner, side, vendor }: { readonly owner: string; readonly side: 'input' | 'output'; readonly vendor: string },
): unknown {
  try {
    return converter[side]({ target: 'draft-2020-12' })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const mend =
      side === 'output'
        ? 'Move the transform into the handler, pipe it into a schema that says what comes out,'
        : 'Use a type that JSON has,'
    throw new TypeError(
      `${owner}: the ${side} side of this ${vendor} schema cannot be written as JSON Schema (${reason}). ${mend} or declare a plain JSON Schema instead.`,
      { cause },
    )
  }
}

/** The check of a Standard Schema; the value that comes out is the parsed one. */
export function validateStandardSchema(schema: StandardSchemaV1): Validate {
  const standard = schema['~standard']
  return (value) => {
    const result = standard.validate(value)
    return 'then' in result ? Promise.resolve(result).then(toOutcome) : toOutcome(result)
  }
}

function toOutcome(result: StandardSchemaV1.Result<unknown>): Outcome {
  if (!result.issues) return { ok: true, value: result.value }
  return { ok: false, problems: result.issues.map(toProblem) }
}

// The library words its own issues, mostly as sentences of their own; a colon joins them to the path.
function toProblem({ message, path = [] }: StandardSchemaV1.Issue): Problem {
  // Not `map`: some libraries give a list of their own kind, whose `map` makes another of it.
  return { path: Array.from(path, toSegment).join(''), text: `: ${message}` }
}

function toSegment(segment: PropertyKey | StandardSchemaV1.PathSegment): string {
  const key = typeof segment === 'object' ? segment.key : segment
  return typeof key === 'number' ? indexSegment(key) : keySegment(String(key))
}
