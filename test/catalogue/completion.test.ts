import { type Completer, createRouter } from 'phantom-mcp'
import { expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { capabilitiesOf, createCatalogue } from './_catalogue.js'

const OWNERS = { 'zed-co': ['atlas', 'apex', 'zoo'], acme: ['anvil'] } as const
const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1))

describeMatrix('completion (I3)', {}, (setup, { version }) => {
  test('of an argument depends on those that are filled in, when they are told', async () => {
    const router = createCatalogue()
    const complete: Completer = async (value, _session, context) => {
      await Promise.resolve()
      const repos = OWNERS[context['owner'] as keyof typeof OWNERS] ?? ['any']
      return repos.filter((name) => name.startsWith(value))
    }
    router.prompt(
      'review',
      {
        arguments: {
          owner: { complete: (value) => Object.keys(OWNERS).filter((name) => name.startsWith(value)) },
          repo: { complete },
        },
      },
      () => 'x',
    )
    const client = await setup(router)
    const values = async (value: string, context?: Record<string, string>): Promise<unknown> =>
      (await client.complete({ prompt: 'review' }, { name: 'repo', value }, context)).completion.values
    expect(await values('a', { owner: 'zed-co' })).toEqual(['atlas', 'apex'])
    expect(await values('a', { owner: 'acme', more: 'x' })).toEqual(['anvil'])
    expect(await values('a')).toEqual(['any'])
    expect(await values('a', {})).toEqual(['any'])
    const empty = await client.request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'repo', value: 'a' },
      context: {},
    })
    expect(empty['completion']).toEqual({ values: ['any'], total: 1, hasMore: false })
    await expect(client.complete({ prompt: 'none' }, { name: 'repo', value: 'a' })).rejects.toMatchObject({
      code: -32602,
    })
  })

  test('is cut after a hundred values, with what is known of the rest', async () => {
    const returns: Record<string, ReturnType<Completer>> = {
      99: numbers(99),
      100: numbers(100),
      101: numbers(101),
      250: numbers(250),
      page: { values: ['a'], total: 1_000_000 },
      more: { values: ['a'], hasMore: true },
      many: { values: numbers(150) },
      all: { values: numbers(3), total: 3, hasMore: false },
      later: Promise.resolve(['b']),
      none: [],
    }
    const router = createCatalogue()
    router.prompt('pick', { arguments: { id: { complete: (value) => returns[value] ?? [] } } }, () => 'x')
    const client = await setup(router)
    const complete = async (value: string): Promise<unknown> =>
      (await client.complete({ prompt: 'pick' }, { name: 'id', value })).completion
    expect(await complete('99')).toEqual({ values: numbers(99), total: 99, hasMore: false })
    expect(await complete('100')).toEqual({ values: numbers(100), total: 100, hasMore: false })
    expect(await complete('101')).toEqual({ values: numbers(100), total: 101, hasMore: true })
    expect(await complete('250')).toEqual({ values: numbers(100), total: 250, hasMore: true })
    expect(await complete('page')).toEqual({ values: ['a'], total: 1_000_000, hasMore: true })
    expect(await complete('more')).toEqual({ values: ['a'], hasMore: true })
    expect(await complete('many')).toEqual({ values: numbers(100), hasMore: true })
    expect(await complete('all')).toEqual({ values: ['1', '2', '3'], total: 3, hasMore: false })
    expect(await complete('later')).toEqual({ values: ['b'], total: 1, hasMore: false })
    expect(await complete('none')).toEqual({ values: [], total: 0, hasMore: false })
  })

  test('is one for all variables of a template, or one for each', async () => {
    const router = createCatalogue()
    const all: Completer = (value, session) => [`${(session.params['argument'] as { name: string }).name}:${value}`]
    router.resource('myapp:///studies/:study_id/cover{?size}', { name: 'cover', complete: all }, () => 'x')
    router.resource(
      'https://example.com/studies/:study_id/:lang',
      {
        name: 'study',
        complete: {
          study_id: (value) => [`${value}0`],
          lang: (_value, _session, context) => [`of ${context['study_id']}`],
        },
      },
      () => 'x',
    )
    router.resource('myapp:///plain/:id', { name: 'plain' }, () => 'x')
    const client = await setup(router)
    const valuesOf = (resource: string) => async (name: string, value: string, context?: Record<string, string>) =>
      (await client.complete({ resource }, { name, value }, context)).completion.values
    const cover = valuesOf('myapp:///studies/{study_id}/cover{?size}')
    expect(await cover('study_id', '4')).toEqual(['study_id:4'])
    expect(await cover('size', 'l')).toEqual(['size:l'])
    const study = valuesOf('https://example.com/studies/{study_id}/{lang}')
    expect(await study('study_id', '4')).toEqual(['40'])
    expect(await study('lang', 'e', { study_id: '40' })).toEqual(['of 40'])
    expect(await valuesOf('myapp:///plain/{id}')('id', 'x')).toEqual([])
    await expect(client.complete({ resource: 'myapp:///none' }, { name: 'id', value: '' })).rejects.toMatchObject({
      code: -32602,
    })
  })

  test('is declared where something can be completed', async () => {
    const router = createRouter({ name: 'declared', version: '1.0.0' })
    router.prompt('plain', { arguments: { id: {} } }, () => 'x')
    expect(await capabilitiesOf(await setup(router))).not.toHaveProperty('completions')
    router.resource('x:///:id', { name: 'one', complete: () => [] }, () => 'x')
    const capabilities = await capabilitiesOf(await setup(router))
    // The capability came with 2025-03-26; the method was there before.
    expect(Object.hasOwn(capabilities, 'completions')).toBe(version >= '2025-03-26')
  })
})
