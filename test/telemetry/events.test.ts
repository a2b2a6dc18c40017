import {
  type CallerEvent,
  createRouter,
  createServer,
  type ExceptionEvent,
  McpError,
  type Router,
  type RouterOptions,
  type TerminateEvent,
  Tool,
  unauthorized,
} from 'phantom-mcp'
import { connect } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { StdioWire } from '../_wires.js'
import { eventually } from '../http/_eventually.js'
import { legacy, modern, TARGETS, target } from '../http/_http.js'
import { type Assigns, as, beginAs, getStream, usersApp } from '../sessions/_sessions.js'
import { watchEvents } from './_telemetry.js'

const principalOf = ({ session }: CallerEvent | TerminateEvent): unknown =>
  (session as unknown as { principal: string | null }).principal

/** A server that everyone may call, with callbacks. */
function callbacksRouter(options: Partial<RouterOptions<object>>): Router {
  const router = createRouter({ name: 'callbacks', version: '1.0.0', ...options })
  router.tool('ping', {}, () => 'pong')
  return router
}

describe.each(TARGETS)('phantom:connect and phantom:disconnect over %s', (kind) => {
  test('each exchange has both, with its caller and its request', async () => {
    const connected = watchEvents<CallerEvent>('connect')
    const gone = watchEvents<CallerEvent>('disconnect')
    const on = await target(kind, usersApp().router)
    await on.send({ ...modern('tools/list', {}, { headers: { ...as('ana') } }), path: '/mcp?workspace=7' })
    await on.send(modern('tools/list', {}, { headers: { ...as('bo') } }))
    await eventually(() => gone.map(principalOf)).toEqual(['ana', 'bo'])
    expect(connected.map(principalOf)).toEqual(['ana', 'bo'])
    const [first] = connected
    expect(first?.session.assigns).toEqual({ user: { id: 'ana' } })
    expect(first?.request?.headers.get('Authorization')).toBe('Bearer ana')
    expect(first?.request?.query.get('workspace')).toBe('7')
    expect(first?.request?.remote).toBe(kind === 'node' ? '127.0.0.1' : undefined)
    expect(gone.map(({ session }) => session)).toEqual(connected.map(({ session }) => session))
  })

  test('a caller that is not let in has none', async () => {
    const connected = watchEvents<CallerEvent>('connect')
    const gone = watchEvents<CallerEvent>('disconnect')
    const on = await target(kind, usersApp().router)
    expect((await on.send(modern('tools/list'))).status).toBe(401)
    expect((await on.send(modern('tools/list', {}, { headers: { ...as('ana') } }))).status).toBe(200)
    await eventually(() => gone.map(principalOf)).toEqual(['ana'])
    expect(connected.map(principalOf)).toEqual(['ana'])
  })

  test('disconnect has the session that the callback returned', async () => {
    const gone = watchEvents<CallerEvent>('disconnect')
    const { router } = usersApp({
      disconnect: async (session) => {
        await Promise.resolve()
        return session.assign({ left: session.assigns.user.id })
      },
    })
    const on = await target(kind, router)
    await on.send(modern('tools/list', {}, { headers: { ...as('ana') } }))
    await eventually(() => gone.map(({ session }) => session.assigns)).toEqual([{ user: { id: 'ana' }, left: 'ana' }])
  })

  test.each([undefined, null, 'text', {}, 7])(
    'disconnect has the session as it was when the callback returns %s',
    async (returned) => {
      const gone = watchEvents<CallerEvent>('disconnect')
      const { router } = usersApp({ disconnect: () => returned })
      const on = await target(kind, router)
      await on.send(modern('tools/list', {}, { headers: { ...as('ana') } }))
      await eventually(() => gone.map(({ session }) => session.assigns)).toEqual([{ user: { id: 'ana' } }])
    },
  )

  test('disconnect that fails is told of all the same, and reported once', async () => {
    const gone = watchEvents<CallerEvent>('disconnect')
    const exceptions = watchEvents<ExceptionEvent>('exception')
    const { router } = usersApp({
      disconnect: () => {
        throw new Error('disconnect is broken')
      },
    })
    const on = await target(kind, router)
    await on.send(modern('tools/list', {}, { headers: { ...as('ana') } }))
    await eventually(() => gone.map(principalOf)).toEqual(['ana'])
    expect(on.errors).toEqual([new Error('disconnect is broken')])
    expect(exceptions.map(({ error }) => error)).toEqual(on.errors)
  })

  test('without callbacks that ask for callers there are none', async () => {
    const connected = watchEvents<CallerEvent>('connect')
    const gone = watchEvents<CallerEvent>('disconnect')
    const on = await target(kind, callbacksRouter({}))
    await on.send(modern('tools/list'))
    await on.send(modern('tools/list'))
    expect([...connected, ...gone]).toEqual([])
  })
})

describe('phantom:disconnect of a stream', () => {
  test('comes when the stream is over, not before', async () => {
    const gone = watchEvents<CallerEvent>('disconnect')
    const on = await target('node', usersApp().router)
    const { headers } = await beginAs(on, as('ana'))
    await eventually(() => gone).toHaveLength(2)
    const stream = await getStream(on, headers)
    await on.send(modern('tools/list', {}, { headers: { ...as('bo') } }))
    await eventually(() => gone.map(principalOf)).toEqual(['ana', 'ana', 'bo'])
    stream.drop()
    await eventually(() => gone.map(principalOf)).toEqual(['ana', 'ana', 'bo', 'ana'])
  })
})

describe.each(TARGETS)('phantom:terminate over %s', (kind) => {
  test.each([
    [{ ok: true }, true, 200],
    [{ ok: false }, false, 204],
    [undefined, false, 204],
  ])('has ok as the callback said it: %o', async (returned, ok, status) => {
    const ended = watchEvents<TerminateEvent>('terminate')
    const on = await target(kind, usersApp({ terminate: async () => returned }).router)
    const { headers, id } = await beginAs(on, as('ana'))
    expect((await on.send({ method: 'DELETE', headers })).status).toBe(status)
    expect(ended).toHaveLength(1)
    expect(ended[0]?.ok).toBe(ok)
    expect(ended.map(principalOf)).toEqual(['ana'])
    expect(ended[0]?.session.id).toBe(id)
  })

  test('a callback that fails is no ok, and reported once', async () => {
    const ended = watchEvents<TerminateEvent>('terminate')
    const exceptions = watchEvents<ExceptionEvent>('exception')
    const { router } = usersApp({ terminate: () => Promise.reject(new Error('terminate is broken')) })
    const on = await target(kind, router)
    const { headers } = await beginAs(on, as('ana'))
    expect((await on.send({ method: 'DELETE', headers })).status).toBe(204)
    expect(ended.map(({ ok }) => ok)).toEqual([false])
    expect(exceptions.map(({ error }) => error)).toEqual([new Error('terminate is broken')])
    expect(on.errors).toHaveLength(1)
  })

  test('without a callback, and without connect, a session that ends is told of, too', async () => {
    const ended = watchEvents<TerminateEvent>('terminate')
    const on = await target(kind, callbacksRouter({}))
    const { headers, id } = await beginAs(on)
    await on.send({ method: 'DELETE', headers })
    expect(ended.map(({ ok, session }) => [ok, session.id])).toEqual([[false, id]])
  })

  test('of a session that is unknown, or of somebody else, there is none', async () => {
    const ended = watchEvents<TerminateEvent>('terminate')
    const on = await target(kind, usersApp().router)
    const { headers } = await beginAs(on, as('ana'))
    expect((await on.send({ method: 'DELETE', headers: { ...headers, ...as('bo') } })).status).toBe(404)
    expect((await on.send({ method: 'DELETE', headers: { ...as('bo'), 'mcp-session-id': 'none' } })).status).toBe(404)
    expect(ended).toEqual([])
  })
})

describe('on stdio', () => {
  test('connect at the beginning, disconnect and terminate at the end, once each', async () => {
    const order: string[] = []
    const connected = watchEvents<CallerEvent>('connect')
    const gone = watchEvents<CallerEvent>('disconnect')
    const ended = watchEvents<TerminateEvent>('terminate')
    const router = createRouter<Assigns>({
      name: 'stdio',
      version: '1.0.0',
      connect: (session) => session.assign({ user: { id: 'ana' } }),
      principal: (session) => session.assigns.user.id,
      disconnect: (session) => session.assign({ left: true }),
      terminate: () => {
        order.push('terminate')
        return { ok: true }
      },
    })
    router.tool('ping', {}, () => 'pong')
    const wire = new StdioWire(createServer(router))
    await wire.open(() => undefined)
    await wire.ask({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await wire.ask({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'ping' } })
    expect(connected.map(principalOf)).toEqual(['ana'])
    expect(connected[0]?.request?.headers.get('authorization')).toBeNull()
    expect([...gone, ...ended, ...order]).toEqual([])
    await wire.close()
    await eventually(() => gone.map(({ session }) => session.assigns)).toEqual([{ user: { id: 'ana' }, left: true }])
    expect(ended.map(({ ok }) => ok)).toEqual([true])
    expect(ended.map(principalOf)).toEqual(['ana'])
    expect(order).toEqual(['terminate'])
  })
})

describeMatrix('phantom:exception', {}, (setup) => {
  test('is told once for each error that reaches onError, with the session of its call', async () => {
    const told = watchEvents<ExceptionEvent>('exception')
    const router = createRouter({ name: 'broken', version: '1.0.0' })
    router.tool('broken', {}, () => {
      throw new Error('secret')
    })
    router.tool('caused', {}, () => {
      throw new McpError('INTERNAL_ERROR', 'The database is away', { cause: new Error('ECONNREFUSED') })
    })
    router.tool('refused', {}, () => {
      throw new McpError('INVALID_PARAMS', 'Not today')
    })
    router.tool('failing', {}, () => Tool.error('told to the model'))
    const client = await setup(router)
    for (const name of ['broken', 'caused', 'refused']) await expect(client.callTool(name)).rejects.toThrow()
    await client.callTool('failing')
    expect(told.map(({ error }) => error)).toEqual(setup.expectErrors(2))
    expect(told.map(({ session }) => session?.call.name)).toEqual(['broken', 'caused'])
  })
})

describe('phantom:exception', () => {
  test('has no session where there was no call', async () => {
    const told = watchEvents<ExceptionEvent>('exception')
    const router = createRouter({
      name: 'closed',
      version: '1.0.0',
      connect: ({ id }, { headers }) => {
        if (headers.get('authorization') === null) return unauthorized()
        throw new Error(`connect is broken ${id ?? ''}`.trim())
      },
      principal: () => null,
    })
    const on = await target('node', router as unknown as Router)
    expect((await on.send(modern('tools/list'))).status).toBe(401)
    expect((await on.send(modern('tools/list', {}, { headers: { ...as('ana') } }))).status).toBe(500)
    expect(told).toEqual([{ error: new Error('connect is broken'), session: undefined }])
    expect(on.errors).toEqual(told.map(({ error }) => error))
  })

  test('is told although onError itself fails', async () => {
    const told = watchEvents<ExceptionEvent>('exception')
    const router = createRouter({ name: 'broken', version: '1.0.0' })
    router.tool('broken', {}, () => {
      throw new Error('secret')
    })
    const printed: unknown[] = []
    const { error } = console
    console.error = (...all: unknown[]) => void printed.push(...all)
    try {
      const onError = (): never => {
        throw new Error('onError is broken')
      }
      const client = await connect(createServer(router, { onError }))
      await expect(client.callTool('broken')).rejects.toThrow('Internal error')
    } finally {
      console.error = error
    }
    expect(told.map((event) => event.error)).toEqual([new Error('secret')])
    expect(printed).toEqual([new Error('onError is broken')])
  })

  test('of a batch each call has its own', async () => {
    const told = watchEvents<ExceptionEvent>('exception')
    const router = createRouter({ name: 'broken', version: '1.0.0' })
    router.tool('broken', {}, () => {
      throw new Error('secret')
    })
    const on = await target('node', router)
    const { headers } = await beginAs(on, {}, '2025-03-26')
    const [first, second] = [1, 2].map((id) =>
      JSON.parse(String(legacy('tools/call', { name: 'broken' }, { id }).body)),
    )
    await on.send({ ...legacy('ping', {}, { headers }), body: JSON.stringify([first, second]) })
    expect(told.map(({ session }) => session?.call.id)).toEqual([1, 2])
    expect(on.errors).toHaveLength(2)
  })
})
