import { createRouter, type Router } from 'phantom-mcp'
import type { TestClient } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { type List, namesOf } from './_catalogue.js'

const LISTS = ['tools', 'prompts', 'resources', 'resources/templates'] as const
const KINDS = { tools: 'tool', prompts: 'prompt', resources: 'resource', 'resources/templates': 'resource' } as const

function addTo(router: Router, list: List, name: string): void {
  const ok = (): string => 'ok'
  if (list === 'tools') router.tool(name, {}, ok)
  else if (list === 'prompts') router.prompt(name, {}, ok)
  else if (list === 'resources') router.resource(`fixed:///${name}`, { name }, ok)
  else router.resource(`open:///${name}/{id}`, { name }, ok)
}

function paged(pageSize: number | undefined, names: readonly string[], list?: List): Router {
  const router = createRouter({ name: 'pages', version: '1.0.0', ...(pageSize === undefined ? {} : { pageSize }) })
  for (const each of list === undefined ? LISTS : [list]) {
    for (const name of names) addTo(router, each, each === 'resources' && list === undefined ? `fixed-${name}` : name)
  }
  return router
}

const cursorOf = async (client: TestClient, list: List, cursor?: string): Promise<string> => {
  const { nextCursor } = await client.list(list, cursor)
  if (nextCursor === undefined) throw new Error('There is no next page')
  return nextCursor
}

describeMatrix('pages', {}, (setup) => {
  test('have a hundred entries, or as many as the router says', async () => {
    const names = Array.from({ length: 205 }, (_, index) => `n${index + 1}`)
    for (const [pageSize, lengths] of [
      [undefined, [100, 100, 5]],
      [41, [41, 41, 41, 41, 41]],
    ] as const) {
      const client = await setup(paged(pageSize, names))
      for (const list of LISTS) {
        const seen: unknown[] = []
        const found: number[] = []
        let cursor: string | undefined
        do {
          const page = await client.list(list, cursor)
          const entries = await namesOf(client, list, cursor)
          seen.push(...entries)
          found.push(entries.length)
          cursor = page.nextCursor
        } while (cursor !== undefined && found.length < 10)
        expect(found, list).toEqual(lengths)
        expect(seen, list).toEqual(names.map((name) => (list === 'resources' ? `fixed-${name}` : name)))
      }
    }
  })

  test('go on where they were while other entries come and go', async () => {
    for (const list of LISTS) {
      const router = paged(2, ['a', 'b', 'c', 'd', 'e'], list)
      const client = await setup(router)
      const cursor = await cursorOf(client, list)
      expect(await namesOf(client, list, cursor)).toEqual(['c', 'd'])
      router.remove(KINDS[list], 'a')
      expect(await namesOf(client, list, cursor), list).toEqual(['c', 'd'])
      addTo(router, list, 'f')
      router.remove(KINDS[list], 'd')
      expect(await namesOf(client, list, cursor), list).toEqual(['c', 'e'])
      expect(await namesOf(client, list, await cursorOf(client, list, cursor)), list).toEqual(['f'])
      expect(await namesOf(client, list), list).toEqual(['b', 'c'])
    }
  })

  test('are refused once the entry that they begin with is gone, and are back with it', async () => {
    for (const list of LISTS) {
      const router = paged(2, ['a', 'b', 'c', 'd'], list)
      const client = await setup(router)
      const cursor = await cursorOf(client, list)
      router.remove(KINDS[list], 'c')
      await expect(client.list(list, cursor), list).rejects.toMatchObject({ code: -32602 })
      addTo(router, list, 'c')
      expect(await namesOf(client, list, cursor), list).toEqual(['c'])
    }
  })

  test('of one list, or of nobody, are none of another', async () => {
    const client = await setup(paged(2, ['a', 'b', 'c', 'd']))
    const cursors = await Promise.all(LISTS.map((list) => cursorOf(client, list)))
    for (const [index, list] of LISTS.entries()) {
      for (const [other, cursor] of cursors.entries()) {
        if (other === index) expect(await namesOf(client, list, cursor)).toHaveLength(2)
        else await expect(client.list(list, cursor), `${list} ${cursor}`).rejects.toMatchObject({ code: -32602 })
      }
      for (const cursor of ['bm90LW1pbmU', 'c', '', `${cursors[index]}x`, 17, null]) {
        await expect(client.request(`${list}/list`, { cursor }), `${list} ${cursor}`).rejects.toMatchObject({
          code: -32602,
        })
      }
    }
  })

  test('have one order, for every client', async () => {
    const names = ['zebra', 'Ant', 'ant', '10', '9', 'é', 'a.b', 'a-b', 'a_b']
    const client = await setup(paged(4, names, 'tools'))
    const other = await setup.another()
    for (const each of [client, other, client]) {
      const second = await cursorOf(each, 'tools')
      expect(await namesOf(each, 'tools')).toEqual(['zebra', 'Ant', 'ant', '10'])
      expect(await namesOf(each, 'tools', second)).toEqual(['9', 'é', 'a.b', 'a-b'])
      expect(await namesOf(each, 'tools', await cursorOf(each, 'tools', second))).toEqual(['a_b'])
    }
    // A cursor says nothing of who asked for it.
    expect(await cursorOf(client, 'tools')).toBe(await cursorOf(other, 'tools'))
  })

  test('keep the place of what is replaced', async () => {
    const router = paged(2, ['a', 'b', 'c', 'd'], 'tools')
    const client = await setup(router)
    const cursor = await cursorOf(client, 'tools')
    router.replace(createRouter({ name: 'x', version: '1' }).tool('c', { description: 'Newer.' }, () => 'new'))
    expect((await client.list('tools', cursor))['tools']).toEqual([
      { name: 'c', description: 'Newer.', inputSchema: { type: 'object', properties: {} } },
      { name: 'd', inputSchema: { type: 'object', properties: {} } },
    ])
    expect(await namesOf(client, 'tools')).toEqual(['a', 'b'])
  })
})

describe('pageSize', () => {
  test('must be a whole number above zero', () => {
    for (const pageSize of [0, -1, 1.5, Number.NaN, '10']) {
      const run = (): unknown => createRouter({ name: 'pages', version: '1.0.0', pageSize: pageSize as number })
      expect(run, String(pageSize)).toThrow(TypeError)
      expect(run).toThrow('pageSize')
    }
  })
})
