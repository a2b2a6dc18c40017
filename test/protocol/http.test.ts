import { request as httpRequest } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { createRouter, createServer, type HttpOptions, type Router, type Server } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { serve } from 'phantom-mcp/node'
import { afterEach, describe, expect } from 'vitest'
import { gate, META, PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { headerValue } from '../_wires.js'

// One test for each duty that is HTTP's own; test/http goes into the details.

type Headers_ = Readonly<Record<string, string>>
interface Sent {
  readonly method?: string
  readonly headers?: Headers_
  readonly body?: string
  readonly signal?: AbortSignal
}
type Send = (sent: Sent) => Promise<Response>
type Host = (server: Server, options?: HttpOptions) => Promise<Send>

const late = (ms: number): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('late'), ms))

const undo: (() => Promise<void>)[] = []
const errors: unknown[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
  expect(errors.splice(0)).toEqual([])
})

const HOSTS: Readonly<Record<string, Host>> = {
  node: async (server, options) => {
    const { url, close } = await serve(server, { port: 0, signals: false, ...options })
    undo.push(close)
    return ({ method = 'POST', ...init }) => fetch(url, { method, ...init })
  },
  fetch: async (server, options) => {
    const handler = fetchHandler(server, options)
    return ({ method = 'POST', ...init }) => handler(new Request('http://localhost/mcp', { method, ...init }))
  },
}

function notes(): { router: Router; calls: string[] } {
  const calls: string[] = []
  const router = createRouter({ name: 'http', version: '1.0.0' })
  router.tool('noop', {}, () => {
    calls.push('noop')
    return 'ok'
  })
  router.tool('größe', {}, () => {
    calls.push('größe')
    return 'ok'
  })
  router.resource('note://ärger/日本', { name: 'trouble' }, () => 'trouble')
  router.resource('notes://plain', { name: 'plain' }, () => 'plain')
  return { router, calls }
}

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const message = (id: unknown, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
/** A request of 2026-07-28, with all that belongs to it. */
const modern = (id: unknown, method: string, params: Record<string, unknown> = {}): Sent => {
  const name = params['name'] ?? params['uri']
  const headers = {
    ...JSON_TYPE,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
  }
  return { headers, body: message(id, method, { ...params, _meta: META }) }
}
const initialize = message(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'c', version: '0' },
})

describe.each(Object.keys(HOSTS))('over HTTP, %s', (host) => {
  const open = async (router: Router, options?: HttpOptions): Promise<Send> =>
    await (HOSTS[host] as Host)(createServer(router, { onError: (error) => errors.push(error) }), options)

  verifies('field.C1', 'takes the JSON media type however it is spelt, and no other', async () => {
    const { router, calls } = notes()
    const send = await open(router)
    const call = modern(1, 'tools/call', { name: 'noop' })
    const types = [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset="UTF-8"',
      'application/json ; foo=bar',
    ]
    for (const type of types) {
      expect((await send({ ...call, headers: { ...call.headers, 'content-type': type } })).status, type).toBe(200)
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
      expect((await send({ ...call, headers: { ...call.headers, 'content-type': type } })).status, type).toBe(415)
    }
    expect(calls).toHaveLength(4)
  })

  verifies('field.C3', 'answers other methods with 405 and those that there are', async () => {
    const send = await open(notes().router)
    for (const method of ['HEAD', 'PUT', 'PATCH']) {
      const response = await send({ method, headers: JSON_TYPE })
      expect(response.status, method).toBe(405)
      expect(response.headers.get('allow')?.split(', '), method).toContain('POST')
      if (method === 'HEAD') expect(await response.text()).toBe('')
    }
    for (const method of ['GET', 'DELETE']) {
      const response = await send({
        method,
        headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28' },
      })
      expect(response.status, method).toBe(405)
      expect(response.headers.get('allow')?.split(', '), method).toContain('POST')
    }
  })

  verifies('field.D1', 'answers a session that it does not know with 404, and none with 400', async () => {
    const send = await open(notes().router)
    const unknown = {
      ...JSON_TYPE,
      'mcp-session-id': '5f0e0000-0000-4000-8000-000000000000',
      'mcp-protocol-version': '2025-11-25',
    }
    const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
    for (const sent of [
      { headers: unknown, body: message(1, 'tools/list') },
      { headers: unknown, body: note },
      { method: 'GET', headers: unknown },
      { method: 'DELETE', headers: unknown },
    ]) {
      const response = await send(sent)
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).not.toContain('event-stream')
    }
    expect((await send({ headers: JSON_TYPE, body: message(1, 'tools/list') })).status).toBe(400)
  })

  verifies(['field.D1', 'http.sessions'], 'issues a session that ends with DELETE', async () => {
    const send = await open(notes().router)
    const begun = await send({ headers: JSON_TYPE, body: initialize })
    const id = begun.headers.get('mcp-session-id') ?? ''
    expect(begun.status).toBe(200)
    expect(id).toMatch(/^[\x21-\x7e]{16,}$/)
    const headers = { ...JSON_TYPE, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    expect((await send({ headers, body: message(2, 'tools/list') })).status).toBe(200)
    expect([200, 204]).toContain((await send({ method: 'DELETE', headers })).status)
    expect((await send({ headers, body: message(3, 'tools/list') })).status).toBe(404)
    expect((await send({ headers: JSON_TYPE, body: initialize })).headers.get('mcp-session-id')).not.toBe(id)
  })

  verifies('field.E1', 'decodes names before it compares them', async () => {
    const { router, calls } = notes()
    const send = await open(router)
    const read = modern(4, 'resources/read', { uri: 'note://ärger/日本' })
    expect(read.headers).toMatchObject({ 'mcp-name': '=?base64?bm90ZTovL8Okcmdlci/ml6XmnKw=?=' })
    expect((await send(read)).status).toBe(200)
    const call = modern(5, 'tools/call', { name: 'größe' })
    expect(call.headers).toMatchObject({ 'mcp-name': '=?base64?Z3LDtsOfZQ==?=' })
    expect((await send(call)).status).toBe(200)
    expect(calls).toEqual(['größe'])
    const wrong: [Sent, string][] = [
      [read, '=?BASE64?bm90ZTovL8Okcmdlci/ml6XmnKw=?='],
      [read, '=?base64?bm90ZTovL8Okcmdlci/ml6XmnKw?='],
      [read, 'note://Ã¤rger/x'],
      [modern(4, 'resources/read', { uri: 'notes://plain' }), 'notes'],
      [modern(4, 'resources/read', { uri: 'notes://plain' }), 'NOTES://plain'],
    ]
    for (const [sent, name] of wrong) {
      const response = await send({ ...sent, headers: { ...sent.headers, 'mcp-name': name } })
      expect(response.status, name).toBe(400)
      expect(await response.json()).toMatchObject({ id: 4, error: { code: -32020 } })
    }
    const { 'mcp-name': _left, ...without } = read.headers as { 'mcp-name': string }
    const missing = await send({ ...read, headers: without })
    expect([missing.status, ((await missing.json()) as { error: { code: number } }).error.code]).toEqual([400, -32020])
  })

  verifies('field.J5', 'takes hanging up for a cancellation in 2026-07-28 only', async () => {
    const started = { modern: gate(), legacy: gate() }
    const aborted = gate()
    const release = gate()
    const ended = gate<boolean>()
    const router = createRouter({ name: 'http', version: '1.0.0' })
    router.tool('modern', {}, async (_params, session) => {
      session.signal.addEventListener('abort', () => aborted.open())
      started.modern.open()
      await aborted.promise
      return 'never seen'
    })
    router.tool('legacy', {}, async (_params, session) => {
      const { signal } = session
      started.legacy.open()
      await release.promise
      ended.open(signal.aborted)
      return 'done'
    })
    const send = await open(router)
    const first = new AbortController()
    const call = send({ ...modern(1, 'tools/call', { name: 'modern' }), signal: first.signal })
    await started.modern.promise
    first.abort()
    await Promise.race([
      aborted.promise,
      call.then(
        () => undefined,
        () => aborted.promise,
      ),
    ])
    await aborted.promise
    const id = (await send({ headers: JSON_TYPE, body: initialize })).headers.get('mcp-session-id') ?? ''
    const headers = { ...JSON_TYPE, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const second = new AbortController()
    const legacy = send({ headers, body: message(2, 'tools/call', { name: 'legacy' }), signal: second.signal }).catch(
      () => undefined,
    )
    await started.legacy.promise
    second.abort()
    // Another request on the same server is answered after the hang-up was seen.
    expect((await send({ headers, body: message(3, 'ping') })).status).toBe(200)
    release.open()
    expect(await ended.promise).toBe(false)
    await Promise.race([legacy, Promise.resolve()])
  })

  verifies('field.K1', 'sends the headers of a stream with its first event, uncompressed', async () => {
    const release = gate()
    const router = createRouter({ name: 'http', version: '1.0.0' })
    router.tool('work', {}, async (_params, session) => {
      await session.notifyProgress(1)
      await release.promise
      return 'done'
    })
    const send = await open(router)
    const call = modern(1, 'tools/call', { name: 'work' })
    const body = message(1, 'tools/call', { name: 'work', _meta: { ...META, progressToken: 0 } })
    const response = await send({ headers: { ...call.headers, 'accept-encoding': 'gzip, br' }, body })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('content-encoding')).toBeNull()
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    expect(first).toMatch(/^event: message\ndata: \{"jsonrpc":"2.0","method":"notifications\/progress"/)
    release.open()
    let rest = ''
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      rest += new TextDecoder().decode(chunk.value)
    expect(rest).toContain('"id":1')
    expect(rest).not.toMatch(/^(id|retry):/m)
  })

  verifies('field.M1', 'lets pages of allowed origins read answers and errors', async () => {
    const send = await open(notes().router)
    const origin = 'http://localhost:5173'
    const asked =
      'authorization,content-type,accept,mcp-protocol-version,mcp-method,mcp-name,mcp-param-region,mcp-session-id,last-event-id'
    const preflight = await send({
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    })
    expect([200, 204]).toContain(preflight.status)
    const list = (name: string): string[] => (preflight.headers.get(name) ?? '').toLowerCase().split(/, */)
    expect(list('access-control-allow-headers')).toEqual(expect.arrayContaining(asked.split(',')))
    expect(list('access-control-allow-methods')).toEqual(expect.arrayContaining(['post', 'get', 'delete']))
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
    const good = modern(1, 'tools/list')
    const bad = { ...good, headers: { ...good.headers, 'mcp-method': 'tools/call' } }
    const gone = { headers: { ...JSON_TYPE, 'mcp-session-id': 'gone' }, body: message(1, 'ping') }
    for (const [sent, status] of [
      [good, 200],
      [bad, 400],
      [gone, 404],
    ] as const) {
      const response = await send({ ...sent, headers: { ...sent.headers, origin } })
      expect(response.status).toBe(status)
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      const exposed = (response.headers.get('access-control-expose-headers') ?? '').toLowerCase()
      expect(exposed).toContain('mcp-session-id')
      expect(exposed).toContain('www-authenticate')
    }
  })

  verifies('http.origin', 'refuses pages of other origins, and names the option', async () => {
    const { router, calls } = notes()
    const send = await open(router)
    const call = modern(1, 'tools/call', { name: 'noop' })
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
      const response = await send({ ...call, headers: { ...call.headers, origin } })
      expect(response.status, origin).toBe(403)
      expect(await response.json()).toMatchObject({ error: { code: -32600, data: { option: 'origins' } } })
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
    }
    expect(calls).toEqual([])
  })

  verifies(['http.version', 'http.method'], 'refuses headers that say something else than the body', async () => {
    const { router, calls } = notes()
    const send = await open(router)
    const call = modern(9, 'tools/call', { name: 'noop' })
    const wrong: Headers_[] = [
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-protocol-version': '2099-01-01' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': 'Tools/Call' },
      { 'mcp-method': '' },
    ]
    for (const headers of wrong) {
      const response = await send({ ...call, headers: { ...call.headers, ...headers } })
      expect(response.status, JSON.stringify(headers)).toBe(400)
      expect(await response.json()).toMatchObject({ id: 9, error: { code: -32020 } })
    }
    for (const left of ['mcp-method', 'mcp-protocol-version']) {
      const headers = Object.fromEntries(Object.entries(call.headers ?? {}).filter(([name]) => name !== left))
      const response = await send({ ...call, headers })
      expect([response.status, await response.json()], left).toMatchObject([400, { id: 9, error: { code: -32020 } }])
    }
    expect(calls).toEqual([])
  })

  verifies('http.accept', 'answers in JSON, in a stream where only that is taken, or 406', async () => {
    const send = await open(notes().router)
    const list = modern(1, 'tools/list')
    const type = async (accept: string): Promise<[number, string | null]> => {
      const response = await send({ ...list, headers: { ...list.headers, accept } })
      await response.text()
      return [response.status, response.headers.get('content-type')]
    }
    for (const accept of [
      'application/json',
      'application/json, text/event-stream',
      '*/*',
      'application/*',
      'text/event-stream, application/json;q=0.5',
    ]) {
      expect(await type(accept), accept).toEqual([200, 'application/json'])
    }
    expect(await type('text/event-stream')).toEqual([200, 'text/event-stream'])
    expect((await type('text/html'))[0]).toBe(406)
  })

  verifies('http.body-limit', 'counts the bytes of a body', async () => {
    const send = await open(notes().router)
    const list = modern(1, 'tools/list')
    const response = await send({ ...list, body: message(1, 'tools/list', { x: 'x'.repeat(1_048_576), _meta: META }) })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ error: { code: -32600, data: { option: 'maxBodyBytes' } } })
    expect((await send(list)).status).toBe(200)
  })

  verifies(
    'http.session-version',
    'takes the version header of a session or none, and refuses what is no version',
    async () => {
      const { router, calls } = notes()
      const send = await open(router)
      const id = (await send({ headers: JSON_TYPE, body: initialize })).headers.get('mcp-session-id') ?? ''
      const call = (version: string | undefined): Promise<Response> => {
        const named = version === undefined ? {} : { 'mcp-protocol-version': version }
        const headers = { ...JSON_TYPE, 'mcp-session-id': id, ...named }
        return send({ headers, body: message(2, 'tools/call', { name: 'noop' }) })
      }
      expect((await call('2025-11-25')).status).toBe(200)
      expect((await call(undefined)).status).toBe(200)
      for (const version of ['1.0', '2099-01-01', '', 'latest']) {
        const response = await call(version)
        expect(response.status, version).toBe(400)
        const { error } = (await response.json()) as { error: { code: number } }
        expect([-32600, -32602, -32022], version).toContain(error.code)
      }
      expect(calls).toHaveLength(2)
    },
  )

  verifies('http.get-stream', 'gives a session one stream of its own', async () => {
    const send = await open(notes().router)
    const id = (await send({ headers: JSON_TYPE, body: initialize })).headers.get('mcp-session-id') ?? ''
    const headers = { accept: 'text/event-stream', 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const reading = new AbortController()
    const first = await send({ method: 'GET', headers, signal: reading.signal })
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toContain('text/event-stream')
    expect(first.headers.get('x-accel-buffering')).toBe('no')
    const second = await send({ method: 'GET', headers })
    expect(second.status).toBe(409)
    expect(await second.json()).toMatchObject({ error: { code: -32600, data: { option: 'secondStream' } } })
    expect((await send({ method: 'GET', headers: { ...headers, accept: 'application/json' } })).status).toBe(406)
    reading.abort()
    await first.body?.cancel().catch(() => undefined)
    await expect
      .poll(async () => {
        const again = new AbortController()
        const { status, body } = await send({ method: 'GET', headers, signal: again.signal })
        again.abort()
        await body?.cancel().catch(() => undefined)
        return status
      }, PATIENT)
      .toBe(200)
  })

  verifies('http.keep-alive', 'opens the stream of a call that takes long, and keeps it alive', async () => {
    const release = gate()
    const router = createRouter({ name: 'http', version: '1.0.0' })
    router.tool('slow', {}, async () => {
      await release.promise
      return 'done'
    })
    const send = await open(router, { streamAfterMs: 10, keepAliveMs: 10 })
    const response = await send(modern(1, 'tools/call', { name: 'slow' }))
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      if (/^:.*\n\n:/s.test(text)) release.open()
    }
    const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'))
    expect(events).toHaveLength(1)
    expect(events[0]).toMatch(/^event: message\ndata: \{"jsonrpc":"2.0","id":1,"result":/)
  })

  verifies('http.json-only', 'never streams to who takes JSON only', async () => {
    const router = createRouter({ name: 'http', version: '1.0.0' })
    router.tool('work', {}, async (_params, session) => {
      await session.notifyProgress(1)
      await late(20)
      return 'done'
    })
    const send = await open(router, { streamAfterMs: 5 })
    const call = modern(1, 'tools/call', { name: 'work' })
    const body = message(1, 'tools/call', { name: 'work', _meta: { ...META, progressToken: 0 } })
    const response = await send({ headers: { ...call.headers, accept: 'application/json' }, body })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
  })

  verifies('http.stateless', 'ignores a session id in 2026-07-28, and issues none', async () => {
    const send = await open(notes().router)
    const list = modern(1, 'tools/list')
    const response = await send({ ...list, headers: { ...list.headers, 'mcp-session-id': 'any' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('mcp-session-id')).toBeNull()
  })
})

describe('closing', () => {
  verifies('http.close', 'does not wait for sockets that ask nothing', async () => {
    const { port, close } = await serve(createServer(notes().router), { port: 0, signals: false })
    const silent = connectSocket(port, '127.0.0.1')
    await new Promise((connected) => silent.once('connect', connected))
    const closed = close()
    undo.push(async () => {
      silent.destroy()
      await closed
    })
    await expect(Promise.race([closed.then(() => 'closed'), late(500)])).resolves.toBe('closed')
  })
})

describe('over a socket', () => {
  verifies(['http.host', 'field.A1'], 'looks at the Host header, and puts characters together again', async () => {
    const { router } = notes()
    const server = createServer(router)
    const { port, close } = await serve(server, { port: 0, signals: false })
    undo.push(close)
    const sent = modern('κ-1', 'tools/call', { name: 'größe' })
    const post = (
      headers: Headers_,
      parts: readonly Uint8Array[],
    ): Promise<{ status: number | undefined; text: string }> =>
      new Promise((resolve, reject) => {
        const call = httpRequest(
          { port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers: { ...sent.headers, ...headers } },
          (response) => {
            let text = ''
            response.setEncoding('utf8')
            response.on('data', (chunk: string) => {
              text += chunk
            })
            response.on('end', () => resolve({ status: response.statusCode, text }))
          },
        )
        call.on('error', reject)
        void (async () => {
          call.setNoDelay(true)
          for (const part of parts) {
            await new Promise((sentPart) => call.write(part, sentPart))
            await new Promise((later) => setImmediate(later))
          }
          call.end()
        })()
      })
    const bytes = new TextEncoder().encode(sent.body)
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    const answer = await post({}, single)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toMatchObject({ id: 'κ-1', result: { content: [{ text: 'ok' }] } })
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example']) {
      expect((await post({ host }, [bytes])).status, host).toBe(403)
    }
    for (const host of ['localhost', `localhost:${port}`, '[::1]', 'LOCALHOST']) {
      expect((await post({ host }, [bytes])).status, host).toBe(200)
    }
  })
})
