import { createRouter, createServer, Elicit, field, type Router } from 'phantom-mcp'
import { type ConnectOptions, connect } from 'phantom-mcp/testing'
import { describe, expect, test, vi } from 'vitest'

const SECRET = 'a secret of a test, which is long enough to be taken for a real one'
const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
const ADA = { elicit: () => ({ name: 'Ada' }) }

function asking(ran: string[], options: object = {}): Router {
  const router = createRouter({ name: 'r', version: '1', secretKeyBase: SECRET, ...options }) as Router
  router.tool('greet', { replay: true }, async (_params, session) => {
    ran.push('begun')
    const answer = await session.elicit(NAME)
    return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action
  })
  router.tool('wait', {}, async (_params, { signal }) => {
    ran.push('waiting')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ran.push('aborted')
    return 'gone'
  })
  return router
}

describe('a client of several nodes', () => {
  test('finds its handler on the node that it did not come back to', async () => {
    const ran: string[] = []
    const client = await connect(asking(ran), { nodes: 2, ...ADA })
    expect(await client.callTool('greet')).toMatchObject({ content: [{ text: 'Hello Ada' }] })
    expect(ran).toEqual(['begun'])
    await client.close()
  })

  test('has it run again where nothing waits', async () => {
    const ran: string[] = []
    const client = await connect(asking(ran), { nodes: 3, continuations: { mode: 'replay' }, ...ADA })
    expect(await client.callTool('greet')).toMatchObject({ content: [{ text: 'Hello Ada' }] })
    expect(ran).toEqual(['begun', 'begun'])
    await client.close()
  })

  test('ends them all, and what runs on them', async () => {
    const ran: string[] = []
    const client = await connect(asking(ran), { nodes: 2 })
    for (const _ of [1, 2]) void client.callTool('wait').catch(() => undefined)
    await vi.waitFor(() => expect(ran).toHaveLength(2))
    await client.close()
    await vi.waitFor(() => expect(ran).toHaveLength(4))
    expect(ran).toEqual(['waiting', 'waiting', 'aborted', 'aborted'])
  })
})

describe('connect with assigns', () => {
  const router = createRouter({
    name: 'r',
    version: '1',
    connect: (session, { headers }) => session.assign({ user: `header ${headers.get('x-user')}` }),
    principal: ({ assigns }) => assigns.user,
  })
  router.tool('who', {}, (_params, session) => `${session.assigns.user}, ${session.principal}`)

  test.each(['2025-11-25', '2026-07-28'] as const)(
    'has them in place of what connect would assign, %s',
    async (protocol) => {
      const client = await connect(router, { protocol, assigns: { user: 'ada' } })
      expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'ada, ada' }] })
      await client.close()
      const other = await connect(createServer(router), { protocol, assigns: { user: 'bob' } })
      expect(await other.callTool('who')).toMatchObject({ content: [{ text: 'bob, bob' }] })
      await other.close()
    },
  )

  test('asks connect without them', async () => {
    const client = await connect(router)
    expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'header null, header null' }] })
    await client.close()
  })

  test('asks principal for a name, which must be one', async () => {
    const nameless = connect(router, { assigns: { user: '' } })
    await expect(nameless).rejects.toThrow('principal must return a string that is not empty, or null')
  })
})

describe('connect refuses', () => {
  const plain = createRouter({ name: 'r', version: '1' })
  const refused = (options: ConnectOptions): Promise<unknown> => connect(plain, options)

  test('several nodes of a router without a secret', async () => {
    await expect(refused({ nodes: 2 })).rejects.toThrow(
      new TypeError(
        'connect: nodes: 2 needs createRouter({ secretKeyBase }), text of 64 bytes or more: what one node has sealed, another one opens',
      ),
    )
  })

  test('several nodes for a version with sessions', async () => {
    const told = 'connect: nodes is for 2026-07-28; a session of 2025-06-18 in memory stays with its server'
    await expect(refused({ nodes: 2, protocol: '2025-06-18' })).rejects.toThrow(new TypeError(told))
  })

  test.each([0, 1.5, '2'])('%s nodes', async (nodes) => {
    const told = `connect: nodes must be a whole number from 1 on, not ${nodes}`
    await expect(refused({ nodes: nodes as number })).rejects.toThrow(new TypeError(told))
  })

  test('what a server was given already', async () => {
    const told = 'connect: nodes and continuations are for a router; a server was given its own by createServer'
    for (const options of [{ nodes: 2 }, { nodes: 1 }, { continuations: { mode: 'replay' } } as const])
      await expect(connect(createServer(plain), options)).rejects.toThrow(new TypeError(told))
  })
})
