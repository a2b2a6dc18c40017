import { execFile } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Load, LoadResult } from './load.js'

const run = promisify(execFile)

/** Where wrk is, which takes less of the machine than a load generator in Node; undefined where it is not installed. */
export function findWrk(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'wrk'))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Sends the requests in turn and prints what came back as JSON, whose escapes are those of Lua for plain ASCII. */
function script(requests: readonly string[]): string {
  const list = requests.map((request) => `  ${JSON.stringify(request)},`).join('\n')
  return `local requests = {
${list}
}
local turn = 0
request = function()
  turn = turn % #requests + 1
  return requests[turn]
end
done = function(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"answers":%d,"elapsedMs":%f,"failed":%d}', summary.requests, summary.duration / 1000, failed))
  io.write('\\n')
end
`
}

/** The same load by wrk, whose time is in whole seconds. */
export async function runWrk(wrk: string, { port, requests, ms }: Load): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-bench-'))
  try {
    const file = join(folder, 'load.lua')
    writeFileSync(file, script(requests.flat()))
    const seconds = Math.max(1, Math.round(ms / 1000))
    const args = ['-t1', `-c${requests.length}`, `-d${seconds}s`, '-s', file, `http://127.0.0.1:${port}/mcp`]
    const { stdout } = await run(wrk, args, { timeout: (seconds + 10) * 1000 })
    const line = stdout.split('\n').find((text) => text.startsWith('{'))
    const { answers, elapsedMs, failed } = JSON.parse(line ?? '{}') as LoadResult & { failed: number }
    if (failed !== 0 || !(answers > 0)) throw new Error(`wrk counted ${failed} failures in ${answers} answers`)
    return { answers, elapsedMs, allAnswers: answers, allMs: elapsedMs }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
