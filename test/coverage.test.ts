import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { requirements } from './requirements.js'

// Every row of requirements.ts has a test, and every test that names a row names one that there is.

interface Coverage {
  /** Rows that are named, with the files that name them. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>
  /** Calls of `verifies` whose rows cannot be read from the source. */
  readonly unreadable: readonly string[]
}

function coverageOf(sources: Readonly<Record<string, string>>): Coverage {
  const named = new Map<string, Set<string>>()
  const unreadable: string[] = []
  for (const [path, text] of Object.entries(sources)) {
    const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true)
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'verifies') {
        const ids = idsOf(node.arguments[0])
        if (ids === undefined)
          unreadable.push(`${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
        for (const id of ids ?? []) named.set(id, (named.get(id) ?? new Set()).add(path))
      }
      ts.forEachChild(node, visit)
    }
    visit(tree)
  }
  return { named, unreadable }
}

function idsOf(argument: ts.Expression | undefined): readonly string[] | undefined {
  if (argument === undefined) return undefined
  if (ts.isStringLiteral(argument)) return [argument.text]
  if (!ts.isArrayLiteralExpression(argument) || argument.elements.length === 0) return undefined
  const ids = argument.elements.map((element) => (ts.isStringLiteral(element) ? element.text : undefined))
  return ids.every((id) => id !== undefined) ? ids : undefined
}

const folder = dirname(fileURLToPath(import.meta.url))
const sources = Object.fromEntries(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && path !== 'coverage.test.ts')
    .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
)

describe('requirements', () => {
  const { named, unreadable } = coverageOf(sources)
  const rows = requirements.map(({ id }) => id)

  test('are named once', () => {
    expect(rows.filter((id, index) => rows.indexOf(id) !== index)).toEqual([])
  })

  test('say where they are from, and what they ask for', () => {
    for (const { id, source, behaviour } of requirements) {
      expect(source, id).toMatch(/\S{3}/)
      expect(behaviour, id).toMatch(/^\S.*\.$/s)
    }
  })

  test('have a test each', () => {
    expect(rows.filter((id) => !named.has(id))).toEqual([])
  })

  test('are there for every test that names one', () => {
    expect([...named.keys()].filter((id) => !rows.includes(id))).toEqual([])
    expect(unreadable).toEqual([])
  })

  test('cover the field cases that are served so far', () => {
    const cases = [
      'A1',
      'A3',
      'B1',
      'B3',
      'C1',
      'C3',
      'D1',
      'E1',
      'E3',
      'F1',
      'G1',
      'I1',
      'J1',
      'J3',
      'J5',
      'K1',
      'L1',
      'L4',
      'M1',
      'P1',
    ]
    expect(cases.filter((name) => !rows.includes(`field.${name}`))).toEqual([])
  })
})

describe('the check bites', () => {
  test('on calls in any place, and on rows that cannot be read', () => {
    const { named, unreadable } = coverageOf({
      'a.test.ts': `// verifies('comment')\nif (x) verifies('one', 't', () => {})\nconst text = "verifies('text')"`,
      'b.test.ts': `verifies(['one', 'two'], 't', f)\nverifies(id, 't', f)\nverifies([], 't', f)\nverifies([id], 't', f)`,
    })
    expect([...named].map(([id, paths]) => [id, [...paths]])).toEqual([
      ['one', ['a.test.ts', 'b.test.ts']],
      ['two', ['b.test.ts']],
    ])
    expect(unreadable).toEqual(['b.test.ts:2', 'b.test.ts:3', 'b.test.ts:4'])
  })
})
