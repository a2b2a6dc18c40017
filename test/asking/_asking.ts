import { type Answer, createRouter, Elicit, field, type Question, type Router, type RouterOptions } from 'phantom-mcp'
import type { TestClient } from 'phantom-mcp/testing'
import {
  type Cell,
  describeMatrix,
  type MatrixOptions,
  type Setup,
  type SetupOptions,
  type Version,
} from '../_setup.js'

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

/** How the server of a cell waits; `park` only where a version asks by requests. */
export type Mode = 'park' | 'replay'

export interface AskingCell extends Cell {
  readonly mode: Mode
  /** The version asks by rounds. */
  readonly rounds: boolean
}

export interface AskingSetup {
  (router: Router, options?: SetupOptions): Promise<TestClient>
  readonly all: Setup
}

/** The cells of the matrix, those of 2026-07-28 once for each way that a server waits. */
export function describeModes(
  title: string,
  options: MatrixOptions,
  body: (setup: AskingSetup, cell: AskingCell) => void,
): void {
  for (const mode of ['park', 'replay'] as const) {
    const { versions = ELICITING } = options
    const chosen = mode === 'park' ? versions : versions.filter((version) => version === '2026-07-28')
    describeMatrix(`${title}, ${mode}`, { ...options, versions: chosen }, (all, cell) => {
      const setup = (router: Router, { server, ...client }: SetupOptions = {}): Promise<TestClient> =>
        all(router, { ...client, server: { continuations: { mode }, ...server } })
      body(Object.assign(setup, { all }), { ...cell, mode, rounds: !cell.sessions })
    })
  }
}

/** What a user answered, as text. */
export const told = (answer: Answer<unknown>): string =>
  answer.action === 'accept' ? JSON.stringify(answer.content) : answer.action

export const NAME: Question<{ readonly name: string }> = Elicit.form({
  message: 'Your name?',
  fields: { name: field.string({ required: true }) },
})
export const AGE: Question<{ readonly age: number }> = Elicit.form({
  message: 'Your age?',
  fields: { age: field.integer({ required: true, minimum: 0 }) },
})

/** A user who knows the answer to both. */
export const ADA = {
  elicit: (params: object): Readonly<Record<string, unknown>> => {
    const { requestedSchema } = params as { requestedSchema: { properties: object } }
    return 'age' in requestedSchema.properties ? { age: 36 } : { name: 'Ada' }
  },
}
