import { isRecord, setOwn } from './json-value.js'
import { findBadValue } from './schema-keyword-values.js'
import { type Dialect, listSubschemas, toPointerToken } from './schema-keywords.js'
import type { JsonSchema } from './schema-model.js'
import { type Resource, resolveReference, resolveUri } from './schema-references.js'

// Everything that can be wrong with a plain JSON Schema is found here, at registration, without a JSON Schema library.

/** How deeply schemas may nest. */
const MAX_SCHEMA_DEPTH = 64
/** How many subschemas a schema may have. */
const MAX_SUBSCHEMAS = 4096
const MAX_JSON_DEPTH = 256

/** A plain JSON Schema that is known to be sound. */
export interface SchemaDocument {
  /** A frozen copy of what was given, otherwise verbatim. */
  readonly json: JsonSchema
  readonly dialect: Dialect
  /** Where the `$ref` of a schema object leads. */
  readonly targets: ReadonlyMap<object, unknown>
  /** Whether `$dynamicRef` is used, which not every validator knows. */
  readonly isDynamic: boolean
}

type Json = Readonly<Record<string, unknown>>

interface Survey {
  readonly owner: string
  readonly dialect: Dialect
  readonly resources: Map<string, Resource>
  /** Every schema object seen, with the resource it belongs to. */
  readonly seen: Map<Json, Resource>
  readonly targets: Map<object, unknown>
  readonly dynamicTargets: Map<object, unknown>
}

interface Position {
  readonly resource: Resource
  readonly pointer: string
  readonly depth: number
}

/**
 * Reads a plain JSON Schema.
 * @throws TypeError naming `owner` and the place, when the dialect is not supported, a keyword has a value it cannot have, a
 * reference does not lead to a schema within the document or leads back to itself, or a limit is passed.
 */
export function readSchemaDocument(given: unknown, owner: string): SchemaDocument {
  if (!isRecord(given)) throw new TypeError(`${owner}: a JSON Schema must be an object.`)
  const json = freezeCopy(given, { owner, pointer: '#', depth: 0 })
  if (!isRecord(json)) throw new TypeError(`${owner}: a JSON Schema must be an object.`)
  const dialect = readDialect(json, owner)
  const id = typeof json['$id'] === 'string' ? json['$id'].replace(/#$/, '') : ''
  const root: Resource = { uri: id, root: json, anchors: new Map() }
  const survey: Survey = {
    owner,
    dialect,
    resources: new Map([[id, root]]),
    seen: new Map(),
    targets: new Map(),
    dynamicTargets: new Map(),
  }
  surveySchema(json, { resource: root, pointer: '#', depth: 1 }, survey)
  resolveAll(survey)
  refuseLoops(survey)
  return { json, dialect, targets: survey.targets, isDynamic: survey.dynamicTargets.size > 0 }
}

function readDialect(json: Json, owner: string): Dialect {
  const declared = json['$schema']
  if (declared === undefined) return '2020-12'
  const uri = typeof declared === 'string' ? declared.replace(/#$/, '') : ''
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema$/.test(uri)) return '2020-12'
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema$/.test(uri)) return 'draft-07'
  throw new TypeError(
    `${owner}: the JSON Schema dialect ${JSON.stringify(declared)} is not supported. Use 2020-12, which needs no $schema, or draft-07.`,
  )
}

function freezeCopy(value: unknown, at: { owner: string; pointer: string; depth: number }): unknown {
  if (at.depth > MAX_JSON_DEPTH)
    throw new TypeError(`${at.owner}: the JSON Schema nests too deeply or contains itself.`)
  const inner = (key: string, member: unknown): unknown =>
    freezeCopy(member, { ...at, pointer: `${at.pointer}/${toPointerToken(key)}`, depth: at.depth + 1 })
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown, index) => inner(String(index), item)))
  if (isRecord(value)) {
    const copy: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(value)) if (member !== undefined) setOwn(copy, key, inner(key, member))
    return Object.freeze(copy)
  }
  const isJson = value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  if (!isJson) throw new TypeError(`${at.owner}: the JSON Schema holds something that is not JSON at ${at.pointer}.`)
  return value
}

function surveySchema(schema: unknown, at: Position, survey: Survey): void {
  const { owner } = survey
  if (typeof schema === 'boolean') return
  if (!isRecord(schema))
    throw new TypeError(`${owner}: expected a JSON Schema at ${at.pointer}, an object or a boolean.`)
  if (survey.seen.has(schema)) return
  if (at.depth > MAX_SCHEMA_DEPTH)
    throw new TypeError(`${owner}: the JSON Schema nests more than ${MAX_SCHEMA_DEPTH} schemas.`)
  if (survey.seen.size >= MAX_SUBSCHEMAS)
    throw new TypeError(`${owner}: the JSON Schema has more than ${MAX_SUBSCHEMAS} subschemas.`)
  for (const [keyword, value] of Object.entries(schema)) {
    const wrong = findBadValue(keyword, value, survey.dialect)
    if (wrong !== undefined) throw new TypeError(`${owner}: '${keyword}' at ${at.pointer} ${wrong}.`)
  }
  const resource = enterResource(schema, at, survey)
  survey.seen.set(schema, resource)
  for (const { tokens, schema: inner } of listSubschemas(schema)) {
    const pointer = `${at.pointer}/${tokens.map(toPointerToken).join('/')}`
    surveySchema(inner, { resource, pointer, depth: at.depth + 1 }, survey)
  }
}

/** Registers `$id` and anchors; returns the resource that the schema belongs to. */
function enterResource(schema: Json, at: Position, survey: Survey): Resource {
  const { $id: id, $schema: declared, $anchor: anchor, $dynamicAnchor: dynamicAnchor } = schema
  if (declared !== undefined && readDialect(schema, survey.owner) !== survey.dialect) {
    throw new TypeError(`${survey.owner}: '$schema' at ${at.pointer} must be the dialect of the whole schema.`)
  }
  let resource = at.resource
  if (typeof id === 'string' && at.pointer !== '#') {
    if (survey.dialect === 'draft-07' && id.startsWith('#')) addAnchor(id.slice(1), schema, { at, resource, survey })
    else resource = addResource(id, schema, { at, resource, survey })
  }
  for (const name of [anchor, dynamicAnchor]) {
    if (typeof name === 'string') addAnchor(name, schema, { at, resource, survey })
  }
  return resource
}

interface Naming {
  readonly at: Position
  readonly resource: Resource
  readonly survey: Survey
}

function addResource(id: string, schema: Json, { at, resource, survey }: Naming): Resource {
  const uri = resolveUri(id.replace(/#$/, ''), resource.uri)
  if (uri.includes('#')) throw new TypeError(`${survey.owner}: '$id' at ${at.pointer} must not have a fragment.`)
  if (survey.resources.has(uri)) throw new TypeError(`${survey.owner}: '$id' ${id} at ${at.pointer} is used twice.`)
  const added: Resource = { uri, root: schema, anchors: new Map() }
  survey.resources.set(uri, added)
  return added
}

function addAnchor(name: string, schema: Json, { at, resource, survey }: Naming): void {
  const known = resource.anchors.get(name)
  if (known !== undefined && known !== schema) {
    throw new TypeError(`${survey.owner}: the anchor ${name} at ${at.pointer} is used twice.`)
  }
  resource.anchors.set(name, schema)
}

function resolveAll(survey: Survey): void {
  // A reference may lead into a keyword that holds no schemas by itself; surveying it there adds to the map being walked.
  for (const [schema, resource] of survey.seen) {
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = schema[keyword]
      if (typeof reference !== 'string') continue
      const target = resolveReference(reference, resource, survey.resources)
      if (target === undefined) {
        throw new TypeError(
          `${survey.owner}: '${keyword}' ${JSON.stringify(reference)} does not lead to a part of this schema. Put the part under $defs; references are never fetched.`,
        )
      }
      surveySchema(target, { resource, pointer: reference, depth: 1 }, survey)
      const targets = keyword === '$ref' ? survey.targets : survey.dynamicTargets
      targets.set(schema, target)
    }
  }
}

const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies']

/** A chain of schemas for the same value that returns to its start would never end. */
function refuseLoops(survey: Survey): void {
  const done = new Set<unknown>()
  const open = new Set<unknown>()
  const visit = (schema: Json): void => {
    if (done.has(schema)) return
    if (open.has(schema)) {
      throw new TypeError(
        `${survey.owner}: a '$ref' leads back to itself without going into the value. Remove the loop.`,
      )
    }
    open.add(schema)
    const inner = listSubschemas(schema).filter(({ keyword }) => IN_PLACE.includes(keyword))
    const referred = [survey.targets.get(schema), survey.dynamicTargets.get(schema)]
    for (const next of [...inner.map((subschema) => subschema.schema), ...referred]) {
      if (isRecord(next)) visit(next)
    }
    open.delete(schema)
    done.add(schema)
  }
  for (const schema of survey.seen.keys()) visit(schema)
}
