import { McpError, Prompt, Resource } from 'phantom-mcp'
import { expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { createCatalogue, entriesOf } from './_catalogue.js'

const PNG = new Uint8Array([137, 80, 78, 71])

describeMatrix('prompts', {}, (setup, { version, sessions }) => {
  const since = (first: string, members: object): object => (version >= first ? members : {})
  const messagesOf = (result: Record<string, unknown>): unknown[] => result['messages'] as unknown[]

  test('are listed with title, icons and arguments', async () => {
    const router = createCatalogue()
    router.prompt(
      'suggest_questions',
      {
        title: 'Suggest questions',
        description: 'Review the study and suggest questions.',
        icons: [{ src: 'https://example.com/p.png' }],
        _meta: { 'example.com/order': 1 },
        arguments: {
          study_id: { title: 'Study', description: 'The study to review', required: true, complete: () => ['1'] },
          tone: { required: false },
        },
      },
      () => 'x',
    )
    router.prompt('bare', { arguments: {} }, () => 'x')
    expect(await entriesOf(await setup(router), 'prompts')).toEqual([
      {
        name: 'suggest_questions',
        description: 'Review the study and suggest questions.',
        ...since('2025-06-18', { title: 'Suggest questions', _meta: { 'example.com/order': 1 } }),
        ...since('2025-11-25', { icons: [{ src: 'https://example.com/p.png' }] }),
        arguments: [
          {
            name: 'study_id',
            description: 'The study to review',
            required: true,
            ...since('2025-06-18', { title: 'Study' }),
          },
          { name: 'tone', required: false },
        ],
      },
      { name: 'bare' },
    ])
  })

  test('do not run without what they require', async () => {
    const router = createCatalogue()
    const received: unknown[] = []
    const args = { study_id: { required: true }, owner: { required: true }, tone: {} }
    router.prompt('suggest', { arguments: args }, (params) => {
      received.push({ ...params })
      return 'x'
    })
    router.prompt('free', { arguments: { tone: {} } }, ({ tone }) => `tone ${tone ?? 'none'}`)
    const client = await setup(router)
    for (const [given, missing] of [
      [undefined, 'study_id'],
      [{}, 'study_id'],
      [{ owner: 'ada', tone: 'kind' }, 'study_id'],
      [{ study_id: '1' }, 'owner'],
    ] as const) {
      await expect(client.getPrompt('suggest', given)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(`'${missing}'`),
      })
    }
    expect(received).toEqual([])
    await client.getPrompt('suggest', { study_id: '', owner: 'ada', unknown: 'x' })
    await client.getPrompt('suggest', { study_id: '1', owner: 'ada', tone: '' })
    expect(received).toEqual([
      { study_id: '', owner: 'ada' },
      { study_id: '1', owner: 'ada', tone: '' },
    ])
    expect(messagesOf(await client.getPrompt('free'))).toEqual([
      { role: 'user', content: { type: 'text', text: 'tone none' } },
    ])
  })

  test('speak in both roles, with every kind of content', async () => {
    const router = createCatalogue()
    router.resource(
      'https://example.com/studies/:id/md',
      { name: 'study', title: 'Study', mimeType: 'text/markdown' },
      ({ id }) => (id === '9' ? null : `# Study ${id}`),
    )
    router.prompt('review', { arguments: { id: { required: true } } }, async ({ id }, session) =>
      Prompt.response([
        Prompt.assistant(Prompt.embeddedResource(await session.readResource('study', { id }))),
        Prompt.user('Wowzers'),
        Prompt.assistant(Prompt.image(PNG, 'image/png', { annotations: { priority: 1 } })),
        Prompt.user(Prompt.audio('AQI=', 'audio/wav')),
        Prompt.user(Prompt.text('Seriously', { annotations: { audience: ['assistant'] } })),
        Prompt.assistant(
          Prompt.resourceLink('https://example.com/studies/1/md', { name: 'study', title: 'Study' }, { title: 'One' }),
        ),
        Prompt.assistant(
          Prompt.embeddedResource({ uri: 'file:///a.bin', blob: 'AQI=', mimeType: 'application/octet-stream' }),
        ),
      ]),
    )
    const client = await setup(router)
    const messages = messagesOf(await client.getPrompt('review', { id: '1' }))
    const link = { type: 'resource_link', uri: 'https://example.com/studies/1/md', name: 'study', title: 'One' }
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: {
          type: 'resource',
          resource: { uri: 'https://example.com/studies/1/md', mimeType: 'text/markdown', text: '# Study 1' },
        },
      },
      { role: 'user', content: { type: 'text', text: 'Wowzers' } },
      {
        role: 'assistant',
        content: { type: 'image', data: 'iVBORw==', mimeType: 'image/png', annotations: { priority: 1 } },
      },
      {
        role: 'user',
        content:
          version >= '2025-03-26'
            ? { type: 'audio', data: 'AQI=', mimeType: 'audio/wav' }
            : { type: 'text', text: expect.stringContaining('audio/wav') },
      },
      { role: 'user', content: { type: 'text', text: 'Seriously', annotations: { audience: ['assistant'] } } },
      {
        role: 'assistant',
        content: version >= '2025-06-18' ? link : { type: 'text', text: 'https://example.com/studies/1/md' },
      },
      {
        role: 'assistant',
        content: {
          type: 'resource',
          resource: { uri: 'file:///a.bin', blob: 'AQI=', mimeType: 'application/octet-stream' },
        },
      },
    ])
    // What readResource throws is an answer, not a fault of the server.
    await expect(client.getPrompt('review', { id: '9' })).rejects.toMatchObject({
      code: sessions ? -32002 : -32602,
      data: { uri: 'https://example.com/studies/9/md' },
    })
  })

  test('pass the specification’s own result through', async () => {
    const router = createCatalogue()
    const raw = {
      description: 'Own.',
      messages: [
        { role: 'assistant' as const, content: { type: 'text' as const, text: 'raw' } },
        { role: 'user' as const, content: { type: 'image' as const, data: 'AQI=', mimeType: 'image/gif' } },
      ],
      _meta: { 'example.com/k': 1 },
    }
    router.prompt('raw', { description: 'Declared.' }, async () => raw)
    const { resultType: _type, _meta, ...result } = await (await setup(router)).getPrompt('raw')
    expect(result).toEqual({ description: raw.description, messages: raw.messages })
    expect(_meta).toMatchObject({ 'example.com/k': 1 })
  })

  test('answer with an error that their handler throws, and mask any other', async () => {
    const router = createCatalogue()
    router.prompt('gone', {}, () => {
      throw new McpError('INVALID_PARAMS', 'No such study', { data: { id: 1 } })
    })
    router.prompt('broken', {}, async () => {
      throw new Error('password=hunter2')
    })
    router.prompt('wrong', {}, (() => Resource.text('x')) as never)
    const client = await setup(router)
    await expect(client.getPrompt('gone')).rejects.toMatchObject({
      code: -32602,
      message: 'No such study',
      data: { id: 1 },
    })
    for (const name of ['broken', 'wrong']) {
      await expect(client.getPrompt(name)).rejects.toMatchObject({
        code: -32603,
        message: 'Internal error',
        data: undefined,
      })
      setup.expectErrors(1)
    }
  })
})
