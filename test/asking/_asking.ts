import { createRouter, type Router, type RouterOptions } from 'phantom-mcp'
import type { Version } from '../_setup.js'

/** A secret of the length that routers want. */
export const SECRET = 'a secret of a test, which is long enough to be taken for a real one'

/** The versions that ask their users. */
export const ELICITING: readonly Version[] = ['2025-06-18', '2025-11-25', '2026-07-28']

export function askingRouter(options: Partial<RouterOptions> = {}): Router {
  return createRouter({
    name: 'asking',
    version: '1.0.0',
    secretKeyBase: SECRET,
    ...options,
  } as RouterOptions) as Router
}

/** The text of a tool's result. */
export function textOf(result: { readonly content: readonly unknown[] }): unknown {
  return (result.content[0] as { text?: unknown } | undefined)?.text
}
