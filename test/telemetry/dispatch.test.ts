import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, tracingChannel } from 'node:diagnostics_channel'
import { createRouter, type DispatchEvent, field, McpError, type Router, Tool } from 'phantom-mcp'
import { connect, RpcError } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { gate } from '../_messages.js'
import { describeMatrix } from '../_setup.js'
import { eventually } from '../http/_eventually.js'
import { afterTest } from '../http/_http.js'
import { overOf, phasesOf, startsOf, watchSpans } from './_telemetry.js'

const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
  baggage: 'tenant=blue',
}

function sampleRouter(): Router {
  const router = createRouter({ name: 'watched', version: '1.0.0' })
  router.tool('echo', { input: { text: field.string({ required: true }) } }, ({ text }) => text)
  router.tool('refused', {}, () => {
    throw new McpError('INVALID_PARAMS', 'Not today', { data: { reason: 'today' } })
  })
  router.tool('broken', {}, async () => {
    await Promise.resolve()
    throw new Error('secret')
  })
  router.tool('failing', {}, () => Tool.error('told to the model'))
  router.resource('notes://{id}', { name: 'note' }, ({ id }) => `note ${id}`)
  router.prompt('review', {}, () => 'Review it')
  return router
}

describeMatrix('phantom:dispatch', {}, (setup, { version, http, sessions }) => {
  test('surrounds a call: session, method, params and trace from the start, the result at the end', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const client = await setup(sampleRouter())
    await client.callTool('echo', { text: 'hello' }, { meta: TRACE })
    const [start, ...others] = startsOf(told, 'tools/call')
    expect(others).toEqual([])
    const event = start?.event
    await eventually(() => phasesOf(told, event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    expect(Object.keys(start?.members ?? {}).sort()).toEqual(['method', 'params', 'session', 'trace'])
    expect(event).toMatchObject({
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'hello' }, _meta: TRACE },
      trace: TRACE,
      result: { content: [{ type: 'text', text: 'hello' }] },
    })
    expect(event?.error).toBeUndefined()
    const { session } = event as DispatchEvent
    expect(session).toMatchObject({ protocolVersion: version, principal: null, stateless: !sessions, trace: TRACE })
    expect(session.call).toMatchObject({ method: 'tools/call', name: 'echo' })
    expect(typeof session.id).toBe(http && sessions ? 'string' : 'undefined')
  })

  test('has an error where the call has one, once, and what was thrown as it was', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const client = await setup(sampleRouter())
    await expect(client.callTool('refused')).rejects.toThrow('Not today')
    await expect(client.callTool('broken')).rejects.toThrow('Internal error')
    const [refused, broken] = startsOf(told, 'tools/call').map(({ event }) => event)
    for (const event of [refused, broken])
      await eventually(() => phasesOf(told, event)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
    expect(refused?.error).toBeInstanceOf(McpError)
    expect(refused).toMatchObject({ error: { code: 'INVALID_PARAMS', data: { reason: 'today' } } })
    expect(broken).toMatchObject({ error: { message: 'secret' } })
    for (const event of [refused, broken]) expect(event?.result).toBeUndefined()
    setup.expectErrors(1)
  })

  test('an error for the model is a result', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const client = await setup(sampleRouter())
    await client.callTool('failing')
    await eventually(() => overOf(told).at(-1)).toMatchObject({ method: 'tools/call', result: { isError: true } })
  })

  test('is told of every method, and of an empty trace where the client has none', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const client = await setup(sampleRouter())
    await client.list('tools')
    await client.list('resources/templates')
    await client.readResource('notes://1')
    await client.getPrompt('review')
    const methods = told.filter(({ phase }) => phase === 'start').map(({ event }) => event.method)
    expect(methods).toEqual([
      ...(sessions ? ['initialize'] : []),
      'tools/list',
      'resources/templates/list',
      'resources/read',
      'prompts/get',
    ])
    for (const { event } of told) expect(event.trace).toEqual({})
  })

  test('a method that does not exist, and a notification, are none', async () => {
    const client = await setup(sampleRouter())
    const told = watchSpans<DispatchEvent>('dispatch')
    await expect(client.request('tools/unknown')).rejects.toBeInstanceOf(RpcError)
    await client.notify('notifications/cancelled', { requestId: 'none' })
    await client.list('tools')
    expect(told.filter(({ phase }) => phase === 'start').map(({ event }) => event.method)).toEqual(['tools/list'])
  })

  test('middleware runs inside of it', async () => {
    const store = new AsyncLocalStorage<string>()
    const start = channel('tracing:phantom:dispatch:start')
    start.bindStore(store, (event) => (event as DispatchEvent).method)
    afterTest(() => void start.unbindStore(store))
    const router = sampleRouter()
    const seen: unknown[] = []
    router.use(async (_session, next) => {
      seen.push(store.getStore())
      await new Promise((resolve) => setImmediate(resolve))
      const outcome = await next()
      seen.push(store.getStore())
      return outcome
    })
    router.tool('store', {}, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return store.getStore() ?? 'nothing'
    })
    const client = await setup(router)
    seen.length = 0
    expect(await client.callTool('store')).toMatchObject({ content: [{ text: 'tools/call' }] })
    expect(seen).toEqual(['tools/call', 'tools/call'])
    expect(store.getStore()).toBeUndefined()
  })
})

describe('phantom:dispatch', () => {
  test('start comes before the handler, the end of the synchronous part before its result', async () => {
    const order: string[] = []
    const router = createRouter({ name: 'order', version: '1.0.0' })
    router.tool('slow', {}, async () => {
      order.push('handler')
      await Promise.resolve()
      order.push('handled')
      return 'done'
    })
    const watched = tracingChannel('phantom:dispatch')
    const subscribers = {
      start: () => void order.push('start'),
      end: () => void order.push('end'),
      asyncStart: () => void order.push('asyncStart'),
      asyncEnd: () => void order.push('asyncEnd'),
      error: () => void order.push('error'),
    }
    watched.subscribe(subscribers)
    afterTest(() => void watched.unsubscribe(subscribers))
    const client = await connect(router)
    await client.callTool('slow')
    order.push('answer')
    expect(order).toEqual(['start', 'handler', 'end', 'handled', 'asyncStart', 'asyncEnd', 'answer'])
  })

  test('of two calls at once each has an object of its own', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const router = createRouter({ name: 'two', version: '1.0.0' })
    const first = gate()
    router.tool('wait', {}, async () => {
      await first.promise
      return 'waited'
    })
    router.tool('quick', {}, () => 'quick')
    const client = await connect(router)
    const waiting = client.callTool('wait')
    await client.callTool('quick')
    expect(overOf(told).map(({ params }) => params['name'])).toEqual(['quick'])
    first.open()
    await waiting
    expect(overOf(told).map(({ params }) => params['name'])).toEqual(['quick', 'wait'])
    expect(new Set(told.map(({ event }) => event)).size).toBe(2)
  })

  test('a cancelled call is over when its handler is', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const router = createRouter({ name: 'cancelled', version: '1.0.0' })
    const begun = gate()
    const left = gate()
    router.tool('wait', {}, async (_params, session) => {
      begun.open()
      await left.promise
      throw session.signal.reason
    })
    const client = await connect(router)
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    await begun.promise
    controller.abort()
    await expect(call).rejects.toThrow('cancelled')
    expect(overOf(told)).toEqual([])
    left.open()
    await eventually(() => overOf(told)).toHaveLength(1)
    expect(overOf(told)[0]).toMatchObject({ error: { name: 'AbortError' } })
  })

  test('middleware that refuses makes the error, and one that answers makes the result', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const router = sampleRouter()
    router.use((session, next) => {
      if (session.call.name === 'echo') throw new McpError('INVALID_REQUEST', 'No echoes')
      return next()
    })
    const client = await connect(router)
    await expect(client.callTool('echo', { text: 'x' })).rejects.toThrow('No echoes')
    expect(overOf(told)[0]).toMatchObject({ error: { code: 'INVALID_REQUEST', message: 'No echoes' } })
  })

  test('trace holds texts only', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const client = await connect(sampleRouter())
    await client.callTool(
      'echo',
      { text: 'x' },
      { meta: { traceparent: 7, tracestate: ['a'], baggage: 'a=b', other: 'x' } },
    )
    expect(overOf(told)[0]?.trace).toEqual({ baggage: 'a=b' })
  })
})
