import { createRouter, type Router, type Session } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { META, PATIENT } from '../_messages.js'
import { describeMatrix, STATELESS_VERSIONS, verifies } from '../_setup.js'
import { modern, TARGETS, target } from '../http/_http.js'

function pinging(run: (session: Session) => Promise<void>): Router {
  const router = createRouter({ name: 'ping', version: '1.0.0' })
  router.tool('work', {}, async (_params, session) => {
    await run(session)
    return 'done'
  })
  return router
}

describeMatrix('a ping of a handler', {}, (setup, cell) => {
  verifies('session.ping', 'is a request on the stream of its call, whose answer is taken quietly', async () => {
    const client = await setup(pinging((session) => session.ping().then(() => session.ping())))
    const from = setup.wire.received.length
    expect(await client.callTool('work')).toMatchObject({ content: [{ text: 'done' }] })
    const pings = setup.wire.received.slice(from, -1)
    if (!cell.sessions) return expect(pings).toEqual([])
    expect(pings).toMatchObject([{ jsonrpc: '2.0', method: 'ping' }, { method: 'ping' }])
    const ids = pings.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    const seen = setup.wire.received.length
    await client.sendRaw({ jsonrpc: '2.0', id: ids[0], result: {} })
    await client.sendRaw({ jsonrpc: '2.0', id: ids[1], error: { code: -32601, message: 'no' } })
    expect(await client.request('ping')).toEqual({})
    expect(setup.wire.received.length).toBe(seen + 1)
  })

  verifies('session.ping', 'is not sent for a call that has its answer', async () => {
    let kept: Session | undefined
    const client = await setup(
      pinging(async (session) => {
        kept = session
      }),
    )
    await client.callTool('work')
    const seen = setup.wire.received.length
    await kept?.ping()
    await client.list('tools')
    expect(setup.wire.received.length).toBe(seen + 1)
  })
})

describe.each(TARGETS)('a ping of 2026-07-28 over %s', (kind) => {
  test('is a comment on the stream of its call', async () => {
    const on = await target(
      kind,
      pinging((session) => session.ping()),
    )
    const answer = await on.send(modern('tools/call', { name: 'work', arguments: {} }))
    expect(answer.header('content-type')).toBe('text/event-stream')
    expect(answer.text).toMatch(/^: ping\n\nevent: message\ndata: \{.*"done".*\n\n$/)
    const json = { headers: { accept: 'application/json' } }
    const plain = await on.send(modern('tools/call', { name: 'work', arguments: {} }, json))
    expect(plain.text).toMatch(/^\{.*"done".*\}$/)
  })
})

describeMatrix('a notification that the version lacks', {}, (setup, cell) => {
  verifies('session.notify-lacks', 'is left out, with one warning', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    try {
      const client = await setup(
        pinging(async (session) => {
          for (const method of ['elicitation/complete', 'subscriptions/acknowledged', 'tasks/status', 'my/own'])
            await session.notify(`notifications/${method}`, { taskId: '1' })
        }),
      )
      await client.callTool('work')
      await client.callTool('work')
      const known = {
        '2025-11-25': ['notifications/elicitation/complete', 'notifications/tasks/status'],
        '2026-07-28': ['notifications/subscriptions/acknowledged'],
      }
      const sent = [...(known[cell.version as '2025-11-25'] ?? []), 'notifications/my/own']
      expect(client.notifications.map(({ method }) => method)).toEqual([...sent, ...sent])
      await expect.poll(() => warnings.length, PATIENT).toBe(4 - sent.length)
      for (const { name, message } of warnings) {
        expect([name, message]).toEqual([
          'PhantomWarning',
          expect.stringContaining(`${cell.version} has no notifications/`),
        ])
      }
    } finally {
      process.off('warning', onWarning)
    }
  })
})

describeMatrix('a listen that its server finishes', { versions: STATELESS_VERSIONS }, (setup, cell) => {
  verifies('listen.finish', 'has its result, and others go on', async () => {
    const sessions: Session[] = []
    const router = pinging(async () => undefined)
    router.use((session, next) => {
      if (session.call.method === 'subscriptions/listen') sessions.push(session)
      return next()
    })
    const client = await setup(router)
    const params = { _meta: META, notifications: { toolsListChanged: true } }
    const listens = ['a', 'b'].map((id) => client.requestAs(id, { method: 'subscriptions/listen', params }))
    const acknowledged = () => client.notified('notifications/subscriptions/acknowledged').length
    await expect.poll(acknowledged, PATIENT).toBe(2)
    await sessions[0]?.finish()
    expect(await listens[0]).toMatchObject({ _meta: { 'io.modelcontextprotocol/subscriptionId': 'a' } })
    expect(client.notified('notifications/cancelled')).toEqual(cell.http ? [] : [{ requestId: 'a' }])
    router.tool('more', {}, () => 'more')
    const changed = () => client.notified('notifications/tools/list_changed')
    await expect.poll(changed, PATIENT).toMatchObject([{ _meta: { 'io.modelcontextprotocol/subscriptionId': 'b' } }])
    listens[1]?.catch(() => undefined)
  })
})
