import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach } from 'vitest'

export type Json = Readonly<Record<string, unknown>>

const root = fileURLToPath(new URL('../..', import.meta.url))
const children = new Set<Child>()
const folders: string[] = []

afterEach(async () => {
  for (const child of children) await child.kill()
})
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/**
 * Makes one file of a program that imports the package by its name, for a plain Node. It is made from the source: dist may be
 * older. Gives the file's path.
 */
export async function bundled(program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-mcp-'))
  folders.push(folder)
  const outfile = join(folder, 'server.mjs')
  await build({
    stdin: { contents: program, resolveDir: root, sourcefile: 'server.ts', loader: 'ts' },
    tsconfig: join(root, 'tsconfig.json'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // What is CommonJS inside asks for `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    outfile,
  })
  return outfile
}

/** A server in a process of its own, with its pipes in the hands of the test. */
export class Child {
  readonly process: ChildProcessWithoutNullStreams
  stdout = ''
  stderr = ''
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | string | null>

  constructor(file: string, { read = true }: { readonly read?: boolean } = {}) {
    this.process = spawn(process.execPath, [file], { stdio: 'pipe' })
    this.process.stdin.on('error', () => undefined)
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    if (read) this.read()
    this.exited = new Promise((resolve) => {
      this.process.on('close', (code, signal) => {
        children.delete(this)
        resolve(code ?? signal)
      })
    })
    children.add(this)
  }

  /** Begins to read what the server writes. */
  read(): void {
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
  }

  write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.process.stdin.write(bytes, () => resolve()))
  }

  send(...messages: readonly unknown[]): Promise<void> {
    return this.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  }

  end(): void {
    this.process.stdin.end()
  }

  /** Whole lines that came. Each of them has to be a message: nothing else may be on stdout. */
  get messages(): Json[] {
    return this.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Json)
  }

  answer(id: unknown): Json | undefined {
    return this.messages.find((message) => message['id'] === id && message['method'] === undefined)
  }

  async kill(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGKILL')
    await this.exited
  }
}

const META: Json = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request of 2026-07-28; members of `_meta` are added to what each request has there. */
export function modern(id: unknown, method: string, params: Json = {}): Json {
  const meta = params['_meta'] as Json | undefined
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...meta } } }
}

/** A request of the versions before. */
export function legacy(id: unknown, method: string, params: Json = {}): Json {
  return { jsonrpc: '2.0', id, method, params }
}

export function initialize(id: unknown, protocolVersion = '2025-11-25'): Json {
  return legacy(id, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'probe', version: '0' } })
}

export function textOf(answer: Json | undefined): unknown {
  const result = answer?.['result'] as { content?: Json[] } | undefined
  return result?.content?.[0]?.['text']
}

export function codeOf(answer: Json | undefined): unknown {
  return (answer?.['error'] as Json | undefined)?.['code']
}
