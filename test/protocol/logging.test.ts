import { createRouter, type Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { describeMatrix, HTTP, SESSION_VERSIONS, STATELESS_VERSIONS, verifies } from '../_setup.js'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
type Level = (typeof LEVELS)[number]

function logging(): Router {
  const router = createRouter({ name: 'logging', version: '1.0.0' })
  router.tool('log', {}, async (_params, session) => {
    for (const level of LEVELS) await session.log[level]({ at: level }, 'storage')
    return 'logged'
  })
  router.tool('plain', {}, async (_params, session) => {
    await session.log.emergency('text')
    await session.log.emergency(null)
    await session.log.emergency([0])
    return 'logged'
  })
  router.tool('open', { input: {} }, async (_params, session) => {
    session.setLogLevel('debug')
    await session.log.debug('opened')
    return 'logged'
  })
  return router
}

const messages = (levels: readonly Level[]): object[] =>
  levels.map((level) => ({ level, logger: 'storage', data: { at: level } }))

describeMatrix('logging', {}, (setup, cell) => {
  verifies('logging.level', 'sends what is as severe as the client wants it', async () => {
    for (const logLevel of ['debug', 'info', 'critical', 'emergency'] as const) {
      const client = await setup(logging(), { logLevel })
      await client.callTool('log')
      expect(client.notified('notifications/message'), logLevel).toEqual(
        messages(LEVELS.slice(LEVELS.indexOf(logLevel))),
      )
    }
  })

  verifies('logging.level', 'sends any JSON as it is, from the server unless a logger is named', async () => {
    const client = await setup(logging(), { logLevel: 'debug' })
    await client.callTool('plain')
    const level = 'emergency'
    expect(client.notified('notifications/message')).toEqual([
      { level, logger: 'server', data: 'text' },
      { level, logger: 'server', data: null },
      { level, logger: 'server', data: [0] },
    ])
  })

  verifies(['logging.own-stream', 'logging.level'], 'comes before the answer', async () => {
    const client = await setup(logging(), { logLevel: 'alert' })
    const from = setup.wire.received.length
    await client.callTool('log')
    expect(setup.wire.received.slice(from).map(({ method }) => method)).toEqual([
      'notifications/message',
      'notifications/message',
      undefined,
    ])
  })

  verifies('errors.unserialisable', 'of what JSON cannot hold costs nothing but itself', async () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const router = createRouter({ name: 'logging', version: '1.0.0' })
    const outcomes: unknown[] = []
    router.tool('log', {}, async (_params, session) => {
      for (const data of [{ n: 10n }, cyclic]) {
        outcomes.push(
          await session.log.error(data).then(
            () => 'resolved',
            () => 'rejected: unhandled unless awaited',
          ),
        )
      }
      return 'logged'
    })
    const client = await setup(router, { logLevel: 'debug' })
    expect(await client.callTool('log')).toMatchObject({ content: [{ text: 'logged' }] })
    expect(outcomes).toEqual(['resolved', 'resolved'])
    setup.takeErrors()
    expect(cell.version).toBe(client.protocol)
  })
})

describeMatrix('logging in a session', { versions: SESSION_VERSIONS }, (setup) => {
  verifies(['logging.set-level', 'field.O1'], 'has the level that was set last', async () => {
    const client = await setup(logging())
    expect(await client.request('logging/setLevel', { level: 'emergency' })).toEqual({})
    await client.callTool('log')
    expect(client.notified('notifications/message')).toEqual(messages(['emergency']))
    await client.request('logging/setLevel', { level: 'critical' })
    await client.callTool('log')
    expect(client.notified('notifications/message')).toEqual(messages(['emergency', 'critical', 'alert', 'emergency']))
  })

  verifies('logging.bad-level', 'refuses levels that are none, and keeps the one before', async () => {
    const client = await setup(logging(), { logLevel: 'emergency' })
    for (const level of ['loud', '', 'INFO', 5, null, undefined, 'constructor', '__proto__']) {
      await expect(client.request('logging/setLevel', { level })).rejects.toMatchObject({ code: -32602 })
    }
    await client.callTool('log')
    expect(client.notified('notifications/message')).toEqual(messages(['emergency']))
  })

  verifies('logging.set-level', 'follows a handler that sets it', async () => {
    const client = await setup(logging(), { logLevel: 'emergency' })
    await client.callTool('open')
    expect(client.notified('notifications/message')).toEqual([{ level: 'debug', logger: 'server', data: 'opened' }])
    await client.callTool('log')
    expect(client.notified('notifications/message')).toHaveLength(9)
  })
})

describeMatrix('logging in sessions', { versions: SESSION_VERSIONS, transports: HTTP }, (setup) => {
  verifies('field.O1', 'has a level for each', async () => {
    const one = await setup(logging(), { logLevel: 'error' })
    const two = await setup.another({ logLevel: 'alert' })
    await Promise.all([one.callTool('log'), two.callTool('log')])
    expect(one.notified('notifications/message')).toEqual(messages(['error', 'critical', 'alert', 'emergency']))
    expect(two.notified('notifications/message')).toEqual(messages(['alert', 'emergency']))
  })
})

describeMatrix('logging in 2026-07-28', { versions: STATELESS_VERSIONS }, (setup, cell) => {
  const LEVEL = 'io.modelcontextprotocol/logLevel'

  verifies(['logging.unasked', 'field.O1'], 'is not sent to who did not ask for it', async () => {
    const client = await setup(logging())
    await client.callTool('log')
    await client.callTool('log', {}, { meta: { [LEVEL]: 'emergency' } })
    await client.callTool('log')
    expect(client.notified('notifications/message')).toEqual(messages(['emergency']))
  })

  verifies('logging.unasked', 'is not opened by a handler', async () => {
    const client = await setup(logging())
    expect(await client.callTool('open')).toMatchObject({ content: [{ text: 'logged' }] })
    expect(client.notifications).toEqual([])
  })

  verifies(['logging.bad-level', 'field.O1'], 'refuses levels that are none', async () => {
    const client = await setup(logging())
    for (const level of ['loud', '', 5, null, 'toString']) {
      await expect(client.callTool('log', {}, { meta: { [LEVEL]: level } })).rejects.toMatchObject({ code: -32602 })
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(400)
    }
  })
})
