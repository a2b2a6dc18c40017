import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { isRecord } from './json-value.js'
import type { SchemaDocument } from './schema-document.js'
import { type Failure, toProblems } from './schema-failures.js'
import type { FindProblems } from './schema-model.js'
import { toEngineSchema } from './schema-rewrite.js'

/** A value with more parts than this gets its first problem only: finding all would cost far more than the value did. */
const MAX_EXPLAINED_PARTS = 10_000

const OPTIONS = {
  logger: false,
  // A plain schema is enforced, never applied: values reach the handler as they were sent.
  useDefaults: false,
  coerceTypes: false,
  removeAdditional: false,
  strict: false,
  // NaN would become null on the wire.
  strictNumbers: true,
  // Registration has checked the schema; without the meta-schemas compiling is several times faster.
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  // Otherwise every object would seem to have a `constructor`.
  ownProperties: true,
  unicodeRegExp: true,
  verbose: true,
} as const satisfies Options

// Keywords of the plugin's own, such as formatMinimum, mean nothing in the standard.
const FORMATS = { mode: 'full', keywords: false } as const

/** The fast validator: compiles the document to code, so it needs a host that allows that. */
export async function compileWithAjv(document: SchemaDocument): Promise<FindProblems> {
  const compile = await loadCompiler(document)
  const quick = compile(false)
  let thorough: ValidateFunction | undefined
  return (value) => {
    if (quick(value)) return []
    let errors = quick.errors
    if (countParts(value, MAX_EXPLAINED_PARTS) < MAX_EXPLAINED_PARTS) {
      thorough ??= compile(true)
      thorough(value)
      errors = thorough.errors ?? errors
    }
    return toProblems((errors ?? []).flatMap(toFailure), value)
  }
}

async function loadCompiler({ dialect, json }: SchemaDocument): Promise<(allErrors: boolean) => ValidateFunction> {
  const { default: formats } = await import('ajv-formats')
  const schema = toEngineSchema(json)
  if (dialect === 'draft-07') {
    const { Ajv } = await import('ajv')
    // draft-07, section 8.3: what stands beside a $ref is ignored.
    return (allErrors) => {
      const ajv = new Ajv({ ...OPTIONS, allErrors, ignoreKeywordsWithRef: true })
      return formats.default(ajv, FORMATS).removeKeyword('id').compile(schema)
    }
  }
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return (allErrors) => {
    const ajv = new Ajv2020({ ...OPTIONS, allErrors })
    return formats.default(ajv, FORMATS).removeKeyword('id').compile(schema)
  }
}

function toFailure(error: ErrorObject): readonly Failure[] {
  // The wrong name is told by the `propertyNames` error that follows, and a failed branch by the errors inside it.
  if (error.keyword === 'if' || (error.propertyName !== undefined && error.keyword !== 'propertyNames')) return []
  const tokens = error.instancePath.split('/').slice(1)
  const failure: Failure = {
    keyword: error.keyword,
    tokens: tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')),
    rule: error.schema,
    value: error.data,
  }
  const key = findKey(error.params)
  return [key === undefined ? failure : { ...failure, key }]
}

const KEY_PARAMS = ['missingProperty', 'additionalProperty', 'unevaluatedProperty', 'propertyName']

function findKey(params: Readonly<Record<string, unknown>>): string | undefined {
  const key = KEY_PARAMS.map((name) => params[name]).find((value) => value !== undefined)
  return key === undefined ? undefined : String(key)
}

/** Counts the parts of a value, up to a limit. */
function countParts(value: unknown, limit: number): number {
  let count = 0
  const open: unknown[] = [value]
  while (open.length > 0 && count < limit) {
    const part = open.pop()
    count++
    if (Array.isArray(part)) for (const item of part.slice(0, limit)) open.push(item)
    else if (isRecord(part)) open.push(...Object.values(part).slice(0, limit))
  }
  return count
}
