import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { META } from '../_messages.js'
import { verifies } from '../_setup.js'

// A process of its own: what a host starts. Its program is bundled from src, since Node 20 does not run TypeScript.

const PROGRAM = `
import { createRouter } from 'phantom-mcp'
import { serveStdio } from 'phantom-mcp/stdio'
const router = createRouter({ name: 'process', version: '1.0.0' })
router.tool('chatty', {}, async () => {
  console.log('to the log'); console.info('to the log'); console.debug('to the log'); console.dir({ to: 'the log' }); console.table([1])
  await new Promise((resolve) => setTimeout(resolve, 30))
  return 'said'
})
router.tool('boom', {}, () => { throw new Error('for the operator') })
setInterval(() => {}, 1000)
console.log('before')
const served = serveStdio(router)
console.log('after')
await served
`

const source = fileURLToPath(new URL('../../src', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'phantom-stdio-'))
const program = join(folder, 'server.mjs')

interface Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly ended: Promise<number | null>
  stdout: string
  stderr: string
}
const children: Child[] = []

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
  for (const { process } of children.splice(0)) process.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true }))

function start(): Child {
  const process = spawn(globalThis.process.execPath, [program])
  const ended = new Promise<number | null>((resolve) => process.on('close', resolve))
  const child: Child = { process, ended, stdout: '', stderr: '' }
  process.stdout.setEncoding('utf8').on('data', (text: string) => {
    child.stdout += text
  })
  process.stderr.setEncoding('utf8').on('data', (text: string) => {
    child.stderr += text
  })
  children.push(child)
  return child
}

const call = (id: number, name: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, _meta: META } })}\n`

describe('a process', () => {
  verifies(['stdio.stdout', 'stdio.end'], 'writes messages only, and ends with its input when all is answered', async () => {
    const child = start()
    child.process.stdin.end(call(1, 'chatty') + call(2, 'boom'))
    expect(await child.ended).toBe(0)
    const [first, ...lines] = child.stdout.trim().split('\n')
    // What was printed before serving began is the program's own.
    expect(first).toBe('before')
    const messages = lines.map((line) => JSON.parse(line) as { id: number; result?: object; error?: object })
    expect(messages.map(({ id }) => id).sort()).toEqual([1, 2])
    expect(messages.find(({ id }) => id === 1)).toMatchObject({ result: { content: [{ text: 'said' }] } })
    expect(messages.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(child.stderr.match(/to the log/g)).toHaveLength(3)
    expect(child.stderr).toContain('after')
    expect(child.stderr).toContain('for the operator')
  })

  verifies('stdio.end', 'serves a session as a host begins it', async () => {
    const child = start()
    const send = (message: object): unknown => child.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } } })
    send({ method: 'notifications/initialized' })
    send({ id: 1, method: 'tools/list' })
    await expect.poll(() => child.stdout.split('\n').length, { timeout: 5000 }).toBe(4)
    child.process.stdin.end()
    expect(await child.ended).toBe(0)
    const [, initialized, listed] = child.stdout.split('\n')
    expect(JSON.parse(initialized ?? '')).toMatchObject({ id: 0, result: { protocolVersion: '2025-06-18', serverInfo: { name: 'process' } } })
    expect(JSON.parse(listed ?? '')).toMatchObject({ id: 1, result: { tools: [{ name: 'chatty' }, { name: 'boom' }] } })
  })
})
