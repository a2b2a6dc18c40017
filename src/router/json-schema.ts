import { readSchemaDocument, type SchemaDocument } from './schema-document.js'
import type { FindProblems, JsonSchema, Outcome, Problem, Validate } from './schema-model.js'

/** Turns a sound document into a synchronous check. */
export type CompileDocument = (document: SchemaDocument) => Promise<FindProblems>

/** A plain JSON Schema that is ready to be sent and enforced. */
export interface PlainSchema {
  readonly json: JsonSchema
  /** Loads and compiles on the first call, which answers with a promise; synchronous from then on. */
  readonly validate: Validate
}

/**
 * Takes a plain JSON Schema (2020-12, or draft-07 when `$schema` says so) as it is.
 * @param compile Chooses the validator; the default takes Ajv, or an interpreter where code generation is forbidden.
 * @throws TypeError naming `owner` when the schema is not sound.
 */
export function compileJsonSchema(
  given: unknown,
  owner: string,
  compile: CompileDocument = compileLazily,
): PlainSchema {
  const document = readSchemaDocument(given, owner)
  let findProblems: FindProblems | undefined
  let compiling: Promise<FindProblems> | undefined
  const load = async (): Promise<FindProblems> => {
    try {
      findProblems = await compile(document)
      return findProblems
    } finally {
      // A load that failed, say for want of memory, may succeed the next time.
      compiling = undefined
    }
  }
  return {
    json: document.json,
    validate(value) {
      if (findProblems !== undefined) return toOutcome(findProblems(value), value)
      compiling ??= load()
      return compiling.then((find) => toOutcome(find(value), value))
    },
  }
}

function toOutcome(problems: readonly Problem[], value: unknown): Outcome {
  return problems.length === 0 ? { ok: true, value } : { ok: false, problems }
}

// Loading a JSON Schema library costs more than the rest of the start-up, so it waits for the first value.
async function compileLazily(document: SchemaDocument): Promise<FindProblems> {
  const { compileDocument } = await import('./schema-engine.js')
  return compileDocument(document)
}
