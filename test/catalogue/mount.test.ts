import { createRouter, field, McpError, type Middleware, Tool } from 'phantom-mcp'
import { connect } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { createCatalogue, entriesOf, namesOf, readText, textOf } from './_catalogue.js'

const ok = (): string => 'ok'

/** A router of invoices, as a part of something larger. */
function billing(steps: string[] = [], middleware: readonly Middleware[] = []) {
  const router = createRouter({ name: 'billing', version: '3.0.0', pageSize: 1, instructions: 'Not told.', middleware })
  router.tool(
    'refund',
    { description: 'Refunds.', input: { id: field.string({ required: true }) } },
    async ({ id }, session) => {
      steps.push('refund')
      const invoice = await session.readResource('invoice', { id })
      return 'text' in invoice ? `refunded ${invoice.text}` : 'bytes'
    },
  )
  router.tool('link', {}, (_params, session) => {
    const target = router.resourceFor(session, 'invoice', { id: '1' })
    return target === undefined ? Tool.error('hidden') : Tool.text(target.uri)
  })
  router.prompt(
    'dun',
    { arguments: { id: { required: true, complete: (value) => [`${value}1`] } } },
    async ({ id }, session) => {
      steps.push('dun')
      const invoice = await session.readResource('invoice', { id })
      return `Pay ${'text' in invoice ? invoice.text : ''}`
    },
  )
  router.resource('billing:///invoices/:id', { name: 'invoice', title: 'Invoice' }, ({ id }) => {
    steps.push('invoice')
    return `invoice ${id}`
  })
  router.resource('billing:///terms', { name: 'terms' }, ok)
  return router
}

describeMatrix('a mounted router', {}, (setup, { version }) => {
  test('is offered under its prefix, with its own URIs', async () => {
    const router = createCatalogue()
    router.tool('refund', {}, () => 'outer')
    router.mount('billing', billing())
    const client = await setup(router)
    expect(await namesOf(client, 'tools')).toEqual(['refund', 'billing_refund', 'billing_link'])
    expect(await namesOf(client, 'prompts')).toEqual(['billing_dun'])
    expect(await entriesOf(client, 'resources')).toEqual([{ uri: 'billing:///terms', name: 'billing_terms' }])
    expect(await entriesOf(client, 'resources/templates')).toEqual([
      {
        uriTemplate: 'billing:///invoices/{id}',
        name: 'billing_invoice',
        ...(version >= '2025-06-18' ? { title: 'Invoice' } : {}),
      },
    ])
    expect(textOf(await client.callTool('refund'))).toBe('outer')
    expect(textOf(await client.callTool('billing_refund', { id: '7' }))).toBe('refunded invoice 7')
    expect(await client.getPrompt('billing_dun', { id: '7' })).toMatchObject({
      messages: [{ content: { text: 'Pay invoice 7' } }],
    })
    expect(await readText(client, 'billing:///invoices/8')).toBe('invoice 8')
    expect((await client.complete({ prompt: 'billing_dun' }, { name: 'id', value: '4' })).completion.values).toEqual([
      '41',
    ])
    expect(router.resourceUri('billing_invoice', { id: 9 })).toBe('billing:///invoices/9')
    await expect(client.callTool('link')).rejects.toMatchObject({ code: -32602 })
    await expect(client.getPrompt('dun', { id: '7' })).rejects.toMatchObject({ code: -32602 })
  })

  test('finds its own names in session.readResource, and the outer router its own', async () => {
    const router = createCatalogue()
    router.resource('outer:///invoice/:id', { name: 'invoice' }, ({ id }) => `outer ${id}`)
    const read = field.string({ required: true })
    router.tool('read', { input: { name: read } }, async ({ name }, session) => {
      const contents = await session.readResource(name, { id: '1' })
      return 'text' in contents ? contents.text : 'bytes'
    })
    router.mount('billing', billing())
    const client = await setup(router)
    expect(textOf(await client.callTool('billing_refund', { id: '1' }))).toBe('refunded invoice 1')
    expect(textOf(await client.callTool('billing_link'))).toBe('billing:///invoices/1')
    expect(textOf(await client.callTool('read', { name: 'invoice' }))).toBe('outer 1')
    expect(textOf(await client.callTool('read', { name: 'billing_invoice' }))).toBe('invoice 1')
    await expect(client.callTool('read', { name: 'terms' })).rejects.toMatchObject({ code: -32602 })
  })

  test('follows what it is given later', async () => {
    const router = createCatalogue()
    const inner = billing()
    router.mount('billing', inner)
    const client = await setup(router)
    await client.list('tools')
    inner.tool('pay', {}, () => 'paid')
    inner.remove('tool', 'link')
    inner.prompt('thank', {}, () => 'Thanks.')
    inner.resource('billing:///rates', { name: 'rates' }, () => 'rates')
    inner.remove('resource', 'terms')
    expect(await namesOf(client, 'tools')).toEqual(['billing_refund', 'billing_pay'])
    expect(await namesOf(client, 'prompts')).toEqual(['billing_dun', 'billing_thank'])
    expect(await namesOf(client, 'resources')).toEqual(['billing_rates'])
    expect(textOf(await client.callTool('billing_pay'))).toBe('paid')
    expect(await readText(client, 'billing:///rates')).toBe('rates')
    inner.replace(createCatalogue().tool('pay', { description: 'Newer.' }, () => 'paid twice'))
    expect(textOf(await client.callTool('billing_pay'))).toBe('paid twice')
    expect(await entriesOf(client, 'tools')).toMatchObject([
      { name: 'billing_refund' },
      { name: 'billing_pay', description: 'Newer.' },
    ])
    await expect(client.callTool('billing_link')).rejects.toMatchObject({ code: -32602 })
  })

  test('is changed where it is, not through the outer one', async () => {
    const router = createCatalogue()
    router.mount('billing', billing())
    const client = await setup(router)
    expect(router.remove('tool', 'billing_refund')).toBe(false)
    expect(() => router.replace(createCatalogue().tool('billing_refund', {}, ok))).toThrow(TypeError)
    expect(await namesOf(client, 'tools')).toEqual(['billing_refund', 'billing_link'])
  })

  test('keeps its place in the lists when it changes, so that pages go on', async () => {
    const router = createRouter({ name: 'outer', version: '1.0.0', pageSize: 1 })
    const inner = createRouter({ name: 'inner', version: '1.0.0' })
    router.tool('a', {}, ok)
    inner.tool('one', {}, ok)
    router.mount('in', inner)
    router.tool('b', {}, ok)
    const client = await setup(router)
    const { nextCursor } = await client.list('tools')
    expect(await namesOf(client, 'tools', nextCursor)).toEqual(['in_one'])
    inner.tool('two', {}, ok)
    const seen: unknown[] = []
    let cursor = nextCursor
    while (cursor !== undefined && seen.length < 9) {
      seen.push(...(await namesOf(client, 'tools', cursor)))
      cursor = (await client.list('tools', cursor)).nextCursor
    }
    // Wherever the new one goes, `b` was there all the time and must not be missed.
    expect(seen).toContain('b')
    expect(seen).toContain('in_two')
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('has its middleware around its handlers alone, inside of the outer one', async () => {
    const steps: string[] = []
    const named =
      (name: string): Middleware =>
      async (session, next) => {
        steps.push(`${name} ${session.call.method}`)
        return await next()
      }
    const router = createRouter({ name: 'outer', version: '1.0.0', middleware: [named('outer')] })
    router.tool('own', {}, () => {
      steps.push('own')
      return 'ok'
    })
    const inner = billing(steps, [named('inner')])
    inner.tool('guarded', { middleware: [named('tool')] }, () => {
      steps.push('guarded')
      return 'ok'
    })
    router.mount('billing', inner)
    inner.use(named('later'))
    const client = await setup(router)
    const during = async (run: () => Promise<unknown>): Promise<string[]> => {
      steps.length = 0
      await run()
      return [...steps]
    }
    const around = (method: string, ...rest: string[]): string[] => [
      `outer ${method}`,
      `inner ${method}`,
      `later ${method}`,
      ...rest,
    ]
    expect(await during(() => client.callTool('own'))).toEqual(['outer tools/call', 'own'])
    expect(await during(() => client.callTool('billing_refund', { id: '1' }))).toEqual(
      around('tools/call', 'refund', 'invoice'),
    )
    expect(await during(() => client.callTool('billing_guarded'))).toEqual(
      around('tools/call', 'tool tools/call', 'guarded'),
    )
    expect(await during(() => client.getPrompt('billing_dun', { id: '1' }))).toEqual(
      around('prompts/get', 'dun', 'invoice'),
    )
    expect(await during(() => client.readResource('billing:///invoices/1'))).toEqual(
      around('resources/read', 'invoice'),
    )
    expect(await during(() => client.list('tools'))).toEqual(['outer tools/list'])
    expect(await during(() => client.list('resources/templates'))).toEqual(['outer resources/templates/list'])
  })

  test('can refuse for its own part', async () => {
    const router = createCatalogue()
    router.tool('own', {}, ok)
    const closed: Middleware = () => {
      throw new McpError('INVALID_REQUEST', 'Billing is closed')
    }
    router.mount('billing', billing([], [closed]))
    const client = await setup(router)
    expect(textOf(await client.callTool('own'))).toBe('ok')
    for (const run of [
      () => client.callTool('billing_link'),
      () => client.getPrompt('billing_dun', { id: '1' }),
      () => client.readResource('billing:///terms'),
    ]) {
      await expect(run()).rejects.toMatchObject({ code: -32600, message: 'Billing is closed' })
    }
    expect(await namesOf(client, 'tools')).toEqual(['own', 'billing_refund', 'billing_link'])
  })

  test('can have mounted another one, and stand in two places', async () => {
    const steps: string[] = []
    const named =
      (name: string): Middleware =>
      (_session, next) => {
        steps.push(name)
        return next()
      }
    const inner = billing(steps, [named('inner')])
    const middle = createRouter({ name: 'middle', version: '1.0.0', middleware: [named('middle')] })
    const router = createRouter({ name: 'outer', version: '1.0.0', middleware: [named('outer')] })
    router.mount('office', middle)
    middle.mount('billing', inner)
    const client = await setup(router)
    expect(await namesOf(client, 'tools')).toEqual(['office_billing_refund', 'office_billing_link'])
    steps.length = 0
    expect(textOf(await client.callTool('office_billing_refund', { id: '3' }))).toBe('refunded invoice 3')
    expect(steps).toEqual(['outer', 'middle', 'inner', 'refund', 'invoice'])
    inner.tool('late', {}, () => 'late')
    expect(textOf(await client.callTool('office_billing_late'))).toBe('late')
    // Tools alone can stand in two places: a URI leads to one resource.
    const small = createCatalogue()
    small.tool('ping', {}, () => 'pong')
    router.mount('a', small)
    router.mount('b', small)
    expect(textOf(await client.callTool('a_ping'))).toBe('pong')
    expect(textOf(await client.callTool('b_ping'))).toBe('pong')
  })
})

describe('a router that cannot be mounted', () => {
  const thrown = (run: () => unknown): string => {
    try {
      run()
    } catch (error) {
      if (error instanceof TypeError) return error.message
      throw error
    }
    throw new Error('Nothing was thrown')
  }

  test('has a prefix that is no name', () => {
    for (const prefix of ['', 'two words', 'a/b', 5]) {
      expect(thrown(() => createCatalogue().mount(prefix as string, billing()))).toMatch(/prefix/)
    }
  })

  test('is itself, inside of itself, or none', async () => {
    const router = createCatalogue()
    expect(thrown(() => router.mount('self', router))).toContain('router.mount')
    for (const value of [undefined, {}, { catalogue: {} }])
      expect(thrown(() => router.mount('x', value as never))).toContain('router.mount')
    const [outer, inner] = [createCatalogue(), createCatalogue()]
    outer.tool('a', {}, ok)
    outer.mount('in', inner)
    expect(thrown(() => inner.mount('out', outer))).toContain('router.mount')
    const third = createCatalogue()
    inner.mount('third', third)
    expect(thrown(() => third.mount('out', outer))).toContain('router.mount')
    third.tool('late', {}, ok)
    expect(thrown(() => outer.tool('in_third_late', {}, ok))).toContain('already')
  })

  test('makes a name too long', () => {
    const inner = createCatalogue()
    inner.tool('x'.repeat(125), {}, ok)
    expect(thrown(() => createCatalogue().mount('billing', inner))).toMatch(/128/)
  })

  test('lists its own resources', () => {
    const inner = createRouter({ name: 'inner', version: '1.0.0', listResources: () => ({}) as never })
    expect(thrown(() => createCatalogue().mount('billing', inner))).toMatch(/listResources/)
  })

  test('has a name or a pattern that is taken; nothing of it is there then', async () => {
    const router = createCatalogue()
    router.prompt('billing_dun', {}, ok)
    expect(thrown(() => router.mount('billing', billing()))).toContain("'billing_dun'")
    router.tool('own', {}, ok)
    expect(await namesOf(await connect(router), 'tools')).toEqual(['own'])
    const other = createCatalogue()
    other.resource('billing:///invoices/{id}', { name: 'mine' }, ok)
    const message = thrown(() => other.mount('billing', billing()))
    expect(message).toContain("'mine'")
    expect(message).toContain("'billing_invoice'")
    const client = await connect(other)
    await expect(client.list('tools')).rejects.toMatchObject({ code: -32601 })
    expect(await namesOf(client, 'resources')).toEqual([])
    expect(await namesOf(client, 'resources/templates')).toEqual(['mine'])
  })

  test('may not take a name later either, and loses nothing by the attempt', async () => {
    const router = createCatalogue()
    router.tool('in_taken', {}, () => 'outer')
    const inner = createCatalogue()
    inner.tool('first', {}, ok)
    inner.tool('last', {}, ok)
    router.mount('in', inner)
    const message = thrown(() => inner.tool('taken', {}, () => 'inner'))
    expect(message).toContain("'in_taken'")
    // Neither of the two changed, and both go on.
    expect(inner.remove('tool', 'taken')).toBe(false)
    inner.tool('more', {}, ok)
    expect(await namesOf(await connect(inner), 'tools')).toEqual(['first', 'last', 'more'])
    const client = await connect(router)
    expect(await namesOf(client, 'tools')).toEqual(['in_taken', 'in_first', 'in_last', 'in_more'])
    expect(textOf(await client.callTool('in_taken'))).toBe('outer')
  })
})
