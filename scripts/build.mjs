// Builds dist from src. `npm run build` always builds; the other scripts build what is older than its sources.
// tsc writes into a fresh folder that then takes the place of dist: no file of a deleted module stays behind, and a
// process that starts meanwhile finds either the old dist or the new one.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const work = join(root, '.build')
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const libraryConfigs = ['package.json', 'tsconfig.json', 'tsconfig.build.json']
const exampleConfigs = ['package.json', 'tsconfig.json', 'tsconfig.examples.json']

/** Builds dist, always. Throws with the compiler's output when it fails. */
export function buildLibrary() {
  withLock(compileLibrary)
}

/** What is compiled to run on dist. */
const programs = ['examples', 'bench', 'test/soak']

/** Builds dist and the compiled examples and benches where a source is newer. */
export function buildStale() {
  withLock(() => {
    if (isStale(join(root, 'dist/index.js'), ['src', ...libraryConfigs])) compileLibrary()
    const stamp = join(work, 'examples.stamp')
    if (!isStale(stamp, [...programs, ...exampleConfigs])) return
    for (const folder of programs) rmSync(join(work, folder), { recursive: true, force: true })
    compile('tsconfig.examples.json')
    linkPackages()
    writeFileSync(stamp, '')
  })
}

function compileLibrary() {
  const fresh = join(root, '.dist-next')
  const old = join(work, 'dist-before')
  const clear = () => [fresh, old].map((folder) => rmSync(folder, { recursive: true, force: true }))
  clear()
  try {
    compile('tsconfig.build.json', '--outDir', fresh)
    if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old)
    renameSync(fresh, join(root, 'dist'))
  } finally {
    clear()
  }
}

/** An example with packages of its own finds them from where it is compiled to, once they are installed. */
function linkPackages() {
  for (const name of readdirSync(join(root, 'examples'))) {
    const [source, compiled] = [root, work].map((home) => join(home, 'examples', name))
    if (!existsSync(join(source, 'package.json'))) continue
    symlinkSync(join(source, 'node_modules'), join(compiled, 'node_modules'), 'junction')
  }
}

function compile(config, ...options) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', join(root, config), ...options], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) throw new Error(`${config} does not compile:\n${stdout}${stderr}`)
}

function isStale(output, sources) {
  if (!existsSync(output)) return true
  const built = statSync(output).mtimeMs
  return sources.some((source) => newest(join(root, source)) > built)
}

function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  const inside = readdirSync(path).filter((name) => name !== 'node_modules')
  return Math.max(stat.mtimeMs, ...inside.map((name) => newest(join(path, name))))
}

/** One build at a time per checkout; the lock of a process that is gone is taken over. */
function withLock(action) {
  mkdirSync(work, { recursive: true })
  const lock = join(work, 'lock')
  while (!take(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  try {
    action()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (isAbandoned(lock)) rmSync(lock, { force: true })
    return false
  }
}

function isAbandoned(lock) {
  try {
    const owner = Number(readFileSync(lock, 'utf8'))
    if (owner > 0) process.kill(owner, 0)
    return Date.now() - statSync(lock).mtimeMs > 5 * 60_000
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    buildLibrary()
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
