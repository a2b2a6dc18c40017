import { createRouter, field, Prompt, Resource, type Router, Tool, withCache } from 'phantom-mcp'
import { expect } from 'vitest'
import { checkOf } from '../_schema.js'
import { describeMatrix, verifies } from '../_setup.js'

// Everything that a server sends, against the specification's own schema of the version that it is sent in.

const ICONS = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' as const }]
const META = { 'example.com/k': { deep: [1] } }
const ANNOTATIONS = { audience: ['user' as const], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }
const DESCRIBED = { title: 'Title', description: 'Described.', icons: ICONS, _meta: META }
const BYTES = new Uint8Array([1, 2, 3])
const LINK = { name: 'linked', ...DESCRIBED, mimeType: 'text/plain', size: 3, annotations: ANNOTATIONS }
const PART = { uri: 'notes://part', mimeType: 'text/plain', text: 'part', _meta: META }

/** A server that sends every kind of thing that there is, with every member that it can have. */
function everything(): Router {
  const router = createRouter({
    name: 'everything',
    version: '1.0.0',
    title: 'Everything',
    description: 'Has everything.',
    websiteUrl: 'https://example.com',
    icons: ICONS,
    instructions: 'Take it all.',
    pageSize: 4,
  })
  const options = { annotations: ANNOTATIONS, _meta: META }
  const results: Readonly<Record<string, () => unknown>> = {
    text: () => 'text',
    nothing: () => undefined,
    object: () => ({ a: [1, null] }),
    list: () => [1, 'two'],
    number: () => 0,
    no: () => false,
    empty: () => null,
    date: () => ({ at: new Date(0) }),
    bare_date: () => new Date(0),
    built_text: () => Tool.text('t', options),
    image: () => Tool.image(BYTES, 'image/png', options),
    audio: () => Tool.audio(BYTES, 'audio/wav', options),
    embedded: () => Tool.embeddedResource(PART, options),
    embedded_blob: () => Tool.embeddedResource({ uri: 'notes://blob', blob: 'AQID' }, options),
    link: () => Tool.resourceLink('notes://linked', LINK),
    error: () => Tool.error('failed'),
    mixed: () => Tool.content([Tool.text('a'), Tool.image(BYTES, 'image/png')], { structured: { a: 1 }, _meta: META }),
  }
  for (const [name, give] of Object.entries(results)) {
    router.tool(name, { ...DESCRIBED, readOnly: true, openWorld: false }, give as () => string)
  }
  const input = {
    text: field.string({ required: true, header: 'Text' }),
    list: field.array(field.integer(), { default: [1] }),
  }
  router.tool('fields', { input, output: { total: field.number({ required: true }) } }, () => ({ total: 1 }))
  router.tool('list_output', { outputSchema: { type: 'array' } }, () => [])
  router.tool('told', {}, async (_params, session) => {
    await session.notifyProgress(1, 2, 'Halfway')
    await session.log.error({ a: 1 }, 'logger')
    await session.log.error('text')
    return 'told'
  })
  router.prompt(
    'all',
    {
      ...DESCRIBED,
      arguments: { a: { title: 'A', description: 'An argument.', required: true, complete: () => ['a'] }, b: {} },
    },
    () =>
      Prompt.response(
        [
          Prompt.user('text'),
          Prompt.user(Prompt.image(BYTES, 'image/png', options)),
          Prompt.user(Prompt.audio(BYTES, 'audio/wav', options)),
          Prompt.assistant(Prompt.embeddedResource(PART, options)),
          Prompt.assistant(Prompt.resourceLink('notes://linked', LINK)),
        ],
        { description: 'All of it.', _meta: META },
      ),
  )
  const resource = { ...DESCRIBED, mimeType: 'text/plain', annotations: ANNOTATIONS }
  router.resource('notes://plain', { name: 'plain', size: 5, ...resource }, () =>
    withCache([Resource.text('a', { _meta: META }), Resource.blob(BYTES)], { ttlMs: 5, scope: 'public' }),
  )
  router.resource(
    'notes://of/:id',
    { name: 'template', ...resource, complete: () => ({ values: ['1'], total: 2 }) },
    () => 'x',
  )
  return router
}

describeMatrix('the schema of the version', { transports: ['memory'] }, (setup, cell) => {
  const check = checkOf(cell.version)

  verifies('schema.version', 'has a place for all that is sent', async () => {
    const client = await setup(everything(), { logLevel: 'debug' })
    const problems: (string | undefined)[] = []
    const fits = (type: string, value: unknown): void => {
      problems.push(check(type, value))
    }
    if (cell.sessions) {
      fits('InitializeResult', client.initialized)
      fits('EmptyResult', await client.request('ping'))
    } else fits('DiscoverResult', await client.request('server/discover'))
    const names: string[] = []
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page++) {
      const listed = await client.list('tools', cursor)
      fits('ListToolsResult', listed)
      names.push(...(listed['tools'] as { name: string }[]).map(({ name }) => name))
      cursor = listed.nextCursor
    }
    expect(names).toHaveLength(20)
    for (const name of names) {
      fits('CallToolResult', await client.callTool(name, { text: 'x' }, { progressToken: name }))
    }
    fits('ListPromptsResult', await client.list('prompts'))
    fits('GetPromptResult', await client.getPrompt('all', { a: 'a' }))
    fits('ListResourcesResult', await client.list('resources'))
    fits('ListResourceTemplatesResult', await client.list('resources/templates'))
    fits('ReadResourceResult', await client.readResource('notes://plain'))
    fits('ReadResourceResult', await client.readResource('notes://of/1'))
    fits('CompleteResult', await client.complete({ prompt: 'all' }, { name: 'a', value: '' }))
    fits('CompleteResult', await client.complete({ resource: 'notes://of/{id}' }, { name: 'id', value: '' }))
    for (const message of client.notifications) {
      fits(
        message['method'] === 'notifications/progress' ? 'ProgressNotification' : 'LoggingMessageNotification',
        message,
      )
    }
    expect(client.notifications).toHaveLength(3)
    expect(problems.filter((problem) => problem !== undefined)).toEqual([])
    expect(problems.length).toBeGreaterThan(36)
  })

  verifies('schema.version', 'has a place for errors', async () => {
    const client = await setup(everything())
    const failing = [
      client.request('no/such'),
      client.callTool('none'),
      client.readResource('x://none'),
      client.list('tools', 'x'),
    ]
    await Promise.allSettled([...failing, client.getPrompt('all'), client.callTool('fields')])
    const errors = setup.wire.received.filter((message) => Object.hasOwn(message, 'error'))
    expect(errors.length).toBeGreaterThan(4)
    const type = cell.version >= '2025-11-25' ? 'JSONRPCErrorResponse' : 'JSONRPCError'
    expect(errors.map((message) => check(type, message)).filter((problem) => problem !== undefined)).toEqual([])
  })

  verifies('schema.version', 'is one that refuses', () => {
    expect(check('CallToolResult', { content: [{ type: 'text' }] })).toMatch(/CallToolResult/)
    expect(check('ListToolsResult', { tools: [{ name: 'x' }] })).toMatch(/inputSchema/)
  })
})
