import { createRouter, defineFor, field, McpError, Prompt, Resource, type Router, Tool } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { describeMatrix, HTTP } from '../_setup.js'
import { capabilitiesOf, entriesOf, namesOf, readText, textOf } from './_catalogue.js'

interface User {
  readonly id: string
  readonly plan: 'ultra' | 'basic' | 'none' | 'nothing'
}
const app = defineFor<{ user: User }>()

const ok = (): string => 'ok'
const whoami = app.tool(
  'whoami',
  {},
  (_params, session) => `${session.assigns.user.id} on ${session.assigns.user.plan}`,
)
const study = app.resource(
  'https://example.com/studies/:id/md',
  { name: 'study', complete: { id: (value) => [`${value}1`] } },
  ({ id }, session) => `study ${id} for ${session.assigns.user.id}`,
)
const suggest = app.prompt(
  'suggest',
  { arguments: { id: { complete: (value) => [`${value}2`] } } },
  (_params, session) => Prompt.response([Prompt.user(`for ${session.assigns.user.id}`)]),
)

/** A router that lets a caller see what their plan allows. */
function studies(userOf: (token: string | null) => User) {
  const router = createRouter({
    name: 'studies',
    version: '1.0.0',
    pageSize: 2,
    connect(session, request) {
      const user = userOf(request.headers.get('authorization'))
      if (user.plan === 'basic') {
        session
          .allowTools(['whoami', 'read', 'not there'])
          .allowPrompts(['suggest'])
          .allowResourceTemplates(['study', 'about'])
      }
      if (user.plan === 'none') session.allowTools([]).allowPrompts([]).allowResourceTemplates([])
      if (user.plan === 'nothing')
        session.allowTools(['not there']).allowPrompts(['read']).allowResourceTemplates(['whoami'])
      return session.assign({ user })
    },
    principal: (session) => session.assigns.user.id,
  })
  router.add(whoami, suggest, study)
  router.tool('force', { input: { name: field.string({ required: true }) } }, async ({ name }, session) => {
    await session.readResource(name, { id: '1' })
    return 'read'
  })
  router.tool('delete', {}, ok)
  router.tool(
    'read',
    { input: { name: field.string({ required: true }), id: field.string() } },
    async ({ name, id }, session) => {
      const params = id === undefined ? {} : { id }
      const target = router.resourceFor(session, name, params)
      if (target === undefined) return Tool.error('hidden')
      const contents = await session.readResource(name, params)
      return 'text' in contents ? contents.text : 'bytes'
    },
  )
  router.prompt('secret', { arguments: { id: { complete: () => ['x'] } } }, ok)
  router.resource('https://example.com/secrets/:id', { name: 'secret', complete: () => ['x'] }, () => 'a secret')
  router.resource('config://about', { name: 'about' }, () => 'about')
  router.resource('config://keys', { name: 'keys' }, () => 'keys')
  return router
}

const user = (plan: User['plan']): User => ({ id: `ada-${plan}`, plan })

describeMatrix('allow-lists', {}, (setup, { sessions, version }) => {
  const missing = { code: sessions ? -32002 : -32602 }

  test('leave everything there where there is none', async () => {
    const client = await setup(studies(() => user('ultra')))
    expect(await namesOf(client, 'tools')).toEqual(['whoami', 'force'])
    expect(await namesOf(client, 'prompts')).toEqual(['suggest', 'secret'])
    expect(await namesOf(client, 'resources')).toEqual(['about', 'keys'])
    expect(await namesOf(client, 'resources/templates')).toEqual(['study', 'secret'])
    expect(textOf(await client.callTool('whoami'))).toBe('ada-ultra on ultra')
    expect(textOf(await client.callTool('read', { name: 'secret', id: '1' }))).toBe('a secret')
    expect(await client.getPrompt('suggest')).toMatchObject({ messages: [{ content: { text: 'for ada-ultra' } }] })
    expect(await readText(client, 'https://example.com/studies/1/md')).toBe('study 1 for ada-ultra')
  })

  test('hide the others from lists, calls, prompts and reads', async () => {
    const client = await setup(studies(() => user('basic')))
    expect(await namesOf(client, 'tools')).toEqual(['whoami', 'read'])
    expect((await client.list('tools')).nextCursor).toBeUndefined()
    expect(await namesOf(client, 'prompts')).toEqual(['suggest'])
    expect(await namesOf(client, 'resources')).toEqual(['about'])
    expect(await namesOf(client, 'resources/templates')).toEqual(['study'])
    expect(textOf(await client.callTool('whoami'))).toBe('ada-basic on basic')
    // What is hidden reads like what is not there.
    const gone = await client.callTool('none').catch((error: Error) => error.message.replace('none', 'delete'))
    await expect(client.callTool('delete')).rejects.toMatchObject({ code: -32602, message: gone })
    await expect(client.getPrompt('secret')).rejects.toMatchObject({ code: -32602 })
    for (const uri of ['https://example.com/secrets/1', 'config://keys']) {
      await expect(client.readResource(uri)).rejects.toMatchObject({ ...missing, data: { uri } })
    }
    expect(await readText(client, 'https://example.com/studies/1/md')).toBe('study 1 for ada-basic')
    expect(await readText(client, 'config://about')).toBe('about')
  })

  test('hold for completion', async () => {
    const client = await setup(studies(() => user('basic')))
    const values = async (of: { prompt: string } | { resource: string }): Promise<unknown> =>
      (await client.complete(of, { name: 'id', value: '4' })).completion.values
    expect(await values({ prompt: 'suggest' })).toEqual(['42'])
    expect(await values({ resource: 'https://example.com/studies/{id}/md' })).toEqual(['41'])
    await expect(values({ prompt: 'secret' })).rejects.toMatchObject({ code: -32602 })
    await expect(values({ resource: 'https://example.com/secrets/{id}' })).rejects.toMatchObject({ code: -32602 })
  })

  test('hold for resourceFor and readResource in a handler', async () => {
    const client = await setup(studies(() => user('basic')))
    expect(textOf(await client.callTool('read', { name: 'study', id: '5' }))).toBe('study 5 for ada-basic')
    expect(textOf(await client.callTool('read', { name: 'about' }))).toBe('about')
    expect(await client.callTool('read', { name: 'secret', id: '5' })).toMatchObject({
      isError: true,
      content: [{ text: 'hidden' }],
    })
    expect(await client.callTool('read', { name: 'none' })).toMatchObject({
      isError: true,
      content: [{ text: 'hidden' }],
    })
  })

  test('hold for readResource alone', async () => {
    const router = createRouter({
      name: 'studies',
      version: '1.0.0',
      connect: (session) => session.allowResourceTemplates(['study']).assign({ user: user('basic') }),
      principal: (session) => session.assigns.user.id,
    })
    router.add(study)
    router.resource('config://keys', { name: 'keys' }, () => 'keys')
    router.tool('force', { input: { name: field.string({ required: true }) } }, async ({ name }, session) => {
      const contents = await session.readResource(name, name === 'study' ? { id: '1' } : {})
      return 'text' in contents ? contents.text : 'bytes'
    })
    const client = await setup(router)
    expect(textOf(await client.callTool('force', { name: 'study' }))).toBe('study 1 for ada-basic')
    await expect(client.callTool('force', { name: 'keys' })).rejects.toMatchObject({ code: -32602 })
    // The application itself is not bound by what its callers see.
    expect(router.resourceUri('keys')).toBe('config://keys')
  })

  test('that are empty, or name nothing that is there, hide all', async () => {
    for (const plan of ['none', 'nothing'] as const) {
      const client = await setup(studies(() => user(plan)))
      const capabilities = await capabilitiesOf(client)
      for (const name of ['tools', 'prompts', 'resources', 'completions']) {
        expect(Object.hasOwn(capabilities, name), `${plan} ${name}`).toBe(false)
      }
      await expect(client.list('tools')).rejects.toMatchObject({ code: -32601 })
      await expect(client.callTool('whoami')).rejects.toMatchObject({ code: -32601 })
      await expect(client.list('prompts')).rejects.toMatchObject({ code: -32601 })
      await expect(client.getPrompt('suggest')).rejects.toMatchObject({ code: -32601 })
      await expect(client.complete({ prompt: 'suggest' }, { name: 'id', value: '' })).rejects.toMatchObject({
        code: -32601,
      })
      expect(await entriesOf(client, 'resources')).toEqual([])
      expect(await entriesOf(client, 'resources/templates')).toEqual([])
      await expect(client.readResource('config://about')).rejects.toMatchObject(missing)
    }
  })

  test('decide what is declared', async () => {
    const client = await setup(studies(() => user('basic')))
    expect(await capabilitiesOf(client)).toMatchObject({
      tools: expect.anything(),
      prompts: expect.anything(),
      resources: expect.anything(),
      ...(version >= '2025-03-26' ? { completions: {} } : {}),
    })
  })

  test('refuse a cursor whose entry is hidden, and take what is added later only when they name it', async () => {
    let plan: User['plan'] = 'ultra'
    const router = studies(() => ({ id: 'ada', plan }))
    const { nextCursor } = await (await setup(router)).list('tools')
    plan = 'basic'
    const client = await setup.another()
    expect(await namesOf(client, 'tools')).toEqual(['whoami', 'read'])
    // It begins with `delete`.
    await expect(client.list('tools', nextCursor)).rejects.toMatchObject({ code: -32602 })
    router.remove('tool', 'read')
    router.tool('late', {}, ok)
    router.tool('read', {}, () => 'read again')
    expect(await namesOf(client, 'tools')).toEqual(['whoami', 'read'])
    await expect(client.callTool('late')).rejects.toMatchObject({ code: -32602 })
    expect(textOf(await client.callTool('read'))).toBe('read again')
  })

  test('of names are those of the outer router, also inside of a mounted one', async () => {
    const billing = createRouter<{ user: User }>({
      name: 'billing',
      version: '1.0.0',
      connect: (session) => session.assign({ user: user('ultra') }),
      principal: () => null,
    })
    billing.resource('billing:///invoices/:id', { name: 'invoice' }, ({ id }) => `invoice ${id}`)
    billing.resource('billing:///books/:id', { name: 'book' }, ({ id }) => `book ${id}`)
    billing.tool('read', { input: { name: field.string({ required: true }) } }, async ({ name }, session) => {
      const contents = await session.readResource(name, { id: '1' })
      return 'text' in contents ? contents.text : 'bytes'
    })
    billing.tool('find', { input: { name: field.string({ required: true }) } }, ({ name }, session) =>
      billing.resourceFor(session, name, { id: '1' }) === undefined ? 'hidden' : 'seen',
    )
    const router = createRouter({
      name: 'outer',
      version: '1.0.0',
      connect: (session) => session.allowResourceTemplates(['billing_invoice', 'book']).assign({ user: user('basic') }),
      principal: (session) => session.assigns.user.id,
    })
    router.resource('outer:///books/:id', { name: 'book' }, ({ id }) => `outer book ${id}`)
    router.mount('billing', billing)
    const client = await setup(router)
    expect(await namesOf(client, 'resources/templates')).toEqual(['book', 'billing_invoice'])
    await expect(client.readResource('billing:///books/1')).rejects.toMatchObject(missing)
    expect(await readText(client, 'billing:///invoices/1')).toBe('invoice 1')
    expect(textOf(await client.callTool('billing_read', { name: 'invoice' }))).toBe('invoice 1')
    // That the caller may see another `book`, of the outer router, opens nothing here.
    await expect(client.callTool('billing_read', { name: 'book' })).rejects.toMatchObject({ code: -32602 })
    expect(textOf(await client.callTool('billing_find', { name: 'invoice' }))).toBe('seen')
    expect(textOf(await client.callTool('billing_find', { name: 'book' }))).toBe('hidden')
  })

  test('are the application’s to honour in its own list of resources', async () => {
    const router: Router<{ user: User }> = createRouter({
      name: 'studies',
      version: '1.0.0',
      connect: (session) => session.allowResourceTemplates(['study']).assign({ user: user('basic') }),
      principal: (session) => session.assigns.user.id,
      listResources: (_cursor, session) =>
        Resource.list(
          ['study', 'secret'].flatMap((name) => {
            const target = router.resourceFor(session, name, { id: '1' })
            return target === undefined ? [] : [Resource.link(target.uri, target.template)]
          }),
        ),
    })
    router.add(study)
    router.resource('https://example.com/secrets/:id', { name: 'secret' }, () => 'a secret')
    expect(await entriesOf(await setup(router), 'resources')).toEqual([
      { uri: 'https://example.com/studies/1/md', name: 'study' },
    ])
  })
})

describeMatrix('callers on one server', { transports: HTTP }, (setup) => {
  test('see what is theirs, page by page, whoever asked before', async () => {
    const users: Record<string, User> = {
      'Bearer a': user('ultra'),
      'Bearer b': user('basic'),
      'Bearer c': user('nothing'),
    }
    const router = studies((token) => {
      const found = users[token ?? '']
      if (found === undefined) throw new McpError('INVALID_REQUEST', 'no such user')
      return found
    })
    const as = (token: string) => ({ headers: () => ({ authorization: `Bearer ${token}` }) })
    const a = await setup(router, as('a'))
    const b = await setup.another(as('b'))
    const c = await setup.another(as('c'))
    for (let round = 0; round < 2; round++) {
      expect(await namesOf(a, 'tools')).toEqual(['whoami', 'force'])
      expect(await namesOf(b, 'tools')).toEqual(['whoami', 'read'])
      await expect(c.list('tools')).rejects.toMatchObject({ code: -32601 })
      expect(await namesOf(a, 'resources/templates')).toEqual(['study', 'secret'])
      expect(await namesOf(b, 'resources/templates')).toEqual(['study'])
      expect(await namesOf(c, 'resources/templates')).toEqual([])
    }
    expect(textOf(await a.callTool('whoami'))).toBe('ada-ultra on ultra')
    expect(textOf(await b.callTool('whoami'))).toBe('ada-basic on basic')
    // A cursor of one who sees more names an entry that another one does not see.
    const { nextCursor } = await a.list('tools')
    expect(await namesOf(a, 'tools', nextCursor)).toEqual(['delete', 'read'])
    await expect(b.list('tools', nextCursor)).rejects.toMatchObject({ code: -32602 })
  })

  test('may see less from one request to the next', async () => {
    let plan: User['plan'] = 'ultra'
    const router = studies(() => ({ id: 'ada', plan }))
    const client = await setup(router)
    expect(textOf(await client.callTool('force', { name: 'secret' }))).toBe('read')
    plan = 'basic'
    await expect(client.callTool('force', { name: 'secret' })).rejects.toMatchObject({ code: -32602 })
    expect(await namesOf(client, 'tools')).toEqual(['whoami', 'read'])
    plan = 'ultra'
    expect(textOf(await client.callTool('force', { name: 'secret' }))).toBe('read')
  })
})

describe('mistakes about callers', () => {
  const create = createRouter as unknown as (options: object) => unknown
  const options = { name: 'callers', version: '1.0.0' }

  test('are connect without principal, and what is no function', () => {
    expect(() => create({ ...options, connect: (session: unknown) => session })).toThrow(TypeError)
    expect(() => create({ ...options, connect: (session: unknown) => session })).toThrow(/principal.*\(\) => null/)
    expect(() => create({ ...options, connect: 'ada', principal: () => null })).toThrow(/connect/)
    expect(() => create({ ...options, connect: (session: unknown) => session, principal: 'id' })).toThrow(/principal/)
  })
})
