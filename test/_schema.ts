import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Version } from './_setup.js'

// The specification's own schema of a version.

type Schema = Readonly<Record<string, unknown>>

/** Says what is wrong with a value as a type of the schema; nothing when it fits. */
export type Check = (type: string, value: unknown) => string | undefined

/** `closed` refuses members that the schema does not name, where it leaves open what else there is. */
export function checkOf(version: Version, { closed = false }: { closed?: boolean } = {}): Check {
  const path = fileURLToPath(new URL(`./schema/mcp-${version}.json`, import.meta.url))
  const given = JSON.parse(readFileSync(path, 'utf8')) as Schema
  const schema = closed ? (close(given) as Schema) : given
  const key = Object.hasOwn(schema, '$defs') ? '$defs' : 'definitions'
  const ajv = new (key === '$defs' ? Ajv2020 : Ajv)({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(schema, 'mcp')
  return (type, value) => {
    const validate = ajv.getSchema(`mcp#/${key}/${type}`)
    if (validate === undefined) throw new Error(`The schema of ${version} has no ${type}`)
    return validate(value) ? undefined : `${type}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`
  }
}

function close(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(close)
  if (typeof part !== 'object' || part === null) return part
  const inner = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, close(value)]))
  return inner['type'] === 'object' && Object.keys(inner['properties'] ?? {}).length > 0
    ? { additionalProperties: false, ...inner }
    : inner
}
