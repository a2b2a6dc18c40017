import { Elicit, Tool } from 'phantom-mcp'
import { expect } from 'vitest'
import { PATIENT } from '../_messages.js'
import { VERSIONS, verifies } from '../_setup.js'
import { askingRouter, describeModes, textOf } from './_asking.js'

const URL_CLIENT = { capabilities: { elicitation: { url: {} } } }
const page = (elicitationId: string) => Elicit.url('https://example.com/connect', 'Connect', { elicitationId })

describeModes('who was asked to open a page', {}, (setup, cell) => {
  verifies('asking.url-complete', 'is told when it is done, once', async () => {
    const made = askingRouter()
    const told: boolean[] = []
    made.tool('page', { replay: true }, async (_params, session) => {
      const { action } = await session.elicit(page('mine'))
      for (const id of ['mine', 'mine', 'unknown']) told.push(await setup.all.server.notifyElicitationComplete(id))
      return action
    })
    const client = await setup(made, { elicit: () => 'accept', ...URL_CLIENT })
    const has = cell.version === '2025-11-25'
    expect(textOf(await client.callTool('page'))).toBe(cell.version === '2025-06-18' ? 'unsupported' : 'accept')
    expect(told).toEqual([has, false, false])
    const expected = has ? [{ elicitationId: 'mine' }] : []
    await expect.poll(() => client.notified('notifications/elicitation/complete'), PATIENT).toEqual(expected)
  })

  verifies('asking.url-complete', 'is told of what an error has asked for', async () => {
    const made = askingRouter()
    made.tool('pages', {}, () => Tool.elicitationRequired([page('a'), page('b')]))
    const client = await setup(made, URL_CLIENT)
    const other = cell.http ? await setup.all.another(URL_CLIENT) : client
    await client.callTool('pages').catch(() => undefined)
    // A session over HTTP has no stream of its own here, and its call is over.
    const has = cell.version === '2025-11-25' && !cell.http
    expect(await setup.all.server.notifyElicitationComplete('b')).toBe(has)
    const expected = has ? [{ elicitationId: 'b' }] : []
    await expect.poll(() => client.notified('notifications/elicitation/complete'), PATIENT).toEqual(expected)
    if (cell.http) expect(other.notified('notifications/elicitation/complete')).toEqual([])
    await client.close()
    expect(await setup.all.server.notifyElicitationComplete('a')).toBe(false)
  })

  verifies('asking.url-complete', 'is forgotten in time', async () => {
    if (cell.version !== '2025-11-25' || cell.http) return
    let now = Date.now()
    const made = askingRouter()
    made.tool('pages', {}, () => Tool.elicitationRequired([page('a')]))
    const client = await setup(made, { ...URL_CLIENT, server: { clock: () => now, requestStateTtlMs: 1_000 } })
    await client.callTool('pages').catch(() => undefined)
    now += 1_000
    expect(await setup.all.server.notifyElicitationComplete('a')).toBe(false)
  })
})

describeModes('what the specification wants to be rid of', { versions: VERSIONS }, (setup) => {
  verifies('asking.deprecated', 'is warned of once', async () => {
    const codes: unknown[] = []
    const listen = (warning: Error & { code?: string }): void => void codes.push(warning.code)
    process.on('warning', listen)
    try {
      const made = askingRouter()
      made.tool('old', { replay: true }, async (_params, session) => {
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello' } }]
        await session.sample({ messages, maxTokens: 5 })
        await session.roots()
        return 'done'
      })
      const reply = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
      const client = await setup(made, { sample: () => reply, roots: () => [] })
      for (let call = 0; call < 2; call++) expect(textOf(await client.callTool('old'))).toBe('done')
      await new Promise((resolve) => setImmediate(resolve))
      expect(codes).toEqual(['sampling/createMessage', 'roots/list'])
    } finally {
      process.off('warning', listen)
    }
  })
})
