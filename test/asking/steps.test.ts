import { createServer, defineFor, Elicit, field, Prompt, type Router, Tool } from 'phantom-mcp'
import { connect } from 'phantom-mcp/testing'
import { expect } from 'vitest'
import { verifies } from '../_setup.js'
import { ADA, AGE, type Asked, accept, askingRouter, describeModes, NAME, textOf, told } from './_asking.js'

const CLIENT = { capabilities: { elicitation: {} } }

/** Counts how often anything ran, under its name. */
function router(ran: string[] = []): Router {
  const made = askingRouter()
  const age = made.step(
    'age',
    (_state: { name: string }) => AGE,
    (answer, { name }, session) => {
      ran.push('age')
      return `${name} ${told(answer)} ${String(session.params['name'])}`
    },
  )
  const name = made.step(
    'name',
    ({ of }: { of: string }) => Elicit.form({ message: `Name of ${of}?`, fields: { name: field.string() } }),
    (answer, { of }, session) => {
      ran.push('name')
      if (of === 'further') return session.elicit(age, { state: { name: told(answer) } })
      return Tool.text(`${of} ${told(answer)}`)
    },
  )
  const again = made.step(
    'again',
    (_state: null) => NAME,
    (answer) => `again ${told(answer)}`,
    { singleUse: false },
  )
  for (const of of ['one', 'further']) {
    made.tool(of, {}, (_params, session) => {
      ran.push('tool')
      return session.elicit(name, { state: { of } })
    })
  }
  made.tool('again', {}, (_params, session) => session.elicit(again, { state: null }))
  const asksToo = made.step(
    'asks_too',
    (_state: { at: number }) => NAME,
    async (answer, { at }, session) => {
      ran.push('asks_too')
      return `${at} ${told(answer)} ${told(await session.elicit(AGE))}`
    },
  )
  made.tool('mixed', { replay: true }, async (_params, session) => {
    ran.push('tool')
    return session.elicit(asksToo, { state: { at: 5 } })
  })
  const forPrompt = made.step(
    'for_prompt',
    (_state: undefined) => NAME,
    (answer) => Prompt.response([Prompt.user(told(answer))]),
  )
  made.prompt('greet', {}, (_params, session) => session.elicit(forPrompt, { state: undefined }))
  const forResource = made.step(
    'for_resource',
    (_state: undefined) => NAME,
    (answer) => told(answer),
  )
  made.resource('notes://mine', { name: 'mine' }, (_params, session) =>
    session.elicit(forResource, { state: undefined }),
  )
  return made
}

describeModes('steps', {}, (setup, cell) => {
  verifies('asking.step', 'get the answer and the state; the tool runs once', async () => {
    const ran: string[] = []
    const client = await setup(router(ran), ADA)
    expect(textOf(await client.callTool('one'))).toBe('one {"name":"Ada"}')
    expect(ran).toEqual(['tool', 'name'])
    expect(textOf(await (await setup(router(), { elicit: () => 'decline' })).callTool('one'))).toBe('one decline')
  })

  verifies('asking.step', 'ask further steps, and know the parameters of the call', async () => {
    const ran: string[] = []
    const client = await setup(router(ran), ADA)
    expect(textOf(await client.callTool('further'))).toBe('{"name":"Ada"} {"age":36} further')
    expect(ran).toEqual(['tool', 'name', 'age'])
  })

  verifies('asking.step', 'serve prompts and resources', async () => {
    const client = await setup(router(), ADA)
    expect((await client.getPrompt('greet')).messages).toEqual([
      { role: 'user', content: { type: 'text', text: '{"name":"Ada"}' } },
    ])
    expect((await client.readResource('notes://mine')).contents).toMatchObject([{ text: '{"name":"Ada"}' }])
  })

  verifies('asking.step', 'ask while they wait, and go on from themselves when they run again', async () => {
    const ran: string[] = []
    const client = await setup(router(ran), ADA)
    expect(textOf(await client.callTool('mixed'))).toBe('5 {"name":"Ada"} {"age":36}')
    expect(ran).toEqual(cell.mode === 'park' ? ['tool', 'asks_too'] : ['tool', 'asks_too', 'asks_too'])
  })

  verifies('asking.step', 'keep state as JSON makes it, in every version', async () => {
    const made = askingRouter()
    const dated = made.step(
      'dated',
      (_state: { at: unknown; none?: undefined }) => NAME,
      (_answer, state) => JSON.stringify([typeof state.at, Object.keys(state)]),
    )
    made.tool('date', {}, (_params, session) => session.elicit(dated, { state: { at: new Date(0), none: undefined } }))
    const client = await setup(made, ADA)
    expect(textOf(await client.callTool('date'))).toBe('["string",["at"]]')
  })

  verifies('asking.step', 'of a mounted router are found there', async () => {
    const app = defineFor<object>()
    const inner = askingRouter()
    const name = app.step(
      'name',
      (_state: string) => NAME,
      (answer, state) => `inner ${state} ${told(answer)}`,
    )
    inner.add(
      name,
      app.tool('ask', {}, (_params, session) => session.elicit(name, { state: 'x' })),
    )
    const outer = router()
    outer.mount('in', inner)
    const client = await setup(outer, ADA)
    const { tools } = (await client.list('tools')) as unknown as { tools: { name: string }[] }
    const mounted = tools.map((tool) => tool.name).find((tool) => tool.startsWith('in'))
    expect(textOf(await client.callTool(mounted as string))).toBe('inner x {"name":"Ada"}')
  })

  verifies('asking.capability', 'cannot be asked of who has not declared it', async () => {
    const client = await setup(router())
    const code = cell.rounds ? -32021 : -32602
    const requiredCapabilities = { elicitation: { form: {} } }
    await expect(client.callTool('one')).rejects.toMatchObject({ code, data: { requiredCapabilities } })
    if (cell.http && cell.rounds) expect(setup.all.wire.statuses).toEqual([400])
    expect(client.requests).toEqual([])
  })

  verifies('asking.step', 'that their router does not have are a mistake that the operator is told of', async () => {
    const made = askingRouter()
    const stray = defineFor<object>().step(
      'stray',
      (_state: string) => NAME,
      () => 'never',
    )
    made.tool('ask', {}, (_params, session) => session.elicit(stray, { state: '' }))
    const client = await setup(made, ADA)
    await expect(client.callTool('ask')).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
    expect(setup.all.expectErrors(1)).toMatchObject([{ message: expect.stringMatching(/step 'stray'.*router\.add/) }])
  })

  verifies('asking.again', 'are asked again for what is missing or does not fit', async () => {
    const ran: string[] = []
    const client = await setup(router(ran), CLIENT)
    for (const inputResponses of [
      {},
      { other: {} },
      { name: null },
      { name: 5 },
      { name: { action: 'perhaps' } },
      accept({ name: { name: 5 } }),
    ]) {
      const asked = (await client.request('tools/call', { name: 'one' })) as unknown as Asked
      const again = await client.request('tools/call', {
        name: 'one',
        requestState: asked.requestState,
        inputResponses,
      })
      expect(again).toMatchObject({ resultType: 'input_required', inputRequests: asked.inputRequests })
      expect(again['requestState']).not.toBe(asked.requestState)
      const inTheEnd = await client.request('tools/call', {
        name: 'one',
        requestState: again['requestState'],
        inputResponses: accept({ name: { name: 'Ada' } }),
      })
      expect(textOf(inTheEnd as never)).toBe('one {"name":"Ada"}')
    }
    expect(ran.filter((name) => name === 'name')).toHaveLength(6)
  })

  verifies('asking.step-once', 'may be answered again where they say so, each time for itself', async () => {
    const client = await setup(router(), CLIENT)
    const { requestState } = (await client.request('tools/call', { name: 'again' })) as unknown as Asked
    const as = async (name: string): Promise<unknown> => {
      const inputResponses = accept({ again: { name } })
      return textOf((await client.request('tools/call', { name: 'again', requestState, inputResponses })) as never)
    }
    expect([await as('Ada'), await as('Bob'), await as('Ada')]).toEqual([
      'again {"name":"Ada"}',
      'again {"name":"Bob"}',
      'again {"name":"Ada"}',
    ])
  })

  verifies('asking.step-once', 'that are answered again and ask on do not mix up their callers', async () => {
    const made = askingRouter()
    const second = made.step(
      'second',
      ({ first: _first }: { first: string }) => AGE,
      (answer, { first }) => `${first} ${told(answer)}`,
    )
    const first = made.step(
      'first',
      (_state: null) => NAME,
      (answer, _state, session) => session.elicit(second, { state: { first: told(answer) } }),
      { singleUse: false },
    )
    made.tool('ask', {}, (_params, session) => session.elicit(first, { state: null }))
    const client = await setup(made, CLIENT)
    const { requestState } = (await client.request('tools/call', { name: 'ask' })) as unknown as Asked
    const ended = await Promise.all(
      ['Ada', 'Bob'].map(async (name) => {
        const inputResponses = accept({ first: { name } })
        const further = await client.request('tools/call', { name: 'ask', requestState, inputResponses })
        const last = { requestState: further['requestState'], inputResponses: accept({ second: { age: 1 } }) }
        return textOf((await client.request('tools/call', { name: 'ask', ...last })) as never)
      }),
    )
    expect(ended).toEqual(['{"name":"Ada"} {"age":1}', '{"name":"Bob"} {"age":1}'])
  })

  verifies('asking.step-lost', 'that are gone, or ask something else now, are refused', async () => {
    const client = await setup(router(), CLIENT)
    const asked = async (): Promise<object> => {
      const { requestState } = (await client.request('tools/call', { name: 'one' })) as unknown as Asked
      return { name: 'one', requestState, inputResponses: accept({ name: { name: 'Ada' } }) }
    }
    const without = askingRouter()
    without.tool('one', {}, () => 'never')
    const other = askingRouter()
    other.step(
      'name',
      () => AGE,
      () => 'never',
    )
    other.tool('one', {}, () => 'never')
    const sameForPeople = askingRouter()
    sameForPeople.step(
      'name',
      () => Elicit.form({ message: 'In other words?', fields: { name: field.string({ title: 'A name' }) } }),
      (answer) => told(answer),
    )
    sameForPeople.tool('one', {}, () => 'never')
    for (const changed of [without, other]) {
      const later = await connect(createServer(changed), CLIENT)
      const refused = later.request('tools/call', (await asked()) as never)
      await expect(refused).rejects.toMatchObject({ code: -32602, data: { reason: 'handler_changed' } })
    }
    const later = await connect(createServer(sameForPeople), CLIENT)
    expect(textOf((await later.request('tools/call', (await asked()) as never)) as never)).toBe('{"name":"Ada"}')
  })
})
