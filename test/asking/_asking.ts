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

/** What a call is asked, as it came: for clients that answer by themselves. */
export interface Asked {
  readonly requestState: string
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: object }>>
}

/** Answers of a user, by the keys of the questions. */
export function accept(contents: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(contents).map(([key, content]) => [key, { action: 'accept', content }]))
}
