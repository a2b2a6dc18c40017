import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { defineFor } from 'phantom-mcp'
import { TEN_VALUES, tenFields } from '../many-tools.js'
import type { Pair } from '../timing.js'

/** Ajv as plain schemas are checked with it (src/router/schema-ajv.ts): it has to promise as much as fields do. */
const AS_WE_USE_IT = { strict: false, strictNumbers: true, ownProperties: true, unicodeRegExp: true, verbose: true }

/** The check of a valid call's ten arguments against Ajv's, compiled from the schema that clients get. */
export function makePair(options: object = AS_WE_USE_IT): Pair {
  const { input } = defineFor().tool('search', { input: tenFields() }, () => 'found')
  const ajv = formats.default(new Ajv2020(options))
  const validate = ajv.compile(input.json)
  const value = structuredClone(TEN_VALUES)
  if (!isOk(input.check(value)) || !validate(value)) throw new Error('The values were expected to fit')
  if (isOk(input.check({})) || validate({})) throw new Error('An empty object was expected not to fit')
  return {
    ours: () => {
      if (!isOk(input.check(value))) throw new Error('does not fit')
    },
    theirs: () => {
      if (!validate(value)) throw new Error('does not fit')
    },
    calls: 50_000,
  }
}

function isOk(checked: unknown): boolean {
  return (checked as { ok: boolean }).ok
}
