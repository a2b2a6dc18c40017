// The official suite as an npm package: its installation, its scenarios, and one run of one of them.
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endWithUs } from './example-process.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))
const modules = join(folder, 'node_modules')
// Node 20 cannot load the suite: it imports globSync, which came with Node 22.
const node = join(modules, 'node/bin/node')
const cli = join(modules, '@modelcontextprotocol/conformance/dist/index.js')

const LEGACY_WIRE = '2025-11-25'
const MODERN_WIRE = '2026-07-28'

/** What this version of the suite has for each wire: a list that was not read whole must not pass for one. */
const COUNTS = { [LEGACY_WIRE]: 33, [MODERN_WIRE]: 53 }
const SCENARIO_MS = 30_000

/** Installs the suite when it is missing or of another version than package.json says. */
export function installSuite() {
  if (isInstalled()) return
  console.error('installing the conformance suite')
  const { status } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('npm ci failed in examples/conformance')
}

function isInstalled() {
  const { dependencies } = readJson(join(folder, 'package.json'))
  if (!existsSync(node) || !existsSync(cli)) return false
  return Object.entries(dependencies).every(
    ([name, version]) => readJson(join(modules, name, 'package.json')).version === version,
  )
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** Every scenario for servers at each wire that it belongs to; extensions are of the modern wire. */
export async function listScenarios() {
  const output = await runSuite(['list', '--server'])
  const scenarios = [...output.matchAll(/^ {2}- (\S+) \[([^\]]+)\]$/gm)].map(([, name, tags]) => ({ name, tags }))
  const all = [LEGACY_WIRE, MODERN_WIRE].flatMap((wire) =>
    scenarios
      .filter(({ tags }) => tags.split(',').includes(wire) || (tags === 'extension' && wire === MODERN_WIRE))
      .map(({ name }) => ({ name, wire })),
  )
  for (const [wire, count] of Object.entries(COUNTS)) {
    const found = all.filter((scenario) => scenario.wire === wire).length
    if (found !== count) throw new Error(`The suite lists ${found} scenarios for ${wire}, not ${count}:\n${output}`)
  }
  return all
}

/** Runs a scenario against the server at `url`: its verdict, PASS, FAIL or SKIP, its checks in short, what went wrong by check. */
export async function runScenario({ name, wire }, url) {
  const results = mkdtempSync(join(tmpdir(), 'phantom-conformance-'))
  try {
    // --force: without it an extension's scenario is left out where a wire is named.
    const output = await runSuite([
      ...['server', '--url', url, '--scenario', name, '--spec-version', wire, '--force'],
      ...['--output-dir', results, '--timeout', String(SCENARIO_MS)],
    ])
    const [file] = readdirSync(results, { recursive: true }).filter((path) => path.endsWith('checks.json'))
    // A scenario that throws leaves no checks behind.
    if (!file) return { verdict: 'FAIL', checks: 'no checks', problems: [{ text: output.trim().slice(0, 2_000) }] }
    return judge(readJson(join(results, file)))
  } finally {
    rmSync(results, { recursive: true, force: true })
  }
}

/**
 * A warning fails the scenario: some scenarios only warn when the feature that they are about is not there at all. One that
 * verified nothing is skipped, though the suite ticks it; its schema check of whatever was sent is not what it is about.
 */
function judge(checks) {
  const having = (status) => checks.filter((check) => check.status === status)
  const [ok, failed, warned] = [having('SUCCESS'), having('FAILURE'), having('WARNING')]
  const skipped = having('SKIPPED').length
  const summary = [
    `${ok.length}/${ok.length + failed.length}`,
    ...(warned.length > 0 ? [`w${warned.length}`] : []),
    ...(skipped > 0 ? [`s${skipped}`] : []),
  ].join(' ')
  const problems = [...failed, ...warned].map(({ status, id, errorMessage, description }) => ({
    id,
    text: `${status} ${id}: ${errorMessage ?? description}`,
  }))
  const verified = ok.some(({ id }) => id !== 'wire-schema-valid')
  return { verdict: problems.length > 0 ? 'FAIL' : verified ? 'PASS' : 'SKIP', checks: summary, problems }
}

function runSuite(args) {
  const options = { cwd: folder, timeout: SCENARIO_MS * 2, maxBuffer: 2 ** 26, killSignal: 'SIGKILL' }
  return new Promise((resolve) => {
    endWithUs(execFile(node, [cli, ...args], options, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`)))
  })
}
