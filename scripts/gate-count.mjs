// What a step of the gate adds to the totals.
import { existsSync, readFileSync } from 'node:fs'

/** A step without tests of its own is one thing that passed or failed. */
export function countOne({ ok }) {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, leftOut: [] }
}

/** A step that prints `N passed, N failed`: the last such line counts. */
export function countLine({ output }) {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed/gm)]
  const last = lines.at(-1)
  if (!last) return { passed: 0, failed: 1, leftOut: [] }
  return { passed: Number(last[1]), failed: Number(last[2]), leftOut: [] }
}

/** vitest's JSON report. A test file that does not load is one failure; skipped tests are left out. */
export function countTests(path) {
  return () => {
    if (!existsSync(path)) return { passed: 0, failed: 1, leftOut: [] }
    const report = JSON.parse(readFileSync(path, 'utf8'))
    const broken = report.testResults.filter(
      (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    )
    const skipped = report.numPendingTests + report.numTodoTests
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken.length,
      leftOut: skipped > 0 ? [`${skipped} skipped tests`] : [],
    }
  }
}

export function sum(results) {
  const total = (key) => results.reduce((before, result) => before + result[key], 0)
  return { passed: total('passed'), failed: total('failed') }
}
