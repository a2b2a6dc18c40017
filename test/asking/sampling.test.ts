import { type CreateMessageParams, type Router, Tool } from 'phantom-mcp'
import { expect } from 'vitest'
import { VERSIONS, verifies } from '../_setup.js'
import { askingRouter, describeModes, textOf, told } from './_asking.js'

const HELLO: CreateMessageParams = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
  maxTokens: 10,
}
const WITH_TOOLS: CreateMessageParams = { ...HELLO, tools: [{ name: 'look', inputSchema: { type: 'object' } }] }
const REPLY = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'some-model', stopReason: 'endTurn' }
const ROOTS = [{ uri: 'file:///home/ada', name: 'Home' }, { uri: 'file:///tmp' }]

function router(): Router {
  const made = askingRouter()
  made.tool('sample', { replay: true }, async (_params, session) => told(await session.sample(HELLO)))
  made.tool('tools', { replay: true }, async (_params, session) => told(await session.sample(WITH_TOOLS)))
  made.tool('roots', { replay: true }, async (_params, session) => told(await session.roots()))
  made.tool('error', { replay: true }, async (_params, session) => {
    const answer = await session.sample(HELLO)
    return answer.action === 'error' ? Tool.error(answer.error.message) : answer.action
  })
  return made
}

describeModes('the client’s model and its roots', { versions: VERSIONS }, (setup, cell) => {
  verifies('asking.sample', 'answer in every version', async () => {
    const client = await setup(router(), { sample: () => REPLY, roots: () => ROOTS })
    expect(JSON.parse(textOf(await client.callTool('sample')) as string)).toEqual(REPLY)
    if (!cell.rounds) expect(client.requests).toMatchObject([{ method: 'sampling/createMessage', params: HELLO }])
  })

  verifies('asking.roots', 'are told in every version', async () => {
    const client = await setup(router(), { sample: () => REPLY, roots: () => ROOTS })
    expect(JSON.parse(textOf(await client.callTool('roots')) as string)).toEqual(ROOTS)
  })

  verifies(['asking.sample', 'asking.roots'], 'are not asked for where they are not declared', async () => {
    const client = await setup(router(), { capabilities: { elicitation: {} } })
    for (const name of ['sample', 'tools', 'roots'])
      expect(textOf(await client.callTool(name)), name).toBe('unsupported')
    expect(client.requests).toEqual([])
  })

  verifies('asking.sample', 'are given tools only by who has declared that', async () => {
    const plain = await setup(router(), { sample: () => REPLY, capabilities: { sampling: {} } })
    expect(textOf(await plain.callTool('tools'))).toBe('unsupported')
    const rich = await setup.all.another({ sample: () => REPLY, capabilities: { sampling: { tools: {} } } })
    expect(JSON.parse(textOf(await rich.callTool('tools')) as string)).toEqual(REPLY)
  })

  verifies('asking.client-error', 'that fail are an answer of their own', async () => {
    if (cell.rounds) return
    const client = await setup(router(), {
      sample: () => {
        throw new Error('User rejected sampling request')
      },
    })
    expect(await client.callTool('error')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('User rejected sampling request') }],
    })
  })

  verifies('asking.sample', 'are not believed what is none of theirs', async () => {
    if (cell.rounds) return
    const client = await setup(router(), { sample: () => ({ role: 'system' }), roots: () => [{ uri: 'http://x' }] })
    expect(textOf(await client.callTool('sample'))).toBe('error')
    expect(textOf(await client.callTool('roots'))).toBe('error')
  })
})
