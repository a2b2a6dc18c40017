import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { entries, runNode } from './_package.js'

// Every name that the package exports, pinned: a name that comes or goes is a decision, taken here.
// After one: npm run test:package -- -u, and read the difference.

let program: ts.Program

beforeAll(() => {
  const files = [...entries.values()].map((file) => `${file}.d.ts`)
  program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: ['node'],
  })
})

describe('exported names', () => {
  it('phantom-mcp', () => {
    expect(declared('phantom-mcp')).toMatchInlineSnapshot()
  })

  it('phantom-mcp/node', () => {
    expect(declared('phantom-mcp/node')).toMatchInlineSnapshot()
  })

  it('phantom-mcp/fetch', () => {
    expect(declared('phantom-mcp/fetch')).toMatchInlineSnapshot()
  })

  it('phantom-mcp/stdio', () => {
    expect(declared('phantom-mcp/stdio')).toMatchInlineSnapshot()
  })

  it('phantom-mcp/testing', () => {
    expect(declared('phantom-mcp/testing')).toMatchInlineSnapshot()
  })

  it('are pinned for every entry of package.json', () => {
    expect([...entries.keys()]).toEqual([
      'phantom-mcp',
      'phantom-mcp/node',
      'phantom-mcp/fetch',
      'phantom-mcp/stdio',
      'phantom-mcp/testing',
    ])
  })
})

describe('declarations and code agree', () => {
  it.each([...entries.keys()])('%s', (entry) => {
    const values = declared(entry).filter((name) => !name.startsWith('type '))
    const keys = runNode(`console.log(JSON.stringify(Object.keys(await import('${entry}'))))`)
    expect(values.sort()).toEqual(JSON.parse(keys).sort())
  })
})

describe('the package imports quietly', () => {
  it.each([...entries.keys()])('%s', (entry) => {
    expect(runNode(`await import('${entry}')`)).toBe('')
  })
})

/** Names in the declarations of an entry; those that exist only for the compiler begin with `type `. */
function declared(entry: string): string[] {
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(`${entries.get(entry)}.d.ts`)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) return []
  const names = checker.getExportsOfModule(module).map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const isValue = (target.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(symbol)
    return isValue ? symbol.name : `type ${symbol.name}`
  })
  return names.sort()
}

function isTypeOnly(symbol: ts.Symbol): boolean {
  return (
    symbol.declarations?.some((node) => ts.isExportSpecifier(node) && ts.isTypeOnlyImportOrExportDeclaration(node)) ??
    false
  )
}
