import type { StandardSchemaV1 } from '@standard-schema/spec'
import { FieldSchema } from './field-schema.js'
import type { Shape } from './field-types.js'
import { compileJsonSchema } from './json-schema.js'
import { isRecord } from './json-value.js'
import { type JsonSchema, type Schema, type SchemaPlace, toSchema } from './schema-model.js'
import { describeStandardSchema, isStandardSchema, validateStandardSchema } from './standard-schema.js'

export type { Field, Fields, Given, InferFields, Received, Shape } from './field-types.js'
export { type MirroredParam, mirroredParams } from './mirrored-params.js'
export type { Checked, JsonSchema, Schema } from './schema-model.js'

/** The ways to declare an input. */
export interface InputDeclaration {
  /** Fields, or a Standard Schema. */
  readonly input?: Shape | undefined
  /** A plain JSON Schema, sent as given and enforced whole. */
  readonly inputSchema?: JsonSchema | undefined
}

/** The ways to declare an output. */
export interface OutputDeclaration {
  /** Fields, or a Standard Schema. */
  readonly output?: Shape | undefined
  /** A plain JSON Schema, sent as given and enforced whole. */
  readonly outputSchema?: JsonSchema | undefined
}

/**
 * The schema of an input. Without a declaration any object will do, and its members are ignored.
 * @param owner As messages name it, such as `tool 'greet'`.
 * @throws TypeError naming the owner when the declaration is not sound, is made twice, or is not of an object.
 */
export function inputSchema(owner: string, options: InputDeclaration): Schema {
  const { input, inputSchema: plain } = options
  if (input !== undefined && plain !== undefined) {
    throw new TypeError(`${owner}: 'input' and 'inputSchema' exclude each other. Leave one of them out.`)
  }
  const schema =
    plain === undefined
      ? shapeSchema(input ?? {}, { owner: `${owner} input`, side: 'input', root: 'arguments' })
      : plainSchema(plain, `${owner} inputSchema`, 'arguments')
  // 2026-07-28 server/tools: the root of an input schema has the type object.
  if (schema.json['type'] !== 'object') {
    throw new TypeError(`${owner}: the input must be an object, so the root of its schema needs the type 'object'.`)
  }
  return schema
}

/**
 * The schema of an output, or undefined when none is declared. A Standard Schema takes what the handler returned, and the
 * parsed value is sent.
 * @param owner As messages name it, such as `tool 'greet'`.
 * @throws TypeError naming the owner when the declaration is not sound or is made twice.
 */
export function outputSchema(owner: string, options: OutputDeclaration): Schema | undefined {
  const { output, outputSchema: plain } = options
  if (output !== undefined && plain !== undefined) {
    throw new TypeError(`${owner}: 'output' and 'outputSchema' exclude each other. Leave one of them out.`)
  }
  if (plain !== undefined) return plainSchema(plain, `${owner} outputSchema`, 'result')
  return output === undefined
    ? undefined
    : shapeSchema(output, { owner: `${owner} output`, side: 'output', root: 'result' })
}

interface ShapePlace extends Omit<SchemaPlace, 'pointer'> {
  readonly root: string
}

function shapeSchema(shape: unknown, { owner, side, root }: ShapePlace): Schema {
  if (isStandardSchema(shape)) return standardSchema(shape, { owner, side, root })
  if (!isRecord(shape)) {
    throw new TypeError(
      `${owner}: expects a record of fields or a Standard Schema. A plain JSON Schema goes into ${side}Schema.`,
    )
  }
  return new FieldSchema(shape, { owner, side }, root)
}

function standardSchema(shape: StandardSchemaV1, { owner, side, root }: ShapePlace): Schema {
  return toSchema(describeStandardSchema(shape, { owner, side }), validateStandardSchema(shape), root)
}

function plainSchema(json: JsonSchema, owner: string, root: string): Schema {
  const plain = compileJsonSchema(json, owner)
  return toSchema(plain.json, plain.validate, root)
}
