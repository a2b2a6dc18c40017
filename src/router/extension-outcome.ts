import { BUILT, isBuilt } from './built.js'

/** What a tool answers with in the place of a result; made with `Extension.outcome`. */
export interface ToolOutcome {
  readonly [BUILT]: 'extension:outcome'
  /** Id of the extension that answers. */
  readonly extension: string
  readonly resultType: string
  /** For the extension's row of that type. */
  readonly value: unknown
}

export function toolOutcome(extension: string, resultType: string, value: unknown): ToolOutcome {
  return { [BUILT]: 'extension:outcome', extension, resultType, value }
}

export function isToolOutcome(value: unknown): value is ToolOutcome {
  return isBuilt(value, 'extension:outcome')
}
