import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root } from './_package.js'

// What the code of src says, comments left out: identifiers, strings, templates, regular expressions.

const eraFolders = ['protocol', 'http', 'stdio', 'testing']
const era = /legacy|modern|\b20\d\d-\d\d-\d\d\b/i
const emptyWords = ['Manager', 'Helper', 'Helpers', 'Util', 'Utils', 'Impl', 'Service']

const sources: { path: string; tree: ts.SourceFile }[] = readdirSync(join(root, 'src'), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((path) => path.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(path))
  .map((path) => {
    const text = readFileSync(join(root, 'src', path), 'utf8')
    return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) }
  })

describe('words in src', () => {
  it('are read', () => {
    expect(sources.length).toBeGreaterThan(0)
  })

  it(`name an era or a revision only in ${eraFolders.join(', ')}`, () => {
    const outside = sources.filter(
      ({ path }) =>
        !eraFolders.some((folder) => path.startsWith(`${folder}/`)) && !/^(skills|tasks)\/extension\.ts$/.test(path),
    )
    const found = outside.flatMap(({ path, tree }) =>
      words(tree)
        .filter(({ text }) => era.test(text))
        .map(({ text, line }) => `src/${path}:${line} ${text}`),
    )
    expect(found).toEqual([])
  })

  it('that are exported say what they mean', () => {
    const found = sources.flatMap(({ path, tree }) =>
      exportedNames(tree)
        .filter(isEmptyName)
        .map((name) => `src/${path} ${name}`),
    )
    expect(found).toEqual([])
  })
})

describe('the check bites', () => {
  const tree = ts.createSourceFile(
    'x.ts',
    `// legacy\n/** modern */\nimport { a } from './modern/a.js'\nconst isLegacy = \`\${a} 2025-11-25\`
    export class ToolManager {}\nexport { a as wireData, isLegacy as implementation }\nexport type DataView2 = 1`,
    ts.ScriptTarget.ES2023,
    true,
  )

  it('on identifiers, paths and templates, not on comments', () => {
    const found = words(tree).filter(({ text }) => era.test(text))
    expect(found.map(({ text }) => text)).toEqual(['./modern/a.js', 'isLegacy', ' 2025-11-25', 'isLegacy'])
  })

  it('on empty names', () => {
    expect(exportedNames(tree).filter(isEmptyName)).toEqual(['ToolManager', 'wireData'])
  })
})

function words(tree: ts.SourceFile): { text: string; line: number }[] {
  const found: { text: string; line: number }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node) || ts.isLiteralExpression(node) || isTemplatePart(node)) {
      found.push({ text: node.text, line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function isTemplatePart(node: ts.Node): node is ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail {
  return ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)
}

function exportedNames(tree: ts.SourceFile): string[] {
  return tree.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      return statement.exportClause.elements.map((element) => element.name.text)
    }
    const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExportKeyword)
    return isExported ? declaredNames(statement) : []
  })
}

function isExportKeyword(modifier: ts.Modifier): boolean {
  return modifier.kind === ts.SyntaxKind.ExportKeyword
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((declaration) => declaration.name.getText())
  }
  const { name } = statement as { name?: ts.Node }
  return name ? [name.getText()] : []
}

/** `Data` says nothing at the end of a name; the others say nothing anywhere in one. */
function isEmptyName(name: string): boolean {
  const parts = name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []
  const isEmpty = (part: string): boolean => emptyWords.some((word) => word.toLowerCase() === part.toLowerCase())
  return parts.some(isEmpty) || (parts.length > 1 && parts.at(-1) === 'Data')
}
