// npm run conformance [-- --only NAME] [--wire 2025-11-25 | 2026-07-28] [--cluster redis | nats]
// Runs the official suite against ./server.ts, each scenario at each of its wires. A line per scenario, the last line is
// `N passed, N failed`. What does not pass and is not in expected-failures.json has failed, a scenario that verified nothing
// among them. That file may only shrink: a scenario in it that passes is an error. Where it names checks, these and no other
// may fail or warn.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { startCluster } from './cluster.mjs'
import { exitOnSignals, startExample } from './example-process.mjs'
import { installSuite, listScenarios, runScenario } from './suite.mjs'

const text = { type: 'string' }
const { values: flags } = parseArgs({ options: { only: text, wire: text, cluster: text } })
const expectations = JSON.parse(readFileSync(new URL('expected-failures.json', import.meta.url), 'utf8'))

/** A reason, or a reason with the checks that it is one for. */
function expectationOf({ name, wire }) {
  const entry = expectations[wire]?.[name]
  return typeof entry === 'string' ? { reason: entry } : entry
}

async function main() {
  installSuite()
  const all = await listScenarios()
  const chosen = all.filter(
    ({ name, wire }) => [undefined, name].includes(flags.only) && [undefined, wire].includes(flags.wire),
  )
  if (chosen.length === 0) throw new Error('No scenario has this name and wire')
  const name = 'examples/conformance/server'
  const server = flags.cluster === undefined ? await startExample(name) : await startCluster(flags.cluster, name)
  const counts = { passed: 0, failed: 0 }
  try {
    await inParallel(chosen, async (scenario) => report(scenario, await runScenario(scenario, server.url), counts))
  } finally {
    const wrong = await server.stop()
    if (wrong) fail(counts, `FAIL the server: ${wrong}\n${server.printed()}`)
  }
  for (const entry of strangers(all)) fail(counts, `FAIL expected-failures.json: the suite has no ${entry}. Remove it.`)
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed > 0 ? 1 : 0
}

/** A scenario mostly waits: for its process to load, and for the server. */
async function inParallel(scenarios, run) {
  const waiting = scenarios.values()
  const worker = async () => {
    for (const scenario of waiting) await run(scenario)
  }
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, worker))
}

function report(scenario, { verdict, checks, problems }, counts) {
  const expected = expectationOf(scenario)
  const line = `${scenario.name} ${scenario.wire} ${checks}`
  if (verdict === 'PASS') {
    if (expected) return fail(counts, `FAIL ${line}: it passes. Remove it from expected-failures.json.`)
    counts.passed++
    return console.log(`PASS ${line}`)
  }
  const others = expected?.checks ? differences(expected.checks, problems) : []
  if (expected && others.length === 0)
    return console.log(`${verdict === 'SKIP' ? 'SKIP' : 'EXPECTED-FAIL'} ${line} (${expected.reason})`)
  const details = expected ? others : problems.map(({ text }) => text)
  fail(counts, [`FAIL ${line}`, ...(verdict === 'SKIP' ? ['nothing was verified'] : details)].join('\n    '))
}

/** What failed or warned beside the checks that are listed, and which of these did not. */
function differences(listed, problems) {
  const failing = new Set(problems.map(({ id }) => id))
  return [
    ...problems.filter(({ id }) => !listed.includes(id)).map(({ text }) => text),
    ...listed.filter((id) => !failing.has(id)).map((id) => `${id} passes. Remove it from expected-failures.json.`),
  ]
}

function fail(counts, line) {
  counts.failed++
  console.log(line)
}

function strangers(all) {
  const known = new Set(all.map(({ name, wire }) => `${name} at ${wire}`))
  const listed = Object.entries(expectations).flatMap(([wire, names]) =>
    Object.keys(names).map((name) => `${name} at ${wire}`),
  )
  return listed.filter((entry) => !known.has(entry))
}

exitOnSignals()
try {
  await main()
} catch (error) {
  console.error(error.message)
  console.log('0 passed, 1 failed')
  process.exitCode = 1
}
