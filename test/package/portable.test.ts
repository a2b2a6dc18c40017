import { gzipSync } from 'node:zlib'
import { type BuildOptions, buildSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { entries, root } from './_package.js'

// The root, fetch, testing, skills and the backplanes run on any host with web standards: bundled for a browser they leave no node: import.

const portable = [
  'phantom-mcp',
  'phantom-mcp/fetch',
  'phantom-mcp/testing',
  'phantom-mcp/redis',
  'phantom-mcp/nats',
  'phantom-mcp/skills',
  'phantom-mcp/tasks',
]

describe.each(portable)('%s for a browser', (entry) => {
  it('imports nothing of Node', () => {
    const { imported } = bundle(entry)
    expect(imported).toEqual([])
  })

  it('says its size', () => {
    const { bytes, zipped } = bundle(entry, { minify: true })
    console.log(`${entry}: ${bytes} bytes minified, ${zipped} gzipped`)
    expect(bytes).toBeGreaterThan(0)
  })
})

it('the check bites: phantom-mcp/node does import of Node', () => {
  const { imported } = bundle('phantom-mcp/node')
  expect(imported).toContain('node:http')
})

function bundle(entry: string, options: BuildOptions = {}): { imported: string[]; bytes: number; zipped: number } {
  const { metafile, outputFiles = [] } = buildSync({
    absWorkingDir: root,
    entryPoints: [`${entries.get(entry)}.js`],
    outdir: 'out',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    external: ['node:*'],
    logLevel: 'silent',
    ...options,
  })
  const imports = Object.values(metafile?.outputs ?? {}).flatMap((output) => output.imports)
  const imported = imports.filter((one) => one.external).map((one) => one.path)
  const first = outputFiles.find((file) => file.path.endsWith('/index.js'))?.contents ?? new Uint8Array()
  return { imported: [...new Set(imported)].sort(), bytes: first.byteLength, zipped: gzipSync(first).byteLength }
}
