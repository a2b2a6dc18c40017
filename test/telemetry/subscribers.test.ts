import { channel, tracingChannel } from 'node:diagnostics_channel'
import { createRouter, createServer, type DispatchEvent, type Router } from 'phantom-mcp'
import { connect } from 'phantom-mcp/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../http/_eventually.js'
import { afterTest, initialize, modern, target } from '../http/_http.js'
import { as, beginAs, getStream, usersApp } from '../sessions/_sessions.js'
import { overOf, watchEvents, watchSpans } from './_telemetry.js'

const SPANS = ['request', 'dispatch', 'stream'].flatMap((name) =>
  ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((phase) => `tracing:phantom:${name}:${phase}`),
)
const EVENTS = ['connect', 'disconnect', 'terminate', 'exception'].map((name) => `phantom:${name}`)

function pingRouter(): Router {
  const router = createRouter({ name: 'subscribers', version: '1.0.0' })
  router.tool('ping', {}, () => 'pong')
  router.tool('broken', {}, () => {
    throw new Error('secret')
  })
  return router
}

describe('without subscribers', () => {
  test('nothing is published on any channel', async () => {
    const channels = [...SPANS, ...EVENTS].map((name) => channel(name))
    expect(channels.filter(({ hasSubscribers }) => hasSubscribers)).toEqual([])
    const publish = channels.map((one) => vi.spyOn(one, 'publish'))
    const run = channels.map((one) => vi.spyOn(one, 'runStores'))
    afterTest(() => {
      for (const spy of [...publish, ...run]) spy.mockRestore()
    })
    const { router } = usersApp({ terminate: () => ({ ok: true }) })
    router.tool('broken', {}, () => {
      throw new Error('secret')
    })
    const on = await target('node', router)
    const { headers } = await beginAs(on, as('ana'))
    const stream = await getStream(on, headers)
    await on.send(modern('tools/call', { name: 'ping' }, { headers: { ...as('bo') } }))
    await on.send(modern('tools/call', { name: 'broken' }, { headers: { ...as('bo') } }))
    await on.send({ method: 'DELETE', headers })
    await eventually(() => stream.ended).toBe(true)
    expect(on.errors).toHaveLength(1)
    for (const spy of [...publish, ...run]) expect(spy).not.toHaveBeenCalled()
  })

  test('one that comes while the server runs gets what begins from then on, and nothing once it has left', async () => {
    const router = pingRouter()
    let release: (text: string) => void = () => undefined
    router.tool('wait', {}, () => new Promise<string>((resolve) => (release = resolve)))
    const client = await connect(router)
    await client.callTool('ping')
    const waiting = client.callTool('wait')
    const told: string[] = []
    const tell = (phase: string) => (event: object) => void told.push(`${(event as DispatchEvent).method} ${phase}`)
    const subscribers = {
      start: tell('start'),
      end: tell('end'),
      asyncStart: tell('asyncStart'),
      asyncEnd: tell('asyncEnd'),
      error: tell('error'),
    }
    const watched = tracingChannel('phantom:dispatch')
    watched.subscribe(subscribers)
    // Its beginning was not told, and neither is its end.
    release('done')
    await waiting
    await client.list('tools')
    expect(told).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'].map((phase) => `tools/list ${phase}`))
    watched.unsubscribe(subscribers)
    await client.list('tools')
    expect(told).toHaveLength(4)
  })

  test('one that leaves in the middle of a call costs nothing', async () => {
    const router = pingRouter()
    let release: (text: string) => void = () => undefined
    router.tool('wait', {}, () => new Promise<string>((resolve) => (release = resolve)))
    const client = await connect(router)
    const started: unknown[] = []
    const subscriber = (event: unknown): void => void started.push(event)
    const start = channel('tracing:phantom:dispatch:start')
    start.subscribe(subscriber)
    const waiting = client.callTool('wait')
    start.unsubscribe(subscriber)
    release('done')
    expect(await waiting).toMatchObject({ content: [{ text: 'done' }] })
    expect(started).toHaveLength(1)
  })

  test('a subscriber of the end alone is one', async () => {
    const ended: DispatchEvent[] = []
    const subscriber = (event: unknown): void => void ended.push(event as DispatchEvent)
    const end = channel('tracing:phantom:dispatch:asyncEnd')
    end.subscribe(subscriber)
    afterTest(() => void end.unsubscribe(subscriber))
    const client = await connect(pingRouter())
    await client.callTool('ping')
    expect(ended.map(({ method }) => method)).toEqual(['tools/call'])
  })

  test('two servers of one process are told on the same channels', async () => {
    const told = watchSpans<DispatchEvent>('dispatch')
    const [one, other] = [await connect(createServer(pingRouter())), await connect(createServer(pingRouter()))]
    await one.callTool('ping')
    await other.list('tools')
    expect(overOf(told).map(({ method }) => method)).toEqual(['tools/call', 'tools/list'])
  })
})

// Node takes what a subscriber throws out of the way of the publisher, and raises it as an uncaught exception in the next tick.
describe('a subscriber that throws', () => {
  const uncaught: unknown[] = []
  const onUncaught = (error: unknown): void => void uncaught.push(error)
  let others: NodeJS.UncaughtExceptionListener[] = []

  beforeEach(() => {
    uncaught.length = 0
    others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', onUncaught)
  })
  afterEach(() => {
    process.off('uncaughtException', onUncaught)
    for (const listener of others) process.on('uncaughtException', listener)
  })

  function sabotage(name: string): void {
    const subscriber = (): never => {
      throw new Error(`subscriber of ${name}`)
    }
    const watched = channel(name)
    watched.subscribe(subscriber)
    afterTest(() => void watched.unsubscribe(subscriber))
  }

  test.each(['start', 'end', 'asyncStart', 'asyncEnd'])('on %s of any span breaks no request', async (phase) => {
    for (const name of ['request', 'dispatch', 'stream']) sabotage(`tracing:phantom:${name}:${phase}`)
    const on = await target('node', pingRouter())
    const answer = await on.send(modern('tools/call', { name: 'ping' }))
    expect([answer.status, answer.message?.['error']]).toEqual([200, undefined])
    const { headers } = await beginAs(on)
    const stream = await getStream(on, headers)
    await on.send({ method: 'DELETE', headers })
    await eventually(() => stream.ended).toBe(true)
    await eventually(() => uncaught.length).toBeGreaterThan(0)
    expect(on.errors).toEqual([])
  })

  test('on error breaks no answer', async () => {
    sabotage('tracing:phantom:dispatch:error')
    const on = await target('node', pingRouter())
    const answer = await on.send(modern('tools/call', { name: 'broken' }))
    expect([answer.status, answer.message?.['error']]).toEqual([200, { code: -32603, message: 'Internal error' }])
    await eventually(() => uncaught).toEqual([new Error('subscriber of tracing:phantom:dispatch:error')])
    expect(on.errors).toEqual([new Error('secret')])
  })

  test('on an event breaks no request, and others are told', async () => {
    for (const name of EVENTS) sabotage(name)
    const events = ['connect', 'disconnect', 'terminate', 'exception'] as const
    const told = events.map((name) => watchEvents(name))
    const { router } = usersApp({ terminate: () => ({ ok: true }) })
    router.tool('broken', {}, () => {
      throw new Error('secret')
    })
    const on = await target('node', router)
    const { headers } = await beginAs(on, as('ana'))
    const answer = await on.send(modern('tools/call', { name: 'broken' }, { headers: { ...as('bo') } }))
    expect(answer.message?.['error']).toEqual({ code: -32603, message: 'Internal error' })
    expect((await on.send({ method: 'DELETE', headers })).status).toBe(200)
    await eventually(() => told.map(({ length }) => length)).toEqual([4, 4, 1, 1])
    expect(new Set(uncaught.map(String))).toEqual(new Set(EVENTS.map((name) => `Error: subscriber of ${name}`)))
  })

  test('a store that cannot be made breaks no request', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks')
    const store = new AsyncLocalStorage<string>()
    const start = channel('tracing:phantom:dispatch:start')
    start.bindStore(store, () => {
      throw new Error('no store')
    })
    afterTest(() => void start.unbindStore(store))
    const on = await target('node', pingRouter())
    expect((await on.send(initialize())).status).toBe(200)
    expect((await on.send(modern('tools/call', { name: 'ping' }))).status).toBe(200)
    await eventually(() => uncaught).toHaveLength(2)
  })
})
