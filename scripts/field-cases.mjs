// node scripts/field-cases.mjs [--only A1,B1]
// Runs the field cases against examples/field-cases from outside, over HTTP and stdio. The runner does not belong to the
// project: $FIELD_CASES_RUNNER, or ../shared/tools/field-cases/run.mjs beside the checkout. The last line is
// `N passed, N failed`.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { builtExample, endWithUs, exitOnSignals, root, startExample } from '../examples/conformance/example-process.mjs'

const EXAMPLE = 'examples/field-cases/server'
const CASES = 'A1,A3,B1,B3,C1,C3,D1,D4,E1,E3,F1,G1,G3,G5,H1,I1,I3,J1,J3,J5,K1,K3,L1,L4,M1,M3,N1,O1,P1,P4'

const { values: flags } = parseArgs({ options: { only: { type: 'string', default: CASES } } })
const runner = process.env.FIELD_CASES_RUNNER ?? join(root, '../shared/tools/field-cases/run.mjs')

async function main() {
  if (!existsSync(runner)) {
    console.log(`left out: ${runner} is not there`)
    console.log('0 passed, 0 failed')
    return
  }
  const server = await startExample(EXAMPLE)
  const cases = flags.only.split(',')
  const counts = { passed: 0, failed: 0 }
  const reported = new Set()
  try {
    for await (const line of runCases(server.url, cases)) {
      const verdict = parseVerdict(line)
      if (verdict) reported.add(verdict.id)
      report(line, verdict, counts)
    }
  } finally {
    const wrong = await server.stop()
    if (wrong) fail(counts, `FAIL the fixture: ${wrong}\n${server.printed()}`)
  }
  for (const id of cases) if (!reported.has(id)) fail(counts, `FAIL ${id}: the runner did not report it`)
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed > 0 ? 1 : 0
}

/** The runner's own lines, without its totals. */
async function* runCases(url, cases) {
  // A case does not wait for a build: what the server was started from is what it gets.
  const command = `"${process.execPath}" "${builtExample(EXAMPLE)}"`
  const child = spawn(
    process.execPath,
    [
      ...[runner, '--url', url, '--only', cases.join(','), '--details'],
      ...['--stdio', `${command} --stdio`, '--spawn', `${command} --port {port}`],
    ],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  endWithUs(child)
  for await (const line of createInterface(child.stdout)) {
    if (!/^(R-FAIL findings:|\d+ passed)/.test(line)) yield line
  }
}

/** `PASS K1★ [S] title — what was left out`; undefined for a detail of the case before. */
function parseVerdict(line) {
  const [, verdict, id, note] = /^(PASS|FAIL|R-FAIL|SKIP) (\w+)★? \[\w\] .*?(?: — (.*))?$/.exec(line) ?? []
  return verdict && { id, passed: verdict === 'PASS' && note === undefined }
}

/**
 * Nothing but a whole pass counts as one: a finding about robustness, or a case that could not run or left something out, is a
 * failure here.
 */
function report(line, verdict, counts) {
  if (verdict?.passed === false) return fail(counts, line)
  if (verdict) counts.passed++
  console.log(line)
}

function fail(counts, line) {
  counts.failed++
  console.log(line)
}

exitOnSignals()
try {
  await main()
} catch (error) {
  console.error(error.message)
  console.log('0 passed, 1 failed')
  process.exitCode = 1
}
