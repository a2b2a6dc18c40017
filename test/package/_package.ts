import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout, without a slash at its end. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** The package's entries, as a user writes them, with the files they stand for: `phantom-mcp/node` → `dist/node/index`. */
export const entries: ReadonlyMap<string, string> = readEntries()

function readEntries(): Map<string, string> {
  const manifest: { exports: Record<string, string | { default: string }> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const found = new Map<string, string>()
  for (const [path, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue
    found.set(path.replace('.', 'phantom-mcp'), join(root, target.default.replace(/\.js$/, '')))
  }
  for (const file of found.values()) {
    if (!existsSync(`${file}.js`)) throw new Error(`${file}.js is not there: npm run build`)
  }
  return found
}

/** Runs code in a plain Node, outside of vitest's module loading, and gives what it prints. */
export function runNode(code: string, { cwd = root, kind = 'module' }: { cwd?: string; kind?: string } = {}): string {
  return execFileSync(process.execPath, [`--input-type=${kind}`, '--eval', code], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
