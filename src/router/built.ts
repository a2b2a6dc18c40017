/**
 * The mark of what a builder made. A symbol cannot come out of JSON, so that a value of the user's is never mistaken for
 * a result of ours; JSON leaves it out.
 */
export const BUILT: unique symbol = Symbol.for('phantom-mcp.built')

export type BuiltKind =
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'resource-list'
  | 'refusal'
  | 'question'
  | 'asked'
  | 'input-required'
  | 'elicitation-required'
  | 'deferred'
  | `extension:${string}`

export function isBuilt(value: unknown, kind: BuiltKind): boolean {
  return typeof value === 'object' && value !== null && (value as { [BUILT]?: unknown })[BUILT] === kind
}
