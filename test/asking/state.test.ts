import {
  type Connecting,
  type ConnectRequest,
  createServer,
  Elicit,
  field,
  memoryBackplane,
  type Router,
  type Server,
  type ServerOptions,
} from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { serve } from 'phantom-mcp/node'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { afterEach, expect } from 'vitest'
import { describeMatrix, HTTP, STATELESS_VERSIONS, verifies } from '../_setup.js'
import { type Asked, accept, askingRouter, SECRET, textOf } from './_asking.js'

const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
const AGE = Elicit.form({ message: 'Your age?', fields: { age: field.integer({ required: true }) } })
const ADA = accept({ q1: { name: 'Ada' } })
const CLIENT = { capabilities: { elicitation: {} } }
const NEW_SECRET = 'another secret of a test, which is long enough to be taken for a real one too'

/** Tools that tell what they came to. */
function router(seen: string[] = [], options: object = {}): Router {
  const made = askingRouter(options)
  const input = { note: field.string() }
  const ask = async (session: {
    elicit: Parameters<Parameters<Router['prompt']>[2]>[1]['elicit']
  }): Promise<string> => {
    const answer = await session.elicit(NAME)
    const told = answer.action === 'accept' ? answer.content.name : answer.action
    seen.push(told)
    return told
  }
  for (const name of ['ask', 'ask2']) made.tool(name, { input, replay: true }, (_params, session) => ask(session))
  made.tool('careful', { input }, (_params, session) => ask(session))
  made.prompt('ask', {}, (_params, session) => ask(session))
  const greet = made.step(
    'greet',
    (_state: { note: string }) => NAME,
    (answer, { note }) => {
      const told = `${answer.action === 'accept' ? answer.content.name : answer.action} ${note}`
      seen.push(told)
      return told
    },
  )
  made.tool('step', { input }, ({ note = 'none' }, session) => session.elicit(greet, { state: { note } }))
  return made
}

type Params = Readonly<Record<string, unknown>>

async function begin(client: TestClient, params: Params): Promise<Asked> {
  const asked = await client.request('tools/call', params)
  expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
  return asked as unknown as Asked
}

const refused = (reason: string): object => ({ code: -32602, data: { reason } })
const onServer = async (server: Server): Promise<TestClient> => await connect(server, CLIENT)
const serverOf = (made: Router, options: ServerOptions = {}): Server => {
  const server = createServer(made, { onError: (error) => errors.push(error), ...options })
  servers.push(server)
  return server
}
const servers: Server[] = []
const errors: unknown[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ drainMs: 0 })))
  expect(errors.splice(0)).toEqual([])
})

/** A clock that a test sets. */
function clockOf(): { now: number; readonly clock: () => number } {
  const time = { now: Date.now(), clock: () => time.now }
  return time
}

describeMatrix('a state that comes back', { versions: STATELESS_VERSIONS }, (setup, cell) => {
  verifies(['state.foreign', 'field.L1'], 'is refused when it was changed, or is none', async () => {
    const seen: string[] = []
    const client = await setup(router(seen), CLIENT)
    for (const name of ['ask', 'step']) {
      const { requestState } = await begin(client, { name })
      const [first = ''] = requestState
      const changed = [
        `${requestState}-TAMPERED`,
        requestState.slice(0, requestState.length / 2),
        (first === 'A' ? 'B' : 'A') + requestState.slice(1),
        '',
        ' ',
        'x'.repeat(20_000),
        5,
        null,
        { requestState },
        [requestState],
      ]
      for (const wrong of changed) {
        const again = client.request('tools/call', { name, requestState: wrong, inputResponses: ADA })
        await expect(again).rejects.toMatchObject(refused('malformed'))
      }
    }
    expect(seen).toEqual([])
  })

  verifies(
    ['state.bound', 'field.L1'],
    'is refused for another target, another method and other arguments',
    async () => {
      const seen: string[] = []
      const client = await setup(router(seen), CLIENT)
      for (const name of ['ask', 'step']) {
        const { requestState } = await begin(client, { name, arguments: { note: 'a' } })
        const back = { requestState, inputResponses: ADA }
        const elsewhere: [string, Params][] = [
          ['tools/call', { name: 'ask2', arguments: { note: 'a' } }],
          ['tools/call', { name, arguments: { note: 'b' } }],
          ['tools/call', { name, arguments: {} }],
          ['tools/call', { name }],
          ['prompts/get', { name: 'ask', arguments: { note: 'a' } }],
        ]
        for (const [method, params] of elsewhere)
          await expect(client.request(method, { ...params, ...back })).rejects.toMatchObject(refused('bound'))
        expect(seen).toEqual([])
      }
    },
  )

  verifies('state.bound', 'is good for the same arguments in another order', async () => {
    const made = askingRouter()
    made.tool('two', { replay: true, input: { a: field.string(), b: field.map() } }, async ({ a }, session) => {
      const { action } = await session.elicit(NAME)
      return `${a} ${action}`
    })
    const client = await setup(made, CLIENT)
    const { requestState } = await begin(client, { name: 'two', arguments: { a: 'x', b: { c: 1, d: [2] } } })
    const args = { b: { d: [2], c: 1 }, a: 'x' }
    const result = await client.request('tools/call', {
      name: 'two',
      arguments: args,
      requestState,
      inputResponses: ADA,
    })
    expect(textOf(result as never)).toBe('x accept')
  })

  verifies('state.used', 'gives the same result twice, and runs nothing twice', async () => {
    const seen: string[] = []
    const client = await setup(router(seen), CLIENT)
    for (const [name, key] of [['ask', 'q1'] as const, ['step', 'greet'] as const]) {
      const { requestState } = await begin(client, { name })
      const back = { name, requestState, inputResponses: accept({ [key]: { name: 'Ada' } }) }
      const other = { ...back, inputResponses: accept({ [key]: { name: 'Bob' } }) }
      const first = await client.request('tools/call', back)
      expect(textOf(first as never)).toMatch(/^Ada/)
      expect(textOf((await client.request('tools/call', other)) as never)).toBe(textOf(first as never))
      const both = await begin(client, { name })
      const racing = [back, other].map((params) =>
        client.request('tools/call', { ...params, requestState: both.requestState }),
      )
      const [one, two] = await Promise.all(racing)
      expect(textOf(one as never)).toBe(textOf(two as never))
    }
    expect(seen).toHaveLength(4)
  })

  verifies('state.used', 'is refused a minute later', async () => {
    const time = clockOf()
    const seen: string[] = []
    const client = await setup(router(seen), { ...CLIENT, server: { clock: time.clock } })
    for (const [name, key] of [['ask', 'q1'] as const, ['step', 'greet'] as const]) {
      const { requestState } = await begin(client, { name })
      const back = { name, requestState, inputResponses: accept({ [key]: { name: 'Ada' } }) }
      await client.request('tools/call', back)
      time.now += 59_000
      expect(textOf((await client.request('tools/call', back)) as never)).toMatch(/^Ada/)
      time.now += 2_000
      await expect(client.request('tools/call', back)).rejects.toMatchObject(refused('used'))
    }
    expect(seen).toHaveLength(2)
  })

  verifies(['state.expired', 'field.L1'], 'is refused after its time, however late', async () => {
    const time = clockOf()
    const seen: string[] = []
    const client = await setup(router(seen), { ...CLIENT, server: { clock: time.clock, requestStateTtlMs: 1_000 } })
    const step = await begin(client, { name: 'step' })
    time.now += 1_000
    const late = client.request('tools/call', {
      name: 'step',
      ...step,
      inputResponses: accept({ greet: { name: 'Ada' } }),
    })
    await expect(late).rejects.toMatchObject(refused('expired'))
    expect(seen).toEqual([])
  })

  for (const mode of ['park', 'replay'] as const) {
    verifies('state.expired', `is not decided again once it was, ${mode}`, async () => {
      const time = clockOf()
      const seen: string[] = []
      const client = await setup(router(seen), { ...CLIENT, server: { clock: time.clock, continuations: { mode } } })
      const { requestState } = await begin(client, { name: 'ask' })
      const back = { name: 'ask', requestState, inputResponses: ADA }
      await client.request('tools/call', back)
      for (const ms of [301_000, 40_000, 60_000, 3_600_000, 90_000_000]) {
        time.now += ms
        await expect(client.request('tools/call', back)).rejects.toMatchObject(refused('expired'))
      }
      expect(seen).toEqual(['Ada'])
    })
  }

  verifies('state.expired', 'times out once where nothing waits, and takes no answer after that', async () => {
    const time = clockOf()
    const seen: string[] = []
    const server = { clock: time.clock, continuations: { mode: 'replay' } } as const
    const client = await setup(router(seen), { ...CLIENT, server })
    const { requestState } = await begin(client, { name: 'ask' })
    const back = { name: 'ask', requestState, inputResponses: ADA }
    time.now += 300_000
    for (const ms of [0, 10_000, 10_000, 60_000, 3_600_000]) {
      time.now += ms
      await expect(client.request('tools/call', back)).rejects.toMatchObject(refused('expired'))
    }
    await expect.poll(() => seen).toEqual(['timeout'])
  })

  if (!HTTP.includes(cell.transport)) return
  verifies(
    ['state.bound', 'field.L1'],
    'is refused for another user, and good for the other token of the same',
    async () => {
      const seen: string[] = []
      const made = router(seen, {
        connect: (session: Connecting, request: ConnectRequest) =>
          session.assign({ user: request.headers.get('x-user') ?? 'nobody' }),
        principal: ({ assigns }: { assigns: { user: string } }) => assigns.user,
      })
      const as = (user: string, token = '1') => ({ ...CLIENT, headers: () => ({ 'x-user': user, 'x-token': token }) })
      const ana = await setup(made, as('ana'))
      const [bo, nobody, again] = [
        await setup.another(as('bo')),
        await setup.another(CLIENT),
        await setup.another(as('ana', '2')),
      ]
      for (const [name, key] of [['ask', 'q1'] as const, ['step', 'greet'] as const]) {
        const { requestState } = await begin(ana, { name })
        const back = { name, requestState, inputResponses: accept({ [key]: { name: 'Ada' } }) }
        for (const other of [bo, nobody])
          await expect(other.request('tools/call', back)).rejects.toMatchObject(refused('bound'))
        expect(textOf((await again.request('tools/call', back)) as never)).toMatch(/^Ada/)
      }
      expect(seen).toHaveLength(2)
    },
  )
})

verifies('state.elsewhere', 'a server with the secret goes on where it may, and else says what was lost', async () => {
  const [here, there]: [string[], string[]] = [[], []]
  const [first, second] = [serverOf(router(here)), serverOf(router(there))]
  const [client, other] = [await onServer(first), await onServer(second)]
  const back = async (name: string, key = 'q1'): Promise<Params> => {
    const { requestState } = await begin(client, { name })
    return { name, requestState, inputResponses: accept({ [key]: { name: 'Ada' } }) }
  }
  expect(textOf((await other.request('tools/call', await back('ask'))) as never)).toBe('Ada')
  expect(textOf((await other.request('tools/call', await back('step', 'greet'))) as never)).toBe('Ada none')
  const lost = other.request('tools/call', await back('careful'))
  await expect(lost).rejects.toMatchObject(refused('node_lost'))
  expect([here, there]).toEqual([[], ['Ada', 'Ada none']])
})

verifies('state.foreign', 'a server with another secret, or another salt, refuses it', async () => {
  const client = await onServer(serverOf(router()))
  const { requestState } = await begin(client, { name: 'ask' })
  for (const options of [{ secretKeyBase: NEW_SECRET }, { requestStateSalt: 'another' }]) {
    const other = await onServer(serverOf(router([], options)))
    const again = other.request('tools/call', { name: 'ask', requestState, inputResponses: ADA })
    await expect(again).rejects.toMatchObject(refused('malformed'))
  }
})

verifies('state.keys', 'the newest secret seals, and those before it still open', async () => {
  const [old, both, fresh] = await Promise.all(
    [SECRET, () => [NEW_SECRET, SECRET], NEW_SECRET].map((secretKeyBase) =>
      onServer(serverOf(router([], { secretKeyBase }))),
    ),
  )
  const ask = async (at: TestClient | undefined): Promise<Params> => {
    const { requestState } = await begin(at as TestClient, { name: 'ask' })
    return { name: 'ask', requestState, inputResponses: ADA }
  }
  const [before, during] = [await ask(old), await ask(both)]
  expect(textOf((await both?.request('tools/call', before)) as never)).toBe('Ada')
  expect(textOf((await fresh?.request('tools/call', during)) as never)).toBe('Ada')
  await expect(fresh?.request('tools/call', before)).rejects.toMatchObject(refused('malformed'))
  await expect(old?.request('tools/call', during)).rejects.toMatchObject(refused('malformed'))
})

verifies('state.size', 'what is too long to travel is kept in the store, and goes when its time is up', async () => {
  const time = clockOf()
  const backplane = memoryBackplane({ clock: time.clock })
  const made = askingRouter()
  made.tool('long', { replay: true }, async (_params, session) => {
    const name = await session.elicit(NAME)
    const age = await session.elicit(AGE)
    return name.action === 'accept' && age.action === 'accept' ? `${name.content.name.length} ${age.content.age}` : ''
  })
  const options = { backplane, clock: time.clock }
  const [client, other] = [await onServer(serverOf(made, options)), await onServer(serverOf(made, options))]
  const alone = await onServer(serverOf(made, { clock: time.clock }))
  const asked = await begin(client, { name: 'long' })
  const { requestState } = await begin(client, {
    name: 'long',
    requestState: asked.requestState,
    inputResponses: accept({ q1: { name: 'é'.repeat(20_000) } }),
  })
  expect(requestState.length).toBeLessThanOrEqual(16_384)
  const back = { name: 'long', requestState, inputResponses: accept({ q2: { age: 36 } }) }
  await expect(alone.request('tools/call', back)).rejects.toMatchObject(refused('expired'))
  expect(textOf((await other.request('tools/call', back)) as never)).toBe('20000 36')
  const keys = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const key of backplane.store.list('round-state/')) found.push(key)
    return found
  }
  expect(await keys()).toHaveLength(1)
  time.now += 330_000
  expect(await keys()).toEqual([])
})

verifies('state.secret', 'nodes that share a backplane, and a bind beyond loopback, need one', async () => {
  const made = router([], { secretKeyBase: undefined })
  const { local: _local, ...shared } = memoryBackplane()
  expect(() => createServer(made, { backplane: shared })).toThrow(/secretKeyBase/)
  await expect(serve(made, { host: '0.0.0.0', hosts: '*', port: 0 })).rejects.toThrow(/secretKeyBase/)
})

verifies('state.secret', 'a handler that others bind makes none', async () => {
  const made = router([], { secretKeyBase: undefined })
  const server = serverOf(made)
  const handle = fetchHandler(server)
  const call = async (name: string, requestState?: unknown): Promise<unknown> => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    }
    const headers = {
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta, requestState } }
    const answer = await handle(
      new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) }),
    )
    return ((await answer.json()) as { error?: unknown }).error
  }
  // Nothing that a client sends is worth a report.
  expect(await call('ask', 'anything')).toMatchObject(refused('malformed'))
  expect(errors).toEqual([])
  for (const name of ['ask', 'step']) {
    expect(await call(name)).toEqual({ code: -32603, message: 'Internal error' })
    expect(errors.splice(0)).toMatchObject([{ name: 'TypeError', message: expect.stringContaining('secretKeyBase') }])
  }
})

verifies('state.secret', 'on loopback one is made, with one warning', async () => {
  const warnings: string[] = []
  const listen = (warning: Error & { code?: string }): void => void warnings.push(warning.code ?? warning.name)
  process.on('warning', listen)
  const serving = await serve(router([], { secretKeyBase: undefined }), { port: 0, signals: false })
  try {
    const ask = async (): Promise<number> => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      }
      const headers = {
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'step',
      }
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'step', _meta } }
      const answer = await fetch(serving.url, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(await answer.json()).toMatchObject({ result: { resultType: 'input_required' } })
      return answer.status
    }
    expect(warnings).toEqual([])
    expect([await ask(), await ask()]).toEqual([200, 200])
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual(['PHANTOM_RANDOM_SECRET'])
  } finally {
    process.off('warning', listen)
    await serving.close()
  }
})
