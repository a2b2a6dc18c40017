// npm run soak [-- redis | nats] [--seconds 60]
// 200 clients of both eras on three nodes behind HAProxy, of which two are killed and started again in turn. Prints what was counted; the
// last line is `N passed, N failed`.
//
// A request ends right in one of three ways: it has its answer; it has an error with `data.retryable`; or it is lost, which is allowed only
// while a node is away, from its kill until it listens again and a quarter of a second: the connection breaks before the answer is whole,
// or the proxy answers 502, 503 or 504 with a body of its own. A call of a session whose stream has an event id is not lost so: its client
// comes back with the id until it has one of the first two. An answer to a question, and a call that brings answers, are sent again until they are
// taken. Updates are numbered by their URIs: each is seen once, in stretches that begin where a client starts to listen or is told that
// it may have missed something, and end where it is told so again or, in 2026-07-28, with its stream.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { startCluster } from '../../examples/conformance/cluster.mjs'
import { builtExample, exitOnSignals } from '../../examples/conformance/example-process.mjs'

const SHOWN = 10
/** Milliseconds after which the run is ended, beyond its own time, whatever it waits for. */
const LIMIT_MS = 120_000

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '60' } },
  allowPositionals: true,
})
const engines = positionals.length > 0 ? positionals : ['redis', 'nats']
const counts = { passed: 0, failed: 0 }

function check(title, wrong) {
  if (wrong.length === 0) {
    counts.passed++
    return console.log(`PASS ${title}`)
  }
  counts.failed++
  console.log(`FAIL ${title}: ${wrong.length} times`)
  for (const what of wrong.slice(0, SHOWN)) console.log(`    ${what}`)
}

async function run(engine, seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-soak-'))
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  const cluster = await startCluster(engine, 'test/soak/server', { EFFECTS: effects })
  let wrong
  try {
    const { soak } = await import(pathToFileURL(builtExample('test/soak/soak')).href)
    const { url, nodes } = cluster
    const { lines, checks } = await soak({ url, nodes, effects, seconds, killer: cluster })
    console.log([`${engine}:`, ...lines].join('\n  '))
    for (const { title, wrong } of checks) check(`${engine}: ${title}`, wrong)
  } finally {
    wrong = await cluster.stop()
    if (wrong !== undefined || counts.failed > 0) console.log(cluster.printed())
    rmSync(folder, { recursive: true, force: true })
  }
  check(`${engine}: the nodes end cleanly`, wrong === undefined ? [] : [wrong])
}

exitOnSignals()
try {
  const seconds = Number(values.seconds)
  if (!(Number.isInteger(seconds) && seconds >= 10)) throw new Error('--seconds takes a whole number from 10 on')
  const limit = setTimeout(
    () => {
      console.error('The soak does not end')
      console.log(`${counts.passed} passed, ${counts.failed + 1} failed`)
      process.exit(1)
    },
    engines.length * (seconds * 1_000 + LIMIT_MS),
  )
  for (const engine of engines) await run(engine, seconds)
  clearTimeout(limit)
} catch (error) {
  counts.failed++
  console.error(error)
}
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed > 0 ? 1 : 0
