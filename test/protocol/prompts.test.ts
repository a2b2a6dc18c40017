import { createRouter, Prompt, type Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'

const create = (): Router => createRouter({ name: 'prompts', version: '1.0.0' })
const ICONS = [{ src: 'data:image/png;base64,iVBORwD/' }]

describeMatrix('prompts/list', {}, (setup, cell) => {
  verifies(['prompts.list', 'gates.prompt'], 'has the members that the version knows', async () => {
    const router = create()
    const args = {
      repo: { title: 'Repository', description: 'Which one.', required: true, complete: () => ['a'] },
      branch: {},
    }
    router.prompt(
      'review',
      { title: 'Review', description: 'Reviews.', icons: ICONS, _meta: { 'example.com/k': 1 }, arguments: args },
      () => 'x',
    )
    router.prompt('plain', {}, () => 'x')
    const { prompts } = await (await setup(router)).list('prompts')
    const titled = cell.version >= '2025-06-18'
    const review = {
      name: 'review',
      description: 'Reviews.',
      arguments: [
        { name: 'repo', description: 'Which one.', required: true, ...(titled ? { title: 'Repository' } : {}) },
        { name: 'branch' },
      ],
      ...(titled ? { title: 'Review', _meta: { 'example.com/k': 1 } } : {}),
      ...(cell.version >= '2025-11-25' ? { icons: ICONS } : {}),
    }
    expect(prompts).toEqual([review, { name: 'plain' }])
  })
})

describeMatrix('prompts/get', {}, (setup, cell) => {
  const get = async (handler: () => unknown, description?: string): Promise<Record<string, unknown>> => {
    const router = create()
    router.prompt('give', description === undefined ? {} : { description }, handler as () => string)
    const { resultType: _type, _meta: _own, ...result } = await (await setup(router)).getPrompt('give')
    return result
  }

  verifies('prompts.get', 'runs the handler with its arguments', async () => {
    const router = create()
    const args = { repo: { required: true }, branch: {} }
    router.prompt('review', { description: 'Reviews.', arguments: args }, (params, session) =>
      Prompt.response([
        Prompt.user(`${params.repo} ${params.branch ?? 'main'}`),
        Prompt.assistant(Prompt.text(`${session.call.method} ${session.call.name}`)),
      ]),
    )
    const result = await (await setup(router)).getPrompt('review', { repo: 'r', other: 'ignored' })
    const messages = [
      { role: 'user', content: { type: 'text', text: 'r main' } },
      { role: 'assistant', content: { type: 'text', text: 'prompts/get review' } },
    ]
    const modern = {
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'prompts', version: '1.0.0' } },
    }
    expect(result).toEqual({ description: 'Reviews.', messages, ...(cell.sessions ? {} : modern) })
  })

  verifies('prompts.bad-arguments', 'refuses unknown names, and arguments that are missing or no text', async () => {
    let calls = 0
    const router = create()
    router.prompt('review', { arguments: { repo: { required: true }, branch: {} } }, () => String(++calls))
    const client = await setup(router)
    const wrong: unknown[] = [
      { name: 'none', arguments: { repo: 'r' } },
      { arguments: { repo: 'r' } },
      { name: 5, arguments: { repo: 'r' } },
      { name: 'review' },
      { name: 'review', arguments: {} },
      { name: 'review', arguments: { branch: 'b' } },
      { name: 'review', arguments: { repo: 5 } },
      { name: 'review', arguments: { repo: null } },
      { name: 'review', arguments: { repo: 'r', branch: {} } },
      { name: 'review', arguments: null },
      { name: 'review', arguments: ['r'] },
    ]
    for (const params of wrong) {
      await expect(
        client.request('prompts/get', params as Record<string, unknown>),
        JSON.stringify(params),
      ).rejects.toMatchObject({ code: -32602 })
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(200)
    }
    expect(calls).toBe(0)
    expect(await client.getPrompt('review', { repo: '' })).toMatchObject({ messages: [{ content: { text: '1' } }] })
  })

  verifies('prompts.results', 'takes text, builders and the specification’s own form', async () => {
    const user = (text: string): object => ({ role: 'user', content: { type: 'text', text } })
    expect(await get(() => 'Say hi.', 'Greets.')).toEqual({ description: 'Greets.', messages: [user('Say hi.')] })
    expect(await get(() => ({ messages: [user('raw')] }))).toEqual({ messages: [user('raw')] })
    expect(await get(() => Prompt.response([Prompt.user('a')], { description: 'Own.' }), 'Other.')).toEqual({
      description: 'Own.',
      messages: [user('a')],
    })
    expect(await get(() => Prompt.response([]))).toEqual({ messages: [] })
  })

  verifies(
    ['prompts.results', 'gates.content', 'gates.audio', 'gates.resource-link'],
    'has the content that the version knows',
    async () => {
      const target = { name: 'study', title: 'Study' }
      const resource = { uri: 'studies://1', mimeType: 'text/plain', text: 'note', _meta: { 'example.com/k': 1 } }
      const { _meta: _left, ...bare } = resource
      const { messages } = await get(() =>
        Prompt.response([
          Prompt.user(Prompt.image(new Uint8Array([1, 2]), 'image/png')),
          Prompt.user(Prompt.audio(new Uint8Array([1, 2]), 'audio/wav')),
          Prompt.assistant(Prompt.embeddedResource(resource)),
          Prompt.assistant(Prompt.resourceLink('studies://1', target)),
        ]),
      )
      const [image, audio, embedded, link] = (messages as { content: unknown }[]).map(({ content }) => content)
      const linked = cell.version >= '2025-06-18'
      expect(image).toEqual({ type: 'image', data: 'AQI=', mimeType: 'image/png' })
      if (cell.version === '2024-11-05')
        expect(audio).toEqual({ type: 'text', text: expect.stringMatching(/audio\/wav/) })
      else expect(audio).toEqual({ type: 'audio', data: 'AQI=', mimeType: 'audio/wav' })
      expect(embedded).toEqual({ type: 'resource', resource: linked ? resource : bare })
      expect(link).toEqual(
        linked
          ? { type: 'resource_link', uri: 'studies://1', name: 'study', title: 'Study' }
          : { type: 'text', text: 'studies://1' },
      )
    },
  )

  verifies('errors.masked', 'of another kind are the server’s fault', async () => {
    for (const value of [undefined, null, 5, {}, { messages: 'x' }]) {
      await expect(get(() => value)).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
      setup.expectErrors(1)
    }
  })
})
