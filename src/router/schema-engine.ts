import { compileWithAjv } from './schema-ajv.js'
import type { SchemaDocument } from './schema-document.js'
import { prepareInterpreter } from './schema-interpreter.js'
import type { FindProblems } from './schema-model.js'

/** Compiles with Ajv where code may be generated, otherwise prepares the interpreter. */
export async function compileDocument(document: SchemaDocument): Promise<FindProblems> {
  return allowsCodeGeneration() ? compileWithAjv(document) : prepareInterpreter(document)
}

function allowsCodeGeneration(): boolean {
  try {
    return new Function('return true')() === true
  } catch {
    // Workers, and pages with a content security policy, throw here; that is the answer.
    return false
  }
}
