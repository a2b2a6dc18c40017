import { createRouter, type Router } from 'phantom-mcp'
import { type CallToolResult, RpcError, type TestClient } from 'phantom-mcp/testing'

/** An empty router. */
export const createCatalogue = (): Router => createRouter({ name: 'catalogue', version: '1.0.0' })

export type List = 'tools' | 'prompts' | 'resources' | 'resources/templates'

const MEMBERS = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  'resources/templates': 'resourceTemplates',
} as const

/** The entries of the first page of a list, or of the page of a cursor. */
export async function entriesOf(client: TestClient, list: List, cursor?: string): Promise<Record<string, unknown>[]> {
  return (await client.list(list, cursor))[MEMBERS[list]] as Record<string, unknown>[]
}

/** The names on the first page of a list, or on the page of a cursor. */
export async function namesOf(client: TestClient, list: List, cursor?: string): Promise<unknown[]> {
  return (await entriesOf(client, list, cursor)).map(({ name }) => name)
}

/** The text of a result that is one block of text. */
export function textOf({ content }: CallToolResult): string {
  const [block, ...others] = content
  if (block?.type !== 'text' || others.length > 0) throw new Error(`Not one text block: ${JSON.stringify(content)}`)
  return block.text
}

/** The text of a resource of one part. */
export async function readText(client: TestClient, uri: string): Promise<string> {
  const [part, ...others] = (await client.readResource(uri)).contents
  if (part === undefined || !('text' in part) || others.length > 0) throw new Error(`Not one text at ${uri}`)
  return part.text
}

/** What `initialize` or `server/discover` declares. */
export async function capabilitiesOf(client: TestClient): Promise<Record<string, unknown>> {
  const told = client.initialized ?? (await client.request('server/discover'))
  return told['capabilities'] as Record<string, unknown>
}

/** Resolved from outside. */
export interface Gate {
  readonly passed: Promise<void>
  open(): void
}

export function createGate(): Gate {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}

/** The errors of a call whose arguments are refused, one by one: a protocol error up to 2025-06-18, then a result. */
export async function argumentErrors(call: Promise<CallToolResult>): Promise<readonly string[]> {
  const answer = await call.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  )
  if ('error' in answer) {
    if (!(answer.error instanceof RpcError) || answer.error.code !== -32602) throw answer.error
    return (answer.error.data as { validation_errors: readonly string[] }).validation_errors
  }
  if (answer.result.isError !== true) throw new Error(`Accepted: ${JSON.stringify(answer.result)}`)
  return textOf(answer.result)
    .replace(/^Invalid arguments: /, '')
    .split('; ')
}
