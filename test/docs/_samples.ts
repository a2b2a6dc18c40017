import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The checkout. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** A ts fence of a page. */
export interface Sample {
  /** Page and line of the fence, `README.md:12`. */
  readonly place: string
  readonly code: string
  /** False for what needs something that is not here. */
  readonly run: boolean
}

const PACKAGE_NAMES =
  'createRouter createServer defineFor field forbidden httpEndpoint McpError notFound Prompt reject Resource Tool unauthorized withCache'

/**
 * What a fragment may lean on. A page asks for it with a comment in front of the fence, which readers do not see:
 *
 *     <!-- sample: router, notes -->
 *
 * Every sample is compiled and run. `compiled` is a word of its own, for those that need what is not here.
 */
const PREAMBLES: Readonly<Record<string, string>> = {
  router: "const router = createRouter({ name: 'sample', version: '1.0.0' })",
  notes: `interface Note { id: string; title: string; text: string }
const milk: Note = { id: '1', title: 'Milk', text: 'Buy milk' }
const notes = {
  get: async (id: string): Promise<Note | undefined> => (id === milk.id ? milk : undefined),
  find: async (text: string, _options?: { signal?: AbortSignal }): Promise<Note[]> => [milk].filter((one) => one.text.includes(text)),
  list: async (_cursor?: string): Promise<{ page: Note[]; next: string | undefined }> => ({ page: [milk], next: undefined }),
  idsStartingWith: async (start: string): Promise<string[]> => [milk.id].filter((id) => id.startsWith(start)),
  remove: async (id: string): Promise<boolean> => id === milk.id,
}`,
  accounts: `interface User { id: string; name: string; admin: boolean }
const accounts = { fromBearer: async (header: string | null): Promise<User | undefined> => (header === null ? undefined : { id: '1', name: 'Ada', admin: true }) }`,
}

/** Modules that samples import and the project does not have the types of. */
const AMBIENT = `declare module 'express' {
  import type { IncomingMessage, ServerResponse } from 'node:http'
  interface Application {
    use(path: string, handler: (request: IncomingMessage, response: ServerResponse) => unknown): void
    listen(port: number): void
  }
  export default function express(): Application
}
declare module 'hono' {
  export class Hono {
    all(path: string, handler: (context: { readonly req: { readonly raw: Request } }) => Promise<Response>): void
    readonly fetch: (request: Request) => Promise<Response>
  }
}
`

/** README.md and the pages of docs. */
export function pages(): readonly string[] {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  return ['README.md', ...docs.sort().map((name) => `docs/${name}`)]
}

/** The samples of a page, each whole: with what its comment asks for in front. */
export function samplesOf(page: string, text: string = readFileSync(join(root, page), 'utf8')): readonly Sample[] {
  const samples: Sample[] = []
  const fence = /^(?:<!-- sample: ([a-z, ]+) -->\n)?```ts\n([\s\S]*?)^```$/gm
  for (const match of text.matchAll(fence)) {
    const words = (match[1] ?? '').split(',').map((word) => word.trim())
    const line = text.slice(0, match.index).split('\n').length
    const place = `${page}:${line}`
    samples.push({ place, code: whole(match[2] ?? '', words, place), run: !words.includes('compiled') })
  }
  const opened = text.match(/^ *(?:```|~~~) *(?:ts|typescript)\b/gm)?.length ?? 0
  if (opened !== samples.length) {
    throw new Error(`${page}: ${opened} ts fences, but ${samples.length} samples: a fence or its comment is misspelt`)
  }
  return samples
}

function whole(code: string, words: readonly string[], place: string): string {
  const asked = words.filter((word) => word !== '' && word !== 'compiled')
  const unknown = asked.filter((word) => !Object.hasOwn(PREAMBLES, word))
  if (unknown.length > 0) throw new Error(`${place}: there is no preamble ${unknown.join(', ')}`)
  if (asked.length === 0) return `${code}export {}\n`
  const names = PACKAGE_NAMES.split(' ').filter((name) => !new RegExp(`import [^\\n]*\\b${name}\\b`).test(code))
  const preamble = [`import { ${names.join(', ')} } from 'phantom-mcp'`, ...asked.map((word) => PREAMBLES[word])]
  return `${preamble.join('\n')}\n${code}export {}\n`
}

/** Compiles all samples in one program, with the project's own options. What is wrong, by place. */
export function compile(samples: readonly Sample[]): readonly string[] {
  const files = new Map(samples.map((sample, index) => [join(root, `test/docs/sample-${index}.ts`), sample.code]))
  const ambient = join(root, 'test/docs/sample-modules.d.ts')
  files.set(ambient, AMBIENT)
  const places = new Map(samples.map(({ place }, index) => [join(root, `test/docs/sample-${index}.ts`), place]))
  const options = projectOptions()
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => files.has(name) || fileExists(name)
  host.readFile = (name) => files.get(name) ?? readFile(name)
  host.getSourceFile = (name, ...rest) => {
    const code = files.get(name)
    return code === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, code, rest[0])
  }
  const program = ts.createProgram([...files.keys()], options, host)
  const found: string[] = []
  for (const [name, place] of [...places, [ambient, 'the ambient modules'] as const]) {
    const file = program.getSourceFile(name)
    const wrong = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    found.push(...wrong.map(({ messageText }) => `${place} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`))
  }
  return found
}

function projectOptions(): ts.CompilerOptions {
  const file = join(root, 'tsconfig.json')
  const { config, error } = ts.readConfigFile(file, ts.sys.readFile)
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(file))
  return { ...options, noEmit: true, declaration: false, isolatedDeclarations: false }
}
