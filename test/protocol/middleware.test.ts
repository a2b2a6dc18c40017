import { createRouter, McpError, type Middleware, type Outcome, type Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'

function routed(...middleware: Middleware[]): { router: Router; log: string[] } {
  const log: string[] = []
  const router = createRouter({ name: 'middleware', version: '1.0.0', middleware })
  router.tool('work', {}, () => {
    log.push('handler')
    return 'worked'
  })
  router.tool('boom', {}, () => {
    throw new Error('secret')
  })
  router.tool('refuse', {}, () => {
    throw new McpError('INVALID_PARAMS', 'Refused by the handler')
  })
  return { router, log }
}

describeMatrix('middleware', {}, (setup, cell) => {
  verifies('middleware.order', 'runs around each request, outermost first', async () => {
    const log: string[] = []
    const named =
      (name: string): Middleware =>
      async (session, next) => {
        log.push(`${name} > ${session.call.method} ${session.call.name}`)
        const outcome = await next()
        log.push(`${name} < ${outcome.ok}`)
        return outcome
      }
    const { router } = routed(named('a'), named('b'))
    router.use(named('c'))
    const client = await setup(router)
    log.length = 0
    expect(await client.callTool('work')).toMatchObject({ content: [{ text: 'worked' }] })
    const call = 'tools/call work'
    expect(log).toEqual([`a > ${call}`, `b > ${call}`, `c > ${call}`, 'c < true', 'b < true', 'a < true'])
    log.length = 0
    await client.list('tools')
    expect(log[0]).toBe('a > tools/list undefined')
  })

  verifies('middleware.refuses', 'refuses a request by throwing, and the handler does not run', async () => {
    const { router, log } = routed((session, next) => {
      if (session.call.name === 'work') throw new McpError('INVALID_PARAMS', 'Too many', { data: { retryable: true } })
      return next()
    })
    const client = await setup(router)
    await expect(client.callTool('work')).rejects.toMatchObject({
      code: -32602,
      message: 'Too many',
      data: { retryable: true },
    })
    expect(log).toEqual([])
    expect(await client.list('tools')).toMatchObject({
      tools: [{ name: 'work' }, { name: 'boom' }, { name: 'refuse' }],
    })
  })

  verifies(['middleware.refuses', 'errors.masked'], 'that fails is masked and reported once', async () => {
    const error = new Error('secret')
    const { router } = routed((session, next) => {
      if (session.call.name === 'work') throw error
      return next()
    })
    const client = await setup(router)
    await expect(client.callTool('work')).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
    expect(setup.expectErrors(1)).toEqual([error])
  })

  verifies('middleware.outcome', 'sees what was thrown as an outcome, not as an exception', async () => {
    const outcomes: [boolean, unknown][] = []
    const { router } = routed(async (_session, next) => {
      const outcome = await next()
      outcomes.push([outcome.ok, outcome.ok ? 'result' : (outcome.error as Error).message])
      return outcome
    })
    const client = await setup(router)
    outcomes.length = 0
    await client.callTool('work')
    await expect(client.callTool('boom')).rejects.toMatchObject({ code: -32603 })
    await expect(client.callTool('refuse')).rejects.toMatchObject({ code: -32602, message: 'Refused by the handler' })
    expect(outcomes).toEqual([
      [true, 'result'],
      [false, 'secret'],
      [false, 'Refused by the handler'],
    ])
    setup.expectErrors(1)
  })

  verifies('middleware.next-twice', 'cannot run the handler twice', async () => {
    let second: Outcome | undefined
    const { router, log } = routed(async function retry(session, next) {
      const first = await next()
      if (session.call.name !== 'work') return first
      second = await next()
      return first
    })
    const client = await setup(router)
    expect(await client.callTool('work')).toMatchObject({ content: [{ text: 'worked' }] })
    expect(log).toEqual(['handler'])
    expect(second?.ok).toBe(false)
    expect(String(second !== undefined && !second.ok && second.error)).toMatch(/TypeError.*retry.*twice/)
  })

  verifies('middleware.returns', 'that does not return the outcome fails and is named', async () => {
    for (const value of [undefined, null, {}, 'ok', { ok: true, result: {} }]) {
      const { router } = routed(async function forgetful(session, next) {
        const outcome = await next()
        return session.call.name === 'work' ? (value as never) : outcome
      })
      const client = await setup(router)
      await expect(client.callTool('work')).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
      const [error] = setup.expectErrors(1)
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain('forgetful')
    }
  })

  verifies('middleware.assigns', 'hands values to the handler', async () => {
    const router = createRouter({ name: 'middleware', version: '1.0.0' })
    router.use((session, next) => {
      session.assign({ user: `ada ${session.protocolVersion}` })
      return next()
    })
    router.tool('whoami', {}, (_params, session) => (session.assigns as { user: string }).user)
    const client = await setup(router)
    expect(await client.callTool('whoami')).toMatchObject({ content: [{ text: `ada ${cell.version}` }] })
  })

  verifies('middleware.order', 'that was added later takes part from then on', async () => {
    const { router } = routed()
    const client = await setup(router)
    await client.callTool('work')
    let calls = 0
    router.use((_session, next) => {
      calls++
      return next()
    })
    await client.callTool('work')
    expect(calls).toBe(1)
  })
})

describeMatrix('trace context', {}, (setup) => {
  verifies('trace.context', 'is handed to the handler as it came', async () => {
    const seen: unknown[] = []
    const router = createRouter({ name: 'trace', version: '1.0.0' })
    router.tool('trace', {}, (_params, session) => {
      seen.push(session.trace)
      return 'ok'
    })
    const client = await setup(router)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const trace = { traceparent, tracestate: 'vendor=1', baggage: 'user=ada' }
    await client.callTool('trace', {}, { meta: { ...trace, other: 'x' } })
    await client.callTool('trace', {}, { meta: { traceparent, tracestate: 5, baggage: null } })
    await client.callTool('trace')
    expect(seen).toEqual([trace, { traceparent }, {}])
  })
})
