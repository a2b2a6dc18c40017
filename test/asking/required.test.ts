import { Elicit, field, McpError, Prompt, Roots, type Router, Sample, Tool } from 'phantom-mcp'
import { expect } from 'vitest'
import { META } from '../_messages.js'
import { verifies } from '../_setup.js'
import { ADA, AGE, type Asked, accept, askingRouter, describeModes, NAME, textOf, told } from './_asking.js'

const URL_CLIENT = { capabilities: { elicitation: { url: {} } } }
const PAGE = Elicit.url('https://example.com/connect', 'Connect your account', { elicitationId: 'page-1' })
const OTHER = Elicit.url('https://example.com/other', 'Another one', { elicitationId: 'page-2' })

function router(ran: unknown[] = []): Router {
  const made = askingRouter()
  made.tool('two_rounds', {}, (_params, { state, inputResponses }) => {
    ran.push(state)
    if (state === undefined) return Tool.inputRequired({ requests: { name: NAME }, state: { round: 1 } })
    const { round, name } = state as { round: number; name?: unknown }
    if (round === 1)
      return Tool.inputRequired({ requests: { age: AGE }, state: { round: 2, name: inputResponses?.['name'] } })
    return Tool.text(JSON.stringify([name, inputResponses?.['age'], Object.keys(inputResponses ?? {})]))
  })
  made.tool('then_inline', { replay: true }, async (_params, session) => {
    ran.push(session.state)
    if (session.state === undefined) return Tool.inputRequired({ requests: { name: NAME }, state: 'asked' })
    const age = await session.elicit(AGE)
    return JSON.stringify([session.state, session.inputResponses, told(age)])
  })
  made.prompt('asks', {}, (_params, { inputResponses }) =>
    inputResponses === undefined
      ? (Tool.inputRequired({ requests: { name: NAME } }) as never)
      : Prompt.response([Prompt.user(JSON.stringify(inputResponses))]),
  )
  made.tool('model', {}, () => Tool.inputRequired({ requests: { model: Sample.message(HELLO), roots: Roots.list() } }))
  made.tool('page', { replay: true }, async (_params, session) => {
    const { action } = await session.elicitUrl('https://example.com/a', 'Look')
    return action
  })
  made.tool('pages', {}, (_params, { state }) => {
    ran.push(state)
    return state === undefined ? Tool.elicitationRequired([PAGE, OTHER]) : Tool.text(JSON.stringify(state))
  })
  made.tool('out', { output: { name: field.string({ required: true }) } }, (_params, { inputResponses }) =>
    inputResponses === undefined ? Tool.inputRequired({ requests: { name: NAME } }) : { name: 'from the second run' },
  )
  return made
}

const HELLO = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello' } }],
  maxTokens: 10,
}

describeModes('what a handler returns to ask', {}, (setup, cell) => {
  verifies('asking.input-required', 'is asked, and the handler runs again with answers and state', async () => {
    const ran: unknown[] = []
    const client = await setup(router(ran), ADA)
    const [name, age] = [accept({ q: { name: 'Ada' } })['q'], accept({ q: { age: 36 } })['q']]
    expect(textOf(await client.callTool('two_rounds'))).toBe(JSON.stringify([name, age, ['age']]))
    expect(ran.map((state) => (state as { round?: number } | undefined)?.round)).toEqual([undefined, 1, 2])
    expect((await client.getPrompt('asks')).messages).toMatchObject([{ content: { text: JSON.stringify({ name }) } }])
    const { structuredContent } = await client.callTool('out')
    expect(structuredContent).toEqual({ name: 'from the second run' })
  })

  verifies('asking.input-required', 'may be followed by a question that waits', async () => {
    const ran: unknown[] = []
    const client = await setup(router(ran), ADA)
    const first = { name: { action: 'accept', content: { name: 'Ada' } } }
    expect(textOf(await client.callTool('then_inline'))).toBe(JSON.stringify(['asked', first, '{"age":36}']))
    expect(ran).toEqual(cell.mode === 'park' ? [undefined, 'asked'] : [undefined, 'asked', 'asked'])
  })

  verifies('asking.client-error', 'has an end where its client fails to answer', async () => {
    if (cell.rounds) return
    const failing = (): never => {
      throw new Error('no')
    }
    const client = await setup(router(), { elicit: failing })
    await expect(client.callTool('two_rounds')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('The client failed to answer'),
    })
  })

  verifies('asking.capability', 'names all that its client lacks, before anything is streamed', async () => {
    const client = await setup(router(), { capabilities: { elicitation: {} } })
    await expect(client.callTool('model')).rejects.toMatchObject({
      code: cell.rounds ? -32021 : -32602,
      data: { requiredCapabilities: { sampling: {} } },
    })
    if (cell.http && cell.rounds) expect(setup.all.wire.statuses).toEqual([400])
  })

  verifies('asking.url', 'opens a page where version and client have that', async () => {
    const client = await setup(router(), { elicit: () => 'accept', ...URL_CLIENT })
    const answer = textOf(await client.callTool('page'))
    expect(answer).toBe(cell.version === '2025-06-18' ? 'unsupported' : 'accept')
    const plain = await setup.all.another({ elicit: () => 'accept', capabilities: { elicitation: {} } })
    expect(textOf(await plain.callTool('page'))).toBe('unsupported')
    const [params] = client.requests.map((request) => request['params'])
    const expected = { mode: 'url', url: 'https://example.com/a', message: 'Look' }
    if (cell.version === '2025-11-25') expect(params).toEqual({ ...expected, elicitationId: expect.any(String) })
  })

  verifies('asking.url', 'sends no elicitationId where there is none in the version', async () => {
    if (!cell.rounds) return
    const client = await setup(router(), URL_CLIENT)
    const { inputRequests } = (await client.request('tools/call', { name: 'page' })) as unknown as Asked
    const params = { mode: 'url', url: 'https://example.com/a', message: 'Look' }
    expect(inputRequests).toEqual({ q1: { method: 'elicitation/create', params } })
  })

  verifies('asking.url-required', 'is an error, a round, or cannot be said', async () => {
    const ran: unknown[] = []
    const client = await setup(router(ran), URL_CLIENT)
    if (cell.version === '2025-06-18') {
      const missing = { elicitation: { url: {} } }
      await expect(client.callTool('pages')).rejects.toMatchObject({
        code: -32602,
        data: { requiredCapabilities: missing },
      })
      return
    }
    const page = (question: { readonly params: object }): object => question.params
    if (!cell.rounds) {
      const elicitations = [
        { ...page(PAGE), elicitationId: 'page-1' },
        { ...page(OTHER), elicitationId: 'page-2' },
      ]
      await expect(client.callTool('pages')).rejects.toMatchObject({ code: -32042, data: { elicitations } })
      return
    }
    const call = async (inputResponses: object): Promise<Readonly<Record<string, unknown>>> => {
      const { requestState } = (await client.request('tools/call', { name: 'pages' })) as unknown as Asked
      return await client.request('tools/call', { name: 'pages', requestState, inputResponses })
    }
    const asked = await client.request('tools/call', { name: 'pages' })
    expect(asked['inputRequests']).toEqual({
      'elicitation-0': { method: 'elicitation/create', params: page(PAGE) },
      'elicitation-1': { method: 'elicitation/create', params: page(OTHER) },
    })
    const [yes, no] = [{ action: 'accept' }, { action: 'decline' }]
    const opened = await call({ 'elicitation-0': yes, 'elicitation-1': yes })
    expect(textOf(opened as never)).toBe('{"elicitation_ids":["page-1","page-2"]}')
    const count = ran.length
    for (const refused of [no, { action: 'cancel' }]) {
      expect(await call({ 'elicitation-0': yes, 'elicitation-1': refused })).toMatchObject({ isError: true })
      expect(await call({ 'elicitation-0': refused })).toMatchObject({ isError: true })
    }
    expect(ran.slice(count)).toEqual([undefined, undefined, undefined, undefined])
    for (const missing of [{}, { 'elicitation-0': yes }, { 'elicitation-0': yes, 'elicitation-1': 5 }])
      expect(await call(missing)).toMatchObject({ resultType: 'input_required', inputRequests: asked['inputRequests'] })
  })

  verifies('asking.responses', 'takes no answers that are no object', async () => {
    const ran: unknown[] = []
    const client = await setup(router(ran), URL_CLIENT)
    for (const inputResponses of [null, 5, 'x', [], true]) {
      const refused = client.request('tools/call', { name: 'pages', inputResponses })
      await expect(refused).rejects.toMatchObject({ code: -32602 })
    }
    expect(ran).toEqual([])
  })

  verifies('asking.input-required', 'may be a state without a question', async () => {
    const made = askingRouter()
    made.tool('busy', {}, (_params, { state }) =>
      state === undefined ? Tool.inputRequired({ state: 'come back' }) : String(state),
    )
    const client = await setup(made)
    if (!cell.rounds) {
      expect(textOf(await client.callTool('busy'))).toBe('come back')
      return
    }
    const wire = await setup.all.bare(made)
    const call = (params: object): Promise<Readonly<Record<string, unknown>>> =>
      wire.ask({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'busy', _meta: META, ...params } })
    const { result } = (await call({})) as { result: Readonly<Record<string, unknown>> }
    expect(Object.keys(result)).not.toContain('inputRequests')
    const again = await wire.ask({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'busy', _meta: META, requestState: result['requestState'] },
    })
    expect(textOf(again['result'] as never)).toBe('come back')
  })

  verifies('asking.input-required', 'must be made by the builders', () => {
    expect(() => Tool.inputRequired({})).toThrow(TypeError)
    expect(() => Tool.inputRequired({ requests: { a: { method: 'roots/list' } as never } })).toThrow(
      /'a' is no question/,
    )
    expect(() => Tool.elicitationRequired([])).toThrow(TypeError)
    expect(() => Tool.elicitationRequired([NAME as never])).toThrow(TypeError)
    expect(() => new McpError('URL_ELICITATION_REQUIRED', 'x')).not.toThrow()
  })
})
