// `npm test`: all that CI checks, in the order in which a fault is cheapest to read. A line per step; the output of a
// step that fails is shown in full; the last line is `N passed, N failed`.
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './build.mjs'
import { countLine, countOne, countTests, sum } from './gate-count.mjs'
import { installMissing, isInstalled } from './gate-packages.mjs'
import { runCommand, stopRunning } from './gate-process.mjs'

const ci = process.env.CI === 'true' || process.env.CI === '1'
const temporary = mkdtempSync(join(tmpdir(), 'phantom-gate-'))
const report = (name) => join(temporary, `${name}.json`)
// Two at least: many tests mostly wait, for a lease to run out or a process to start.
const workers = Math.max(2, availableParallelism() - 1)
const vitest = (project) =>
  `vitest run --project ${project} --maxWorkers ${workers} --reporter=default --reporter=json --outputFile.json=${report(project)}`

/**
 * command   run with node_modules/.bin on the PATH, without stdin
 * count     what the step adds to the totals; without it, one
 * needs     steps without which this one makes no sense
 * programs  what it runs on; it is left out where one of them is not installed, which the last lines tell
 * minutes   after which the step is ended and has failed
 */
const steps = [
  { name: 'biome', command: 'biome check --error-on-warnings .' },
  { name: 'types', command: 'tsc -p tsconfig.json' },
  { name: 'types, portable', command: 'tsc -p tsconfig.portable.json' },
  { name: 'build', command: 'node scripts/build.mjs' },
  { name: 'unit tests', command: vitest('unit'), count: countTests(report('unit')) },
  { name: 'behaviour tests', command: vitest('behaviour'), count: countTests(report('behaviour')) },
  { name: 'publint', command: 'publint --strict', needs: ['build'] },
  { name: 'attw', command: 'attw --pack . --profile esm-only', needs: ['build'] },
  { name: 'knip', command: 'knip' },
  { name: 'typedoc', command: 'typedoc --emit none' },
  { name: 'package tests', command: vitest('package'), count: countTests(report('package')), needs: ['build'] },
  {
    name: 'conformance',
    command: 'npm run --silent conformance',
    count: countLine,
    needs: ['build'],
    minutes: 20,
  },
  ...['redis', 'nats'].map((engine) => ({
    name: `conformance, three nodes on ${engine}`,
    command: `npm run --silent conformance -- --cluster ${engine}`,
    count: countLine,
    needs: ['build'],
    programs: [`${engine}-server`, 'haproxy'],
  })),
  ...['redis', 'nats'].map((engine) => ({
    name: `soak on ${engine}`,
    command: `npm run --silent soak -- ${engine} --seconds 20`,
    count: countLine,
    needs: ['build'],
    programs: [`${engine}-server`, 'haproxy'],
  })),
  {
    name: 'field cases',
    command: 'node scripts/field-cases.mjs',
    count: countLine,
    needs: ['build'],
  },
  {
    name: 'examples/studies',
    command: 'node examples/studies/run.mjs',
    count: countLine,
    needs: ['build'],
    minutes: 8,
  },
  {
    name: 'examples/report-queue',
    command: 'node examples/report-queue/run.mjs',
    count: countLine,
    needs: ['build'],
    programs: ['redis-server'],
  },
]

async function runStep(step, failedSteps) {
  const missing = step.needs?.find((name) => failedSteps.has(name))
  if (missing) {
    console.log(`${step.name}: not run, because it needs ${missing}`)
    return { passed: 0, failed: 0, leftOut: [] }
  }
  const absent = step.programs?.find((command) => !isInstalled({ command }))
  if (absent) {
    console.log(`${step.name}: not run, because ${absent} is not installed`)
    return { passed: 0, failed: 0, leftOut: [] }
  }
  const started = Date.now()
  const result = await runCommand(step.command, { cwd: root, minutes: step.minutes ?? 10 })
  const counted = (step.count ?? countOne)(result)
  // A step that ends badly has failed, whatever it counted.
  if (!result.ok && counted.failed === 0) counted.failed = 1
  if (counted.failed > 0) {
    failedSteps.add(step.name)
    console.log(`\n--- ${step.name}: ${step.command}\n${result.output.trimEnd()}${result.ended ?? ''}\n---`)
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  const verdict = step.count
    ? `${counted.passed} passed, ${counted.failed} failed`
    : counted.failed
      ? 'failed'
      : 'passed'
  console.log(
    `${step.name}: ${verdict} (${seconds} s)${result.leftRunning ? ', and processes that it left were ended' : ''}`,
  )
  return { ...counted, leftOut: counted.leftOut.map((what) => `${step.name}: ${what}`) }
}

async function main() {
  const started = Date.now()
  const leftOut = await installMissing()
  const failedSteps = new Set()
  const results = []
  for (const step of steps) {
    results.push(await runStep(step, failedSteps))
  }
  leftOut.push(...results.flatMap((result) => result.leftOut))
  const totals = sum(results)
  if (ci) totals.failed += leftOut.length
  console.log(`\n${((Date.now() - started) / 1000).toFixed(0)} s in all`)
  for (const what of leftOut) console.log(`left out${ci ? ', which CI does not allow' : ''}: ${what}`)
  console.log(`${totals.passed} passed, ${totals.failed} failed`)
  process.exitCode = totals.failed > 0 ? 1 : 0
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]) {
  process.on(signal, () => process.exit(code))
}
process.on('exit', () => {
  stopRunning()
  rmSync(temporary, { recursive: true, force: true })
})

await main()
