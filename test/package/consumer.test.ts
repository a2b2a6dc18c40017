import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entries, root, runNode } from './_package.js'

// A project of a user's, outside this checkout, with the packed package and nothing else of ours. Declarations are
// checked too (skipLibCheck false), as strictly as a careful user would.

const server = `import { createRouter, field, McpError } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { serve } from 'phantom-mcp/node'
import { serveStdio } from 'phantom-mcp/stdio'

const router = createRouter({ name: 'hello', version: '1.0.0', instructions: 'Greets people.' })

router.tool(
  'greet',
  { description: 'Greet someone by name.', input: { name: field.string({ required: true }), times: field.integer() } },
  ({ name, times }) => {
    const exact: string = name
    const loose: number | undefined = times
    if (exact === '') throw new McpError('INVALID_PARAMS', 'Who?')
    return \`Hello \${exact}\`.repeat(loose ?? 1)
  },
)

// @ts-expect-error an argument that is not in the input
router.tool('wrong', { description: 'Wrong.', input: { name: field.string() } }, ({ nmae }) => nmae)

if (process.argv.includes('--stdio')) await serveStdio(router)
else if (process.argv.includes('--http')) await serve(router, { port: 3000 })

export const handler: (request: Request) => Response | Promise<Response> = fetchHandler(router)
`

const options = {
  target: 'ES2023',
  lib: ['ES2023'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
}

let project: string

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'phantom-consumer-'))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  writeFileSync(join(project, 'server.ts'), server)
  install(project)
})

afterAll(() => {
  rmSync(project, { recursive: true, force: true })
})

describe('a project that installs the package', () => {
  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('compiles with module %s and resolution %s', (module, moduleResolution) => {
    const config = { compilerOptions: { ...options, module, moduleResolution }, files: ['server.ts'] }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  it.each([...entries.keys()])('imports %s with the declared dependencies alone', (entry) => {
    expect(runNode(`console.log(typeof (await import('${entry}')))`, { cwd: project })).toBe('object\n')
  })
})

/** Unpacks the tarball and links the dependencies that its manifest declares: what npm install does, without a network. */
function install(folder: string): void {
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [{ filename }] = JSON.parse(packed)
  const target = join(folder, 'node_modules/phantom-mcp')
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1'])
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    readFileSync(join(target, 'package.json'), 'utf8'),
  )
  for (const name of [...Object.keys(manifest.dependencies ?? {}), '@types/node']) link(folder, name)
}

function link(folder: string, name: string): void {
  const to = join(folder, 'node_modules', name)
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), to)
}
