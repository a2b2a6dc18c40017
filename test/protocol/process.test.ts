import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { META } from '../_messages.js'
import { verifies } from '../_setup.js'

// A process of its own, as a host starts it. Its program is bundled from src, since Node 20 does not run TypeScript.

const PROGRAM = `
import { createRouter } from 'phantom-mcp'
import { serveStdio } from 'phantom-mcp/stdio'
const router = createRouter({ name: 'process', version: '1.0.0' })
router.tool('chatty', {}, async () => {
  console.log('to the log'); console.info('to the log'); console.debug('to the log')
  await new Promise((resolve) => setTimeout(resolve, 30))
  return 'said'
})
router.tool('boom', {}, () => { throw new Error('for the operator') })
setInterval(() => {}, 1000)
const served = serveStdio(router)
console.log('serving')
await served
`

const source = fileURLToPath(new URL('../../src', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'phantom-process-'))
const program = join(folder, 'server.mjs')
const started: ChildProcessWithoutNullStreams[] = []

beforeAll(async () => {
  await build({
    stdin: { contents: PROGRAM, resolveDir: source, loader: 'ts' },
    alias: { 'phantom-mcp': `${source}/index.ts`, 'phantom-mcp/stdio': `${source}/stdio/index.ts` },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: program,
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program with this input, to its end. */
function run(input: string): Promise<Ended> {
  const child = spawn(process.execPath, [program])
  started.push(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.end(input)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const call = (id: number, name: string): string => line({ id, method: 'tools/call', params: { name, _meta: META } })

describe('a process', () => {
  verifies(
    ['stdio.stdout', 'stdio.end'],
    'writes messages only, and ends with its input when all is answered',
    async () => {
      const { code, stdout, stderr } = await run(call(1, 'chatty') + call(2, 'boom'))
      expect(code).toBe(0)
      const messages = stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as { id: number })
      expect(messages.map(({ id }) => id).sort()).toEqual([1, 2])
      expect(messages.find(({ id }) => id === 1)).toMatchObject({ result: { content: [{ text: 'said' }] } })
      expect(messages.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
      expect(stderr.match(/to the log/g)).toHaveLength(3)
      expect(stderr).toContain('serving')
      expect(stderr).toContain('for the operator')
    },
  )

  verifies('stdio.end', 'serves a session as a host begins it', async () => {
    const clientInfo = { name: 'host', version: '1' }
    const { code, stdout } = await run(
      line({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } }) +
        line({ method: 'notifications/initialized' }) +
        line({ id: 1, method: 'tools/list' }),
    )
    expect(code).toBe(0)
    const messages = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as object)
    expect(messages).toMatchObject([
      { id: 0, result: { protocolVersion: '2025-06-18', serverInfo: { name: 'process' } } },
      { id: 1, result: { tools: [{ name: 'chatty' }, { name: 'boom' }] } },
    ])
  })
})
