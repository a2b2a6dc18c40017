import { type ChildProcess, spawn } from 'node:child_process'
import { createRouter, memoryBackplane, Resource, withCache } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { afterEach, describe, expect, test } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import {
  type Answer,
  codeOf,
  dataOf,
  initialize,
  type Json,
  legacy,
  modern,
  type Sent,
  TARGETS,
  target,
  textBlockOf,
} from '../http/_http.js'
import { bundled } from '../stdio/_child.js'
import {
  beginAs,
  getStream,
  heldStream,
  listenersOf,
  listenStream,
  openApp,
  pipe,
  sessionStream,
  streamOf,
} from './_sessions.js'

const RETRYABLE = { reason: 'shutting_down', retryable: true }
const refusalOf = (answer: Answer): unknown[] => [answer.status, codeOf(answer), dataOf(answer)]

describe.each(TARGETS)('server.close over %s', (kind) => {
  test('refuses new calls, and says that they may be tried again', async () => {
    const app = openApp()
    const on = await target(kind, app.router)
    const { headers } = await beginAs(on)
    const running = on.send(modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
    const { release } = await app.held('a')
    expect(on.server.ready).toBe(true)
    const closed = on.server.close({ drainMs: 5_000 })
    expect(on.server.ready).toBe(false)
    const calls: [string, Sent][] = [
      ['a call', modern('tools/call', { name: 'ping' })],
      ['a list', modern('tools/list')],
      ['discover', modern('server/discover')],
      ['listen', modern('subscriptions/listen', { notifications: {} })],
      ['a call of a session', legacy('tools/call', { name: 'ping' }, { headers })],
      ['ping of a session', legacy('ping', {}, { headers })],
      ['initialize', initialize()],
    ]
    for (const [what, sent] of calls) {
      const answer = await on.send(sent)
      expect([what, ...refusalOf(answer)]).toEqual([what, 503, -32603, RETRYABLE])
      expect(Number(answer.header('retry-after'))).toBeGreaterThan(0)
      expect(answer.message?.['id']).toBe(1)
      expect(answer.header('mcp-session-id')).toBeUndefined()
    }
    release('in time')
    expect(textBlockOf(await running)).toBe('in time')
    await closed
    expect(refusalOf(await on.send(modern('tools/list')))).toEqual([503, -32603, RETRYABLE])
    expect(on.errors).toEqual([])
  })

  test('lets running calls finish, of both eras, and waits for no longer', async () => {
    const app = openApp()
    const on = await target(kind, app.router)
    const { headers } = await beginAs(on)
    const one = on.send(modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
    const two = on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'b' } }, { headers }))
    const held = [await app.held('a'), await app.held('b')]
    let over = false
    const closed = on.server.close({ drainMs: 60_000 }).then(() => {
      over = true
    })
    held[0]?.release()
    expect(textBlockOf(await one)).toBe('a')
    expect(over).toBe(false)
    held[1]?.release()
    expect(textBlockOf(await two)).toBe('b')
    await closed
    expect([app.aborted, app.finished]).toEqual([[], ['a', 'b']])
  })

  test('aborts what is left after drainMs: the handler by its signal, the client by an error', async () => {
    const app = openApp()
    const on = await target(kind, app.router)
    const { headers } = await beginAs(on)
    const calls = [
      on.send(modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }, { id: 'x' })),
      on.send(legacy('tools/call', { name: 'hold', arguments: { tag: 'b' } }, { headers, id: 'y' })),
    ]
    await Promise.all([app.held('a'), app.held('b')])
    await on.server.close({ drainMs: 20 })
    const answers = await Promise.all(calls)
    expect(answers.map(refusalOf)).toEqual([
      [503, -32603, RETRYABLE],
      [503, -32603, RETRYABLE],
    ])
    expect(answers.map(({ message }) => message?.['id'])).toEqual(['x', 'y'])
    expect(app.aborted.sort()).toEqual(['a', 'b'])
    expect(on.errors).toEqual([])
  })

  test('a handler that ignores its signal holds nothing up', async () => {
    const router = createRouter({ name: 'x', version: '1' })
    const entered = gate()
    router.tool('deaf', {}, () => {
      entered.open()
      return new Promise<string>(() => undefined)
    })
    const on = await target(kind, router)
    const call = on.send(modern('tools/call', { name: 'deaf' }))
    await entered.promise
    await on.server.close({ drainMs: 10 })
    expect(refusalOf(await call)).toEqual([503, -32603, RETRYABLE])
  })

  test('takes drainMs of the server, and does it once', async () => {
    const app = openApp()
    const on = await target(kind, app.router, { server: { drainMs: 10 } })
    const call = on.send(modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
    await app.held('a')
    await Promise.all([on.server.close(), on.server.close({ drainMs: 60_000 }), on.server.close()])
    expect(refusalOf(await call)).toEqual([503, -32603, RETRYABLE])
  })

  test('ready and health', async () => {
    const app = openApp()
    const on = await target(kind, app.router, { http: { healthPath: '/healthz', readyPath: '/readyz' } })
    const probe = async (): Promise<unknown[]> => {
      const paths = ['/healthz', '/readyz', '/readyz?x=1']
      return await Promise.all(paths.map(async (path) => (await on.send({ method: 'GET', path })).status))
    }
    expect(await probe()).toEqual([200, 200, 200])
    expect((await on.send({ method: 'HEAD', path: '/readyz' })).status).toBe(200)
    const call = on.send(modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
    const { release } = await app.held('a')
    const closed = on.server.close({ drainMs: 5_000 })
    expect(await probe()).toEqual([200, 503, 503])
    release()
    await Promise.all([closed, call])
    expect(await probe()).toEqual([200, 503, 503])
  })

  test('sessions stay in the backplane', async () => {
    const backplane = memoryBackplane()
    const first = await target(kind, openApp().router, { server: { backplane } })
    const { headers } = await beginAs(first)
    await first.server.close()
    const second = await target(kind, openApp().router, { server: { backplane } })
    expect((await second.send(legacy('ping', {}, { headers }))).status).toBe(200)
  })
})

describe('server.close and open streams', () => {
  test('a call whose stream is open gets the error in band', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on)
    const { stream } = await heldStream(on, app, { tag: 'a', headers })
    await on.server.close({ drainMs: 10 })
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.messages.at(-1)).toMatchObject({ id: 1, error: { code: -32603, data: RETRYABLE } })
  })

  test('listen streams end with their result at once, the streams of sessions with retry', async () => {
    const app = openApp()
    const on = await target('node', app.router, { http: { retryMs: 1234 } })
    const { headers } = await beginAs(on)
    const own = await sessionStream(on, headers)
    const listening = await listenStream(on, { toolsListChanged: true }, { id: 5 })
    const call = on.send(modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
    const { release } = await app.held('a')
    const closed = on.server.close({ drainMs: 60_000 })
    await expect.poll(() => [own.ended, listening.ended], PATIENT).toEqual([true, true])
    expect(listening.messages.at(-1)).toMatchObject({ id: 5, result: { resultType: 'complete' } })
    expect(own.events.at(-1)).toMatchObject({ retry: '1234', message: undefined })
    release()
    await Promise.all([closed, call])
    expect(listenersOf(on)).toBe(0)
  })

  test('a listen that is still being authorised does not hold it up', async () => {
    const authorised = gate()
    const asked = gate()
    const { router } = openApp({
      authorizeResourceSubscriptions: async (resources) => {
        asked.open()
        await authorised.promise
        return resources
      },
    })
    const on = await target('node', router)
    const sent = modern('subscriptions/listen', { notifications: { resourceSubscriptions: ['notes://plain'] } })
    const opening = streamOf(on, sent)
    await asked.promise
    let over = false
    const closed = on.server.close({ drainMs: 3_000 }).then(() => {
      over = true
    })
    authorised.open()
    const stream = await opening
    await expect.poll(() => stream.over, { timeout: 1_000, interval: 5 }).toBe(true)
    await expect.poll(() => over, { timeout: 1_000, interval: 5 }).toBe(true)
    await closed
  })

  test('a GET that comes while it closes gets no stream that stays', async () => {
    const app = openApp()
    const on = await target('node', app.router)
    const { headers } = await beginAs(on)
    const call = on.send(modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
    const { release } = await app.held('a')
    const closed = on.server.close({ drainMs: 5_000 })
    const stream = await getStream(on, headers)
    expect(stream.status).toBe(503)
    release()
    await Promise.all([closed, call])
    await expect.poll(() => stream.over, PATIENT).toBe(true)
  })

  test('serve.close resolves with clients that neither read nor hang up', async () => {
    const app = openApp()
    const { port, close, url } = await serve(app.router, { port: 0, signals: false })
    const response = await fetch(url, {
      method: 'POST',
      headers: modern('subscriptions/listen').headers as Record<string, string>,
      body: String(modern('subscriptions/listen', { notifications: {} }).body),
    })
    expect([response.status, port > 0]).toEqual([200, true])
    await close()
    await expect(fetch(url)).rejects.toThrow()
  })

  test.each(['memory', 'stdio'] as const)('%s: calls are refused in band, and running ones answered', async (kind) => {
    const app = openApp()
    const { client, server } = await pipe(kind, app.router, { protocol: '2025-11-25' })
    const running = client.callTool('hold', { tag: 'a' })
    const lost = client.callTool('hold', { tag: 'b' })
    const { release } = await app.held('a')
    await app.held('b')
    const closed = server.close({ drainMs: 40 })
    await expect(client.callTool('ping')).rejects.toMatchObject({ code: -32603, data: RETRYABLE })
    release()
    expect((await running).content).toMatchObject([{ text: 'a' }])
    await expect(lost).rejects.toMatchObject({ code: -32603, data: RETRYABLE })
    await closed
  })
})

const PROGRAM = (options: string): string => `
import { createRouter, createServer } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'

const router = createRouter({ name: 'child', version: '1.0.0' })
router.tool('slow', {}, async () => {
  console.log('entered')
  await new Promise((resolve) => process.stdin.once('data', resolve))
  process.stdin.pause()
  return 'finished'
})
const server = createServer(router, ${options})
const { url } = await serve(server, { port: 0 })
console.log(url)
process.on('exit', () => console.log('ready ' + server.ready))
`

interface Program {
  readonly process: ChildProcess
  readonly url: string
  said(): string
  readonly exited: Promise<unknown>
}

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
})

async function start(file: string): Promise<Program> {
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const exited = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  await expect.poll(() => text, { timeout: 9_000, interval: 10 }).toMatch(/http:\S+\n/)
  return { process: child, url: /http:\S+/.exec(text)?.[0] ?? '', said: () => text, exited }
}

const post = (url: string, { headers, body }: Sent): Promise<Response> =>
  fetch(url, { method: 'POST', headers: headers as Record<string, string>, body: String(body) })

describe('serve in a process of its own', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: answers the running call, ends the streams, exits with 0',
    async (signal) => {
      const child = await start(await bundled(PROGRAM('{}')))
      const call = post(child.url, modern('tools/call', { name: 'slow' }))
      await expect.poll(child.said, PATIENT).toContain('entered')
      const listening = await post(child.url, modern('subscriptions/listen', { notifications: {} }, { id: 'l' }))
      const begun = await post(child.url, initialize())
      const sessionId = begun.headers.get('mcp-session-id') ?? ''
      await begun.text()
      const own = await fetch(child.url, { headers: { accept: 'text/event-stream', 'mcp-session-id': sessionId } })
      expect([listening.status, own.status]).toEqual([200, 200])
      child.process.kill(signal)
      expect(await listening.text()).toContain('"id":"l"')
      await own.text()
      child.process.stdin?.write('go\n')
      const answer = (await (await call).json()) as Json
      expect(answer).toMatchObject({ result: { content: [{ text: 'finished' }] } })
      expect(await child.exited).toBe(0)
      expect(child.said()).toContain('ready false')
      await expect(fetch(child.url)).rejects.toThrow()
    },
  )

  test('SIGTERM: a call beyond drainMs is answered with the error, and the process exits with 0', async () => {
    const child = await start(await bundled(PROGRAM('{ drainMs: 50 }')))
    const call = post(child.url, modern('tools/call', { name: 'slow' }))
    await expect.poll(child.said, PATIENT).toContain('entered')
    child.process.kill('SIGTERM')
    const answer = await call
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: -32603, data: RETRYABLE } }])
    // What still reads its stdin is the program's own.
    child.process.stdin?.end('go\n')
    expect(await child.exited).toBe(0)
  })
})

describe.each(TARGETS)('withCache and cacheHeaders over %s', (kind) => {
  function caching() {
    const router = createRouter({
      name: 'caching',
      version: '1.0.0',
      listResources: () =>
        withCache(Resource.list([{ uri: 'cached://public', name: 'public' }] as never), {
          ttlMs: 120_000,
          scope: 'public',
        }),
    })
    router.resource('cached://public', { name: 'public' }, () =>
      withCache(Resource.text('x'), { ttlMs: 60_000, scope: 'public' }),
    )
    router.resource('cached://private', { name: 'private' }, () => withCache(Resource.text('x'), { ttlMs: 1_999 }))
    router.resource('cached://zero', { name: 'zero' }, () => withCache(Resource.text('x'), { ttlMs: 0 }))
    router.resource('cached://never', { name: 'never' }, () => Resource.text('x'))
    router.resource('cached://progress', { name: 'progress' }, async (_params, session) => {
      await session.notifyProgress(1)
      return withCache(Resource.text('x'), { ttlMs: 60_000 })
    })
    return router
  }
  const VARY = ['Authorization', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Origin']
  const headersOf = (answer: Answer): unknown[] => [
    answer.status,
    answer.header('cache-control'),
    answer.header('vary')?.split(/, */).sort() ?? [],
  ]
  const read = (name: string): Sent => modern('resources/read', { uri: `cached://${name}` })

  test('say the same in HTTP', async () => {
    const on = await target(kind, caching(), { http: { cacheHeaders: true } })
    expect(headersOf(await on.send(read('public')))).toEqual([200, 'public, max-age=60', VARY])
    expect(headersOf(await on.send(read('private')))).toEqual([200, 'private, max-age=1', VARY])
    expect(headersOf(await on.send(read('zero')))).toEqual([200, 'private, max-age=0', VARY])
    expect(headersOf(await on.send(modern('resources/list')))).toEqual([200, 'public, max-age=120', VARY])
    const never = await on.send(read('never'))
    expect([never.status, never.header('cache-control')?.includes('max-age')]).not.toEqual([200, true])
    const missing = await on.send(read('no-such'))
    expect(missing.header('cache-control')).toBeUndefined()
    expect((await on.send(modern('tools/list'))).header('cache-control')).toBeUndefined()
  })

  test('with an Origin the answer is the browser’s, and still varies', async () => {
    const on = await target(kind, caching(), { http: { cacheHeaders: true, origins: ['https://app.example.test'] } })
    const sent = read('public')
    const answer = await on.send({ ...sent, headers: { ...sent.headers, origin: 'https://app.example.test' } })
    expect(headersOf(answer)).toEqual([200, 'public, max-age=60', VARY])
    expect(answer.header('access-control-allow-origin')).toBe('https://app.example.test')
  })

  test('are not there unless asked for, for streams, or in older versions', async () => {
    const off = await target(kind, caching())
    const answer = await off.send(read('public'))
    expect(answer.header('cache-control')).toBeUndefined()
    expect(answer.message).toMatchObject({ result: { ttlMs: 60_000, cacheScope: 'public' } })
    const on = await target(kind, caching(), { http: { cacheHeaders: true } })
    const streamed = await on.send(
      modern('resources/read', { uri: 'cached://progress' }, { meta: { progressToken: 1 } }),
    )
    expect([streamed.streamed, streamed.header('cache-control')]).toEqual([true, 'no-cache, no-transform'])
    const { headers } = await beginAs(on)
    const old = await on.send(legacy('resources/read', { uri: 'cached://public' }, { headers }))
    expect([old.status, old.header('cache-control')]).toEqual([200, undefined])
    expect(old.text).not.toContain('ttlMs')
  })
})
