import {
  type Backplane,
  createRouter,
  createServer,
  forbidden,
  type LoggedEvent,
  type Logger,
  memoryBackplane,
} from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { initialize, legacy, modern, TARGETS, target } from '../http/_http.js'
import { as, beginAs, getStream, heldStream, openApp, sessionStream, usersApp } from '../sessions/_sessions.js'

interface Log {
  readonly logger: Logger
  readonly lines: (LoggedEvent & { readonly level: string })[]
  /** What was told under these names, without its sentence. */
  of(...events: string[]): object[]
}

function log(): Log {
  const lines: (LoggedEvent & { level: string })[] = []
  const at = (level: string) => (event: LoggedEvent) => void lines.push({ level, ...event })
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  const of = (...events: string[]) =>
    lines.filter(({ event }) => events.includes(event)).map(({ message: _sentence, ...rest }) => rest)
  return { logger, lines, of }
}

describe.each(TARGETS)('the operator’s log over %s', (kind) => {
  test('tells of sessions, by the beginning of their ids', async () => {
    let now = 1_000
    const { logger, lines, of } = log()
    const server = { logger, maxSessions: 2, sessionTtlMs: 1_000, clock: () => now }
    const on = await target(kind, usersApp().router, { server })
    const one = await beginAs(on, as('ana-TOKEN'))
    const two = await beginAs(on, as('ana'))
    const three = await beginAs(on, as('ana'), '2025-06-18')
    await on.send({ method: 'DELETE', headers: two.headers })
    now += 10_000
    expect((await on.send(legacy('ping', {}, { headers: three.headers }))).status).toBe(404)
    const [a, b, c] = [one, two, three].map(({ id }) => id.slice(0, 8))
    const ana = { principal: 'ana', version: '2025-11-25' }
    expect(of('session_opened', 'session_ended', 'session_evicted')).toEqual([
      { level: 'info', event: 'session_opened', session: a, ...ana },
      { level: 'info', event: 'session_opened', session: b, ...ana },
      { level: 'warn', event: 'session_evicted', session: a },
      { level: 'info', event: 'session_opened', session: c, ...ana, version: '2025-06-18' },
      { level: 'info', event: 'session_ended', session: b, how: 'terminated' },
      { level: 'info', event: 'session_ended', session: c, how: 'expired' },
    ])
    const text = JSON.stringify(lines)
    for (const secret of [one.id, two.id, three.id, 'TOKEN', 'Bearer']) expect(text).not.toContain(secret)
    for (const { message } of lines) expect(message).toMatch(/^[A-Z][^.]+$/)
  })

  test('tells of callers who are not let in, and not of what they sent', async () => {
    const { logger, lines, of } = log()
    const connect = () => forbidden('Upgrade, please')
    const router = createRouter({ name: 'shut', version: '1.0.0', connect, principal: () => null })
    const on = await target(kind, router, { server: { logger } })
    await on.send(modern('tools/call', { name: 'ping', arguments: { secret: 'S3' } }, { headers: as('S3') }))
    expect(of('connect_refused')).toMatchObject([{ level: 'info', status: 403, reason: 'forbidden' }])
    expect(JSON.stringify(lines)).not.toMatch(/S3|Upgrade/)
  })

  test('tells that the backplane is away once, and once that it is back', async () => {
    const { logger, of } = log()
    const shared = memoryBackplane()
    let away = false
    const backplane: Backplane = {
      ...shared,
      store: new Proxy(shared.store, {
        get: (store, name: keyof typeof shared.store) =>
          away ? () => Promise.reject(new RangeError('redis://user:pass@host')) : store[name].bind(store),
      }),
    }
    const on = await target(kind, openApp().router, { server: { backplane, logger } })
    const { headers } = await beginAs(on)
    away = true
    for (let n = 0; n < 3; n++) expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(503)
    away = false
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
    expect(of('backplane_failed', 'backplane_recovered')).toEqual([
      { level: 'error', event: 'backplane_failed', part: 'store', operation: 'get', error: 'RangeError' },
      { level: 'info', event: 'backplane_recovered', part: 'store', failures: 3 },
    ])
    on.errors.length = 0
  })

  test('that throws costs nothing but a report', async () => {
    const fails = () => {
      throw new Error('disk full')
    }
    const on = await target(kind, openApp().router, {
      server: { logger: { debug: fails, info: fails, warn: fails, error: fails } },
    })
    expect((await on.send(initialize())).status).toBe(200)
    expect(on.errors).toMatchObject([{ message: 'disk full' }])
    on.errors.length = 0
  })
})

describe('the operator’s log', () => {
  test('tells of streams, and of the end of the server', async () => {
    const { logger, of } = log()
    const app = openApp()
    const on = await target('node', app.router, { server: { logger } })
    const { id, headers } = await beginAs(on)
    await sessionStream(on, headers)
    await heldStream(on, app, { tag: 'a', headers })
    expect((await getStream(on, headers)).status).toBe(409)
    const stream = { level: 'debug', event: 'stream_opened', path: '/mcp', session: id.slice(0, 8) }
    const remote = expect.stringContaining('127.0.0.1') as string
    expect(of('stream_opened')).toEqual([
      { ...stream, method: 'GET', remote },
      { ...stream, method: 'POST', remote },
    ])
    await on.server.close({ drainMs: 10 })
    expect(of('drain_started', 'drain_ended')).toEqual([
      { level: 'info', event: 'drain_started', calls: 1, drainMs: 10 },
      { level: 'info', event: 'drain_ended', aborted: 1 },
    ])
  })

  test('takes console as it is, and refuses what is no logger', () => {
    createServer(openApp().router, { logger: console })
    for (const logger of [null, {}, { ...console, warn: undefined }, 'pino']) {
      expect(() => createServer(openApp().router, { logger: logger as never })).toThrow(
        /^createServer: logger must have a method '(debug|warn)', as pino, winston and console have$/,
      )
    }
  })
})
