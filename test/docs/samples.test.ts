import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { compile, pages, root, type Sample, samplesOf } from './_samples.js'
import { closeServed, served } from './_served.js'

const samples: readonly Sample[] = pages().flatMap((page) => samplesOf(page))
const runnable = samples.filter(({ run }) => run)

mkdirSync(join(root, '.tmp'), { recursive: true })
const folder: string = mkdtempSync(join(root, '.tmp/samples-'))

afterAll(async () => {
  await closeServed()
  rmSync(folder, { recursive: true, force: true })
})

describe('samples of the documentation', () => {
  it('are there, and the first of the README is one that runs', () => {
    expect(samples.length).toBeGreaterThan(20)
    expect(samples[0]).toMatchObject({ place: expect.stringMatching(/^README\.md:/), run: true })
  })

  it('compile', { timeout: 30_000 }, () => {
    expect(compile(samples)).toEqual([])
  })

  it.each(runnable)('$place runs', { timeout: 20_000 }, async ({ code }) => {
    await run(code)
  })

  it('the server of the README answers', async () => {
    const lines = (samples[0]?.code.trimEnd().split('\n') ?? []).filter((line) => line !== 'export {}')
    expect(lines.length).toBeLessThan(15)
    const [url] = served
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'greet',
    }
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { name: 'greet', arguments: { name: 'Ada' }, _meta: meta }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const answer = await fetch(url ?? '', { method: 'POST', headers, body })
    expect(await answer.json()).toMatchObject({ result: { content: [{ type: 'text', text: 'Hello Ada' }] } })
  })
})

describe('links of the documentation', () => {
  it.each(pages())('%s leads to files that are there', (page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '')
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([])
  })
})

describe('the check bites', () => {
  const page = [
    '```ts',
    'const wrong: number = "text"',
    '```',
    '',
    '<!-- sample: router -->',
    '```ts',
    "throw new Error(router.resourceUri('none'))",
    '```',
  ].join('\n')
  const [typed, throwing] = samplesOf('page.md', page)

  it('on types', { timeout: 30_000 }, () => {
    expect(compile([typed as Sample, throwing as Sample])).toEqual([
      "page.md:1 Type 'string' is not assignable to type 'number'.",
    ])
  })

  it('on what a sample throws', async () => {
    expect(throwing).toMatchObject({ place: 'page.md:5', run: true })
    await expect(run(throwing?.code ?? '')).rejects.toThrow('Unknown resource: none')
  })

  it('on a comment or a fence that is misspelt', () => {
    expect(() => samplesOf('page.md', '<!-- sample: routre -->\n```ts\nx\n```')).toThrow('there is no preamble routre')
    expect(() => samplesOf('page.md', '```ts twoslash\nx\n```')).toThrow('misspelt')
  })
})

/** Runs a sample on the source. Whatever it serves over HTTP listens on a free port, and is kept in `served`. */
async function run(code: string): Promise<void> {
  const serving = JSON.stringify(join(root, 'test/docs/_served.ts'))
  const file = join(folder, `${crypto.randomUUID()}.ts`)
  writeFileSync(file, code.replaceAll("from 'phantom-mcp/node'", `from ${serving}`))
  await import(/* @vite-ignore */ pathToFileURL(file).pathname)
}
