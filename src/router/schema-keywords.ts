import { isRecord } from './json-value.js'

/** The dialects of JSON Schema that are enforced. */
export type Dialect = '2020-12' | 'draft-07'

/** How a keyword holds subschemas. */
type Holding = 'schema' | 'list' | 'map' | 'schemaOrList' | 'dependencies'

const HOLDINGS: { readonly [keyword: string]: Holding } = {
  $defs: 'map',
  additionalItems: 'schema',
  additionalProperties: 'schema',
  allOf: 'list',
  anyOf: 'list',
  contains: 'schema',
  contentSchema: 'schema',
  definitions: 'map',
  dependencies: 'dependencies',
  dependentSchemas: 'map',
  else: 'schema',
  if: 'schema',
  items: 'schemaOrList',
  not: 'schema',
  oneOf: 'list',
  patternProperties: 'map',
  prefixItems: 'list',
  properties: 'map',
  propertyNames: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name.
  then: 'schema',
  unevaluatedItems: 'schema',
  unevaluatedProperties: 'schema',
}

/** The words of the `type` keyword. */
export const TYPE_WORDS = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const

/** A subschema within its parent: the pointer tokens that lead there and the keyword that holds it. */
export interface Subschema {
  readonly keyword: string
  readonly tokens: readonly string[]
  readonly schema: unknown
}

/** How a keyword holds subschemas, or undefined when it holds none. */
export function findHolding(keyword: string): Holding | undefined {
  return Object.hasOwn(HOLDINGS, keyword) ? HOLDINGS[keyword] : undefined
}

/** The direct subschemas of a schema; a value of the wrong kind where one belongs is listed, too. */
export function listSubschemas(schema: Readonly<Record<string, unknown>>): readonly Subschema[] {
  return Object.entries(schema).flatMap(([keyword, held]) => {
    const holding = findHolding(keyword)
    return holding === undefined ? [] : listHeld(keyword, held, holding)
  })
}

function listHeld(keyword: string, held: unknown, holding: Holding): readonly Subschema[] {
  const asList = holding === 'list' || (holding === 'schemaOrList' && Array.isArray(held))
  if (asList && Array.isArray(held)) {
    return held.map((schema: unknown, index) => ({ keyword, tokens: [keyword, String(index)], schema }))
  }
  if (holding === 'map' || holding === 'dependencies') {
    const members = isRecord(held) ? Object.entries(held) : []
    return members
      .filter(([, schema]) => holding === 'map' || !Array.isArray(schema))
      .map(([name, schema]) => ({ keyword, tokens: [keyword, name], schema }))
  }
  return asList ? [] : [{ keyword, tokens: [keyword], schema: held }]
}

/** Escapes a token for a JSON pointer that is used as a URI fragment. */
export function toPointerToken(token: string): string {
  if (/^[\w.$-]*$/.test(token)) return token
  return encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** The tokens of a JSON pointer in a URI fragment, or undefined when it is badly encoded. */
export function parsePointer(fragment: string): readonly string[] | undefined {
  try {
    const tokens = decodeURIComponent(fragment).split('/').slice(1)
    return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  } catch {
    // decodeURIComponent throws on a stray percent sign: such a pointer leads nowhere.
    return undefined
  }
}
