import type { AsyncLocalStorage } from 'node:async_hooks'
import { channel, tracingChannel } from 'node:diagnostics_channel'
import {
  type Context,
  context,
  defaultTextMapGetter,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { createRouter, type DispatchEvent, type RequestEvent, type Router } from 'phantom-mcp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { eventually } from '../http/_eventually.js'
import { modern, target } from '../http/_http.js'

// An OpenTelemetry SDK that is attached from outside: the framework knows nothing of it.

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'
const TRACE = {
  traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
  tracestate: 'vendor=1',
  baggage: 'tenant=blue',
}

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracer = provider.getTracer('test')
const manager = new AsyncLocalStorageContextManager()
// The manager has no public way to bind its store to a channel.
const store = manager['_asyncLocalStorage'] as AsyncLocalStorage<Context>
const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
})

const spans = new WeakMap<object, Span>()

/** Ends the span of an event, with what became of it. */
function end(event: object): void {
  const span = spans.get(event)
  const { error } = event as { error?: unknown }
  if (error !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
  const { status } = event as Partial<RequestEvent>
  if (status !== undefined) span?.setAttribute('http.response.status_code', status)
  span?.end()
}

const START = {
  request: (event: RequestEvent): Context => {
    const span = tracer.startSpan(`${event.method} ${event.path}`, { kind: SpanKind.SERVER }, ROOT_CONTEXT)
    spans.set(event, span)
    return trace.setSpan(ROOT_CONTEXT, span)
  },
  dispatch: (event: DispatchEvent): Context => {
    const parent = propagator.extract(context.active(), event.trace, defaultTextMapGetter)
    const { session, method } = event
    const attributes = { 'mcp.method.name': method, 'mcp.protocol.version': session.protocolVersion }
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent)
    spans.set(event, span)
    return trace.setSpan(parent, span)
  },
}

const idle = { start: () => undefined, end: () => undefined, asyncStart: () => undefined, error: () => undefined }
const subscribers = { ...idle, asyncEnd: end }

beforeAll(() => void context.setGlobalContextManager(manager.enable()))
afterAll(() => context.disable())

beforeEach(() => {
  channel('tracing:phantom:dispatch:start').bindStore(store, (event) => START.dispatch(event as DispatchEvent))
  tracingChannel('phantom:dispatch').subscribe(subscribers)
})
afterEach(() => {
  channel('tracing:phantom:dispatch:start').unbindStore(store)
  channel('tracing:phantom:request:start').unbindStore(store)
  for (const name of ['dispatch', 'request']) tracingChannel(`phantom:${name}`).unsubscribe(subscribers)
  exporter.reset()
})

/** A tool that does something worth a span of its own. */
function tracedRouter(): Router {
  const router = createRouter({ name: 'traced', version: '1.0.0' })
  router.tool('query', {}, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return await tracer.startActiveSpan('query the database', async (span) => {
      await new Promise((resolve) => setImmediate(resolve))
      span.end()
      return propagation.getBaggage(context.active())?.getEntry('tenant')?.value ?? 'none'
    })
  })
  router.tool('broken', {}, () => {
    throw new Error('no database')
  })
  return router
}

const named = (name: string): ReadableSpan | undefined => exporter.getFinishedSpans().find((span) => span.name === name)

describeMatrix('an OpenTelemetry SDK from outside', {}, (setup, { version }) => {
  test("the client's trace goes on: its id is on the server's span, and on what the handler starts inside", async () => {
    const client = await setup(tracedRouter())
    exporter.reset()
    const result = await client.callTool('query', {}, { meta: TRACE })
    await eventually(() => exporter.getFinishedSpans()).toHaveLength(2)
    const [served, inside] = [named('tools/call'), named('query the database')]
    expect(served?.spanContext().traceId).toBe(TRACE_ID)
    expect(served?.parentSpanContext?.spanId).toBe(PARENT_ID)
    expect(served?.spanContext().traceState?.serialize()).toBe('vendor=1')
    expect(served?.attributes).toEqual({ 'mcp.method.name': 'tools/call', 'mcp.protocol.version': version })
    expect(inside?.spanContext().traceId).toBe(TRACE_ID)
    expect(inside?.parentSpanContext?.spanId).toBe(served?.spanContext().spanId)
    expect(result).toMatchObject({ content: [{ text: 'blue' }] })
    expect(trace.getActiveSpan()).toBeUndefined()
  })

  test('a call that fails is a span with an error', async () => {
    const client = await setup(tracedRouter())
    exporter.reset()
    await expect(client.callTool('broken', {}, { meta: TRACE })).rejects.toThrow('Internal error')
    await eventually(() => exporter.getFinishedSpans()).toHaveLength(1)
    const span = named('tools/call')
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'Error: no database' })
    expect(span?.spanContext().traceId).toBe(TRACE_ID)
    setup.expectErrors(1)
  })

  test('without a trace of the client, and with one that is none, the span begins a trace', async () => {
    const client = await setup(tracedRouter())
    exporter.reset()
    await client.list('tools')
    await client.request('tools/list', {}, { meta: { traceparent: '00-nonsense' } })
    await eventually(() => exporter.getFinishedSpans()).toHaveLength(2)
    const traces = exporter.getFinishedSpans().map((span) => span.spanContext().traceId)
    expect(new Set(traces).size).toBe(2)
    expect(exporter.getFinishedSpans().map((span) => span.parentSpanContext)).toEqual([undefined, undefined])
  })
})

describe('an OpenTelemetry SDK over HTTP', () => {
  test('two calls at once do not share their context', async () => {
    const on = await target('node', tracedRouter())
    const ids = ['1'.repeat(32), '2'.repeat(32), '3'.repeat(32)]
    const calls = ids.map((id, index) => {
      const meta = { traceparent: `00-${id}-${PARENT_ID}-01`, baggage: `tenant=t${index}` }
      return on.send(modern('tools/call', { name: 'query' }, { id: index, meta }))
    })
    const answers = await Promise.all(calls)
    expect(answers.map(({ text }) => /"text":"(t\d)"/.exec(text)?.[1])).toEqual(['t0', 't1', 't2'])
    await eventually(() => exporter.getFinishedSpans()).toHaveLength(6)
    const inside = exporter.getFinishedSpans().filter(({ name }) => name === 'query the database')
    expect(inside.map((span) => span.spanContext().traceId).sort()).toEqual(ids)
  })

  test('the span of the exchange is around that of the call, where the client has no trace', async () => {
    channel('tracing:phantom:request:start').bindStore(store, (event) => START.request(event as RequestEvent))
    tracingChannel('phantom:request').subscribe(subscribers)
    for (const kind of ['node', 'fetch'] as const) {
      exporter.reset()
      const on = await target(kind, tracedRouter())
      await on.send(modern('tools/call', { name: 'query' }))
      await eventually(() => exporter.getFinishedSpans()).toHaveLength(3)
      const [exchange, call, inside] = [named('POST /mcp'), named('tools/call'), named('query the database')]
      expect(exchange?.attributes).toEqual({ 'http.response.status_code': 200 })
      expect(call?.parentSpanContext?.spanId).toBe(exchange?.spanContext().spanId)
      expect(inside?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId)
    }
  })
})
