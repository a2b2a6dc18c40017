import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createRouter, type Json, type Router } from 'phantom-mcp'
import { Skill, type Skills } from 'phantom-mcp/skills'
import { RpcError } from 'phantom-mcp/testing'
import { afterEach } from 'vitest'

const made: string[] = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A new directory with these files; it is gone after the test. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'phantom-skills-')))
  made.push(folder)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

export const markdown = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: How to ${name}\n${more}---\n\n# ${name}\n`

export const simple = (name: string, files: Readonly<Record<string, string>> = {}): Skill =>
  Skill.build({ frontmatter: { name, description: `How to ${name}` }, body: `# ${name}\n`, files })

export function routerOf<Assigns extends object>(guides: Skills<Assigns>, pageSize = 100): Router {
  return createRouter({ name: 'test', version: '1.0.0', pageSize, extensions: [guides as unknown as Skills] })
}

export const urisOf = (list: unknown): string[] => (list as Json[]).map(({ uri }) => String(uri))

/** Code and message of the error that an answer is. */
export async function refusalOf(answer: Promise<unknown>): Promise<{ code: number; message: string; data: unknown }> {
  const error: unknown = await answer.then(
    (value) => new Error(`an error was expected, not ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof RpcError)) throw error
  const { code, message, data } = error
  return { code, message, data }
}
