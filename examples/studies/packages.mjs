// The packages of this folder: their installation, and their types.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { root } from '../conformance/example-process.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** Compiling the database's own code takes a minute or two where no prebuilt one can be had. */
export function installPackages() {
  const { dependencies, devDependencies } = readJson(join(folder, 'package.json'))
  const installed = Object.entries({ ...dependencies, ...devDependencies }).every(
    ([name, version]) => readJson(join(folder, 'node_modules', name, 'package.json'))?.version === version,
  )
  if (installed && loads()) return
  console.error('installing the packages of examples/studies')
  const { status } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('npm ci failed in examples/studies')
}

/** An installation that was broken off has the package, but not its compiled part. */
function loads() {
  try {
    const Database = createRequire(join(folder, 'package.json'))('better-sqlite3')
    new Database(':memory:').close()
    return true
  } catch {
    return false
  }
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** What is declared in sqlite.ts must be what better-sqlite3 has. */
export function typesAgree() {
  const text = `import Database from 'better-sqlite3'
import type { Sqlite } from './sqlite.js'
export const opened: Sqlite = new Database(':memory:')
`
  const path = join(folder, 'agreement.ts')
  const options = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => name === path || fileExists(name)
  host.readFile = (name) => (name === path ? text : readFile(name))
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(name, text, rest[0], true) : getSourceFile(name, ...rest)
  const found = ts.getPreEmitDiagnostics(ts.createProgram([path], options, host))
  assert.equal(ts.formatDiagnostics(found, { ...host, getNewLine: () => '\n' }), '')
}
