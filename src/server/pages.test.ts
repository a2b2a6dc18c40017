import { describe, expect, test } from 'vitest'
import { codecOf } from '../protocol/codecs.js'
import type { ProtocolVersion } from '../protocol/versions.js'
import { Access } from '../router/access.js'
import { createRouter, type Router } from '../router/router.js'
import type { CallSession } from './call-session.js'
import { Pages } from './pages.js'

interface Asked {
  readonly version?: ProtocolVersion
  readonly cursor?: unknown
  readonly allowed?: readonly string[]
}

function tools(names: readonly string[]): Router {
  const router = createRouter({ name: 'pages', version: '1.0.0' })
  for (const name of names) router.tool(name, { title: `Tool ${name}` }, () => 'ok')
  return router
}

function pagesOf(
  router: Router,
  size: number,
): { json: (asked?: Asked) => string; read: (asked?: Asked) => { names: string[]; next?: string } } {
  const pages = new Pages(router.catalogue, size)
  const json = ({ version = '2026-07-28', allowed, ...params }: Asked = {}): string => {
    const access = new Access()
    if (allowed !== undefined) access.allowTools(allowed)
    return pages.page('tools', { client: { codec: codecOf(version) }, access, params } as unknown as CallSession).json
  }
  return {
    json,
    read: (asked) => {
      const { tools: listed, nextCursor } = JSON.parse(json(asked)) as {
        tools: { name: string }[]
        nextCursor?: string
      }
      return { names: listed.map(({ name }) => name), ...(nextCursor === undefined ? {} : { next: nextCursor }) }
    },
  }
}

describe('pages', () => {
  test('follow each other to the end', () => {
    const { read } = pagesOf(tools(['a', 'b', 'c', 'd', 'e']), 2)
    const first = read()
    const second = read({ cursor: first.next })
    const third = read({ cursor: second.next })
    expect([first.names, second.names, third]).toEqual([['a', 'b'], ['c', 'd'], { names: ['e'] }])
  })

  test('are one where all fits', () => {
    expect(pagesOf(tools(['a', 'b']), 2).read()).toEqual({ names: ['a', 'b'] })
  })

  test('are made once for a version, and again when the catalogue has changed', () => {
    const router = tools(['a', 'b'])
    const { json } = pagesOf(router, 10)
    const kept = json()
    expect(json()).toBe(kept)
    expect(json({ version: '2025-11-25' })).toContain('"title"')
    expect(json({ version: '2024-11-05' })).not.toContain('"title"')
    router.tool('c', {}, () => 'ok')
    expect(json()).toContain('"c"')
    expect(json({ version: '2024-11-05' })).toContain('"c"')
  })

  test('show each caller what they may see', () => {
    const { read } = pagesOf(tools(['a', 'b', 'c', 'd']), 2)
    expect(read({ allowed: ['d', 'b'] })).toEqual({ names: ['b', 'd'] })
    expect(read({ allowed: [] })).toEqual({ names: [] })
    expect(read().names).toEqual(['a', 'b'])
    const { next } = read({ allowed: ['a', 'b', 'd'] })
    expect(read({ allowed: ['a', 'b', 'd'], cursor: next })).toEqual({ names: ['d'] })
    // A cursor does not tell what its caller may not see.
    expect(() => read({ allowed: ['a', 'b'], cursor: next })).toThrow(/cursor/)
  })

  test('survive more versions of a list than are kept', () => {
    const names = Array.from({ length: 70 }, (_, index) => `t${index}`)
    const { read } = pagesOf(tools(names), 100)
    for (let round = 0; round < 2; round++) {
      for (const name of names) expect(read({ allowed: [name] })).toEqual({ names: [name] })
    }
  })

  test('of a cursor whose entry is gone are none', () => {
    const router = tools(['a', 'b', 'c'])
    const { read } = pagesOf(router, 1)
    const { next } = read()
    router.remove('tool', 'b')
    expect(() => read({ cursor: next })).toThrow(/cursor/)
  })

  test.each([[''], ['!'], ['YQ=='], [null], [5], [{}], [[]]])('of the cursor %j are none, kept or not', (cursor) => {
    const { read } = pagesOf(tools(['a', 'b']), 1)
    expect(() => read({ cursor })).toThrow(/cursor/)
    read()
    expect(() => read({ cursor })).toThrow(/cursor/)
  })
})
