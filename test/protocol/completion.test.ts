import { createRouter, type Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'

const many = Array.from({ length: 250 }, (_, index) => `many${index}`)

function review(seen: unknown[] = []): Router {
  const router = createRouter({ name: 'completion', version: '1.0.0' })
  router.prompt(
    'review',
    {
      arguments: {
        owner: {
          complete: (value) => (value === 'many' ? many : ['acme', 'zed-co'].filter((name) => name.startsWith(value))),
        },
        repo: {
          complete: async (value, session, context) => {
            seen.push([value, session.call.method, { ...context }])
            return context['owner'] === 'zed-co' ? ['zed-apple', 'zed-axe'] : ['any']
          },
        },
        part: { complete: () => ({ values: ['a', 'b'], total: 40, hasMore: true }) },
        open: { complete: () => ({ values: ['a'] }) },
        plain: {},
      },
    },
    () => 'Review.',
  )
  router.resource(
    'studies://s/:id/:lang',
    { name: 'study', complete: { id: (value) => [`${value}1`, `${value}2`] } },
    () => 'x',
  )
  router.resource(
    'shop://items{?q,page}',
    { name: 'items', complete: (value, session) => [value, session.call.method] },
    () => 'x',
  )
  return router
}

describeMatrix('completion/complete', {}, (setup, cell) => {
  verifies('field.I3', 'sees what else is filled in', async () => {
    const seen: unknown[] = []
    const client = await setup(review(seen))
    const argument = { name: 'repo', value: 'a' }
    const values = async (params: object): Promise<unknown> =>
      (
        (
          await client.request('completion/complete', {
            ref: { type: 'ref/prompt', name: 'review' },
            argument,
            ...params,
          })
        )['completion'] as { values: unknown }
      ).values
    expect(await values({ context: { arguments: { owner: 'zed-co' } } })).toEqual(['zed-apple', 'zed-axe'])
    expect(await values({})).toEqual(['any'])
    expect(await values({ context: {} })).toEqual(['any'])
    expect(await values({ context: { arguments: {} } })).toEqual(['any'])
    const method = 'completion/complete'
    expect(seen).toEqual([
      ['a', method, { owner: 'zed-co' }],
      ['a', method, {}],
      ['a', method, {}],
      ['a', method, {}],
    ])
  })

  verifies('field.I3', 'gives a hundred values and tells of the rest', async () => {
    const client = await setup(review())
    const { completion } = await client.complete({ prompt: 'review' }, { name: 'owner', value: 'many' })
    expect(completion).toEqual({ values: many.slice(0, 100), total: 250, hasMore: true })
    const few = await client.complete({ prompt: 'review' }, { name: 'owner', value: 'a' })
    expect(few.completion).toEqual({ values: ['acme'], total: 1, hasMore: false })
    const part = await client.complete({ prompt: 'review' }, { name: 'part', value: '' })
    expect(part.completion).toEqual({ values: ['a', 'b'], total: 40, hasMore: true })
    const open = await client.complete({ prompt: 'review' }, { name: 'open', value: '' })
    expect(open.completion).toEqual({ values: ['a'], hasMore: false })
  })

  verifies('completion.references', 'knows prompts by name and templates by URI', async () => {
    const client = await setup(review())
    const study = await client.complete({ resource: 'studies://s/{id}/{lang}' }, { name: 'id', value: 'x' })
    expect(study.completion.values).toEqual(['x1', 'x2'])
    const items = await client.complete({ resource: 'shop://items{?q,page}' }, { name: 'page', value: '2' })
    expect(items.completion.values).toEqual(['2', 'completion/complete'])
    const none = await client.complete({ prompt: 'review' }, { name: 'plain', value: 'x' })
    expect(none.completion.values).toEqual([])
  })

  verifies(['completion.references', 'field.I3'], 'refuses references and arguments that are none', async () => {
    const client = await setup(review())
    const ref = { type: 'ref/prompt', name: 'review' }
    const argument = { name: 'owner', value: 'a' }
    const wrong: object[] = [
      { ref: { type: 'ref/prompt', name: 'none' }, argument },
      { ref: { type: 'ref/prompt' }, argument },
      { ref: { type: 'ref/resource', uri: 'x://none' }, argument },
      { ref: { type: 'ref/resource', name: 'study' }, argument },
      { ref: { type: 'ref/tool', name: 'review' }, argument },
      { ref: 'review', argument },
      { argument },
      { ref },
      { ref, argument: 'owner' },
      { ref, argument: { name: 'owner' } },
      { ref, argument: { value: 'a' } },
      { ref, argument: { name: 5, value: 'a' } },
      { ref, argument, context: [] },
    ]
    for (const params of wrong) {
      await expect(client.request('completion/complete', { ...params }), JSON.stringify(params)).rejects.toMatchObject({
        code: -32602,
      })
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(200)
    }
  })

  verifies('completion.unsupported', 'does not exist where nothing completes', async () => {
    const router = createRouter({ name: 'completion', version: '1.0.0' })
    router.prompt('review', { arguments: { owner: {} } }, () => 'Review.')
    const client = await setup(router)
    await expect(client.complete({ prompt: 'review' }, { name: 'owner', value: '' })).rejects.toMatchObject({
      code: -32601,
    })
  })

  verifies('errors.masked', 'masks a completer that fails or gives something else', async () => {
    const returns: unknown[] = [undefined, 'abc', [1], { values: 'x' }, {}, [null]]
    const router = createRouter({ name: 'completion', version: '1.0.0' })
    const complete = (value: string): string[] => {
      if (value === 'throw') throw new Error('secret')
      return returns[Number(value)] as string[]
    }
    router.prompt('review', { arguments: { owner: { complete } } }, () => 'Review.')
    const client = await setup(router)
    for (const value of ['throw', ...returns.keys()]) {
      const asked = client.complete({ prompt: 'review' }, { name: 'owner', value: String(value) })
      await expect(asked, String(value)).rejects.toMatchObject({
        code: -32603,
        message: 'Internal error',
        data: undefined,
      })
      setup.expectErrors(1)
    }
  })
})
