import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouter, type ErrorCode, McpError } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root } from './_samples.js'

/** A row of the table in docs/errors.md. */
interface Row {
  readonly code: string
  readonly sessions: string
  readonly stateless: string
}

const page: string = readFileSync(join(root, 'docs/errors.md'), 'utf8')
const rows: readonly Row[] = rowsOf(page)

describe('docs/errors.md', () => {
  it('has a row for each code of McpError, and no other', () => {
    expect(rows.map(({ code }) => code).sort()).toEqual([...codesOf(join(root, 'src/errors.ts'))].sort())
  })

  it.each(rows)('$code is answered as the page says: $sessions · $stateless', async ({ code, sessions, stateless }) => {
    const call = await openServer(code as ErrorCode)
    expect(await call('2025-11-25')).toBe(sessions)
    expect(await call('2026-07-28')).toBe(stateless)
  })

  it('names every reason that is given, and no other', () => {
    const told = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1])
    expect(told.sort()).toEqual([...reasonsOf(join(root, 'src'))].sort())
  })
})

describe('the check bites', () => {
  it('on rows that are not there', () => {
    expect(rowsOf('| `A_CODE` | −1 | 200 | −2 | 404 | when | do |\nno row')).toEqual([
      { code: 'A_CODE', sessions: '-1 with 200', stateless: '-2 with 404' },
    ])
  })
})

function rowsOf(text: string): Row[] {
  const row = /^\| `([A-Z_]+)` \| (.\d+) \| (\d+) \| (.\d+) \| (\d+) \|/gm
  return [...text.matchAll(row)].map(([, code = '', number, status, laterNumber, laterStatus]) => ({
    code,
    sessions: `${number?.replace('−', '-')} with ${status}`,
    stateless: `${laterNumber?.replace('−', '-')} with ${laterStatus}`,
  }))
}

/** The members of the union `ErrorCode`, as the compiler sees them. */
function codesOf(file: string): readonly string[] {
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
  })
  const source = program.getSourceFile(file)
  const checker = program.getTypeChecker()
  const symbol = source && checker.getSymbolAtLocation(source)
  const found = symbol && checker.getExportsOfModule(symbol).find(({ name }) => name === 'ErrorCode')
  const type = found && checker.getDeclaredTypeOfSymbol(found)
  if (!type?.isUnion()) throw new Error('ErrorCode is not a union')
  return type.types.map((member) => String((member as ts.StringLiteralType).value))
}

/** Every fixed word that the code says in `data.reason`. */
function reasonsOf(folder: string): ReadonlySet<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  )
  const text = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  return new Set([...text.matchAll(/(?:reason: |refuseState\()'([a-z_]+)'/g)].map((match) => match[1] ?? ''))
}

/** A server whose only tool throws the error; a call says what came back. */
async function openServer(code: ErrorCode): Promise<(version: string) => Promise<string>> {
  const router = createRouter({ name: 'test', version: '1.0.0' })
  router.tool('fail', {}, () => {
    throw new McpError(code, 'Thrown')
  })
  const handle = fetchHandler(router)
  const post = async (message: object, headers: Record<string, string>): Promise<Response> =>
    await handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      }),
    )
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } }
  const begun = await post({ method: 'initialize', params: initialize }, {})
  const session = begun.headers.get('mcp-session-id') ?? ''
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return async (version) => {
    const answer =
      version === '2026-07-28'
        ? await post(
            { method: 'tools/call', params: { name: 'fail', _meta: meta } },
            { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'fail' },
          )
        : await post({ method: 'tools/call', params: { name: 'fail' } }, { 'mcp-session-id': session })
    const { error } = (await answer.json()) as { error: { code: number } }
    return `${error.code} with ${answer.status}`
  }
}
