import { createRouter, type Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'

type List = 'tools' | 'prompts' | 'resources' | 'resources/templates'
const LISTS: readonly (readonly [List, string])[] = [
  ['tools', 'tools'],
  ['prompts', 'prompts'],
  ['resources', 'resources'],
  ['resources/templates', 'resourceTemplates'],
]

function seven(pageSize?: number): Router {
  const router = createRouter({ name: 'pages', version: '1.0.0', ...(pageSize === undefined ? {} : { pageSize }) })
  for (let index = 1; index <= 7; index++) {
    router.tool(`p${index}`, {}, () => 'ok')
    router.prompt(`p${index}`, {}, () => 'ok')
    router.resource(`notes://${index}`, { name: `fixed${index}` }, () => 'ok')
    router.resource(`notes://${index}/:id`, { name: `p${index}` }, () => 'ok')
  }
  return router
}

describeMatrix('pages', {}, (setup, cell) => {
  verifies(['pages.walk', 'field.I1'], 'are walked by the cursor of the one before', async () => {
    for (const [size, lengths] of [
      [3, [3, 3, 1]],
      [1, [1, 1, 1, 1, 1, 1, 1]],
      [7, [7]],
      [8, [7]],
    ] as const) {
      const client = await setup(seven(size))
      for (const [list, member] of LISTS) {
        const pages: { name: string }[][] = []
        let cursor: string | undefined
        do {
          const page = await client.list(list, cursor)
          pages.push(page[member] as { name: string }[])
          expect(typeof page.nextCursor).toBe(pages.length < lengths.length ? 'string' : 'undefined')
          cursor = page.nextCursor
        } while (cursor !== undefined && pages.length < 10)
        expect(pages.map((page) => page.length)).toEqual(lengths)
        const prefix = list === 'resources' ? 'fixed' : 'p'
        expect(pages.flat().map(({ name }) => name)).toEqual([1, 2, 3, 4, 5, 6, 7].map((index) => `${prefix}${index}`))
      }
    }
  })

  verifies('field.I1', 'that nobody issued are refused, whether the list has one page or several', async () => {
    for (const size of [100, 3]) {
      const client = await setup(seven(size))
      for (const [list] of LISTS) {
        for (const cursor of ['bm90LW1pbmU', 'bm90LW1pbmU=', '', 'dG9vbHM6', 'dG9vbHM6cDg=', '!', '\u0000', 'p4']) {
          await expect(client.list(list, cursor), `${list} ${cursor}`).rejects.toMatchObject({ code: -32602 })
        }
        for (const cursor of [17, null, {}, [], true]) {
          await expect(client.request(`${list}/list`, { cursor }), `${list} ${String(cursor)}`).rejects.toMatchObject({
            code: -32602,
          })
          if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(200)
        }
      }
    }
  })

  verifies('field.I1', 'have a cursor that is none refused after the first page was asked for', async () => {
    const client = await setup(seven(3))
    for (const [list] of LISTS) {
      await client.list(list)
      for (const cursor of ['', null, 'null', 'undefined']) {
        await expect(client.request(`${list}/list`, { cursor }), `${list} ${cursor}`).rejects.toMatchObject({
          code: -32602,
        })
      }
      expect((await client.list(list)).nextCursor).toEqual(expect.any(String))
    }
  })

  verifies('field.I1', 'of one list are none of another', async () => {
    const client = await setup(seven(3))
    for (const [list] of LISTS) {
      const { nextCursor } = await client.list(list)
      for (const [other] of LISTS) {
        if (other === list) continue
        await expect(client.list(other, nextCursor), `${list} → ${other}`).rejects.toMatchObject({ code: -32602 })
      }
    }
  })

  verifies('pages.stable', 'go on where they were when something is added', async () => {
    const router = seven(3)
    const client = await setup(router)
    const { nextCursor } = await client.list('tools')
    router.tool('p8', {}, () => 'ok')
    const { tools } = await client.list('tools', nextCursor)
    expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(['p4', 'p5', 'p6'])
  })
})
