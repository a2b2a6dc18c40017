import { Agent, request as httpRequest } from 'node:http'
import { createServer } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import { afterTest, begin, eventsOf, modern, open, type Sent, target, textOf } from './_http.js'

/** A request over the connections of `agent`. */
function ask(port: number, agent: Agent, sent: Sent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = sent.headers as Record<string, string>
    const request = httpRequest(
      { host: '127.0.0.1', port, method: 'POST', path: '/mcp', headers, agent },
      (response) => {
        textOf(response).then(resolve, reject)
      },
    )
    request.on('error', reject)
    request.end(sent.body)
  })
}

const within = async (ms: number, promise: Promise<unknown>): Promise<string> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms)
  })
  const outcome = await Promise.race([promise.then(() => 'in time'), late])
  clearTimeout(timer)
  return outcome
}

test('close lets a running call finish, and does not wait for its idle connection', async () => {
  const { router, held } = fixture()
  const { port, close } = await serve(router, { port: 0, signals: false })
  const agent = new Agent({ keepAlive: true })
  afterTest(() => agent.destroy())
  const pending = ask(port, agent, modern('tools/call', { name: 'hold', arguments: { tag: 'a' } }))
  const { release } = await held('a')
  const closed = close()
  release('finished')
  expect(await pending).toContain('finished')
  expect(await within(1_000, closed)).toBe('in time')
})

test('close ends idle connections', async () => {
  const { port, close } = await serve(fixture().router, { port: 0, signals: false })
  const agent = new Agent({ keepAlive: true })
  afterTest(() => agent.destroy())
  await ask(port, agent, modern('tools/list'))
  expect(await within(1_000, close())).toBe('in time')
  await expect(ask(port, agent, modern('tools/list'))).rejects.toThrow(/ECONNREFUSED|ECONNRESET|hang up/)
})

test('close ends the streams of sessions, and may be called twice', async () => {
  const on = await target('node', fixture().router)
  const { headers } = await begin(on)
  const stream = await open(on.serving?.port ?? 0, {
    method: 'GET',
    headers: { ...headers, accept: 'text/event-stream' },
  })
  const ended = textOf(stream)
  const closed = on.serving?.close() ?? Promise.reject(new Error('nothing listens'))
  expect(await within(1_000, Promise.all([closed, on.serving?.close()]))).toBe('in time')
  expect(eventsOf(await ended)).toEqual([])
})

test('one server behind two ports shares its sessions', async () => {
  const server = createServer(fixture().router)
  const [one, two] = [
    await serve(server, { port: 0, signals: false }),
    await serve(server, { port: 0, signals: false }),
  ]
  afterTest(() => Promise.all([one.close(), two.close()]).then(() => undefined))
  const init = (body: object, more: Record<string, string> = {}): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const begun = await fetch(one.url, init({ method: 'initialize', params }))
  const id = begun.headers.get('mcp-session-id') ?? ''
  expect((await fetch(two.url, init({ method: 'ping' }, { 'mcp-session-id': id }))).status).toBe(200)
})

test('a port that is taken is an error of the system', async () => {
  const { port, close } = await serve(fixture().router, { port: 0, signals: false })
  afterTest(close)
  await expect(serve(fixture().router, { port, signals: false })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test.each<[string, object, RegExp]>([
  ['an unknown option', { prot: 3000 }, /serve: unknown option 'prot'/],
  ['a port that is none', { port: 70_000 }, /port/],
  ['a port that is a word', { port: 'http' }, /port/],
  ['a path that does not begin with a slash', { path: 'mcp' }, /serve: path must begin with '\/', not 'mcp'/],
  ['a path that is no text', { path: 5 }, /serve: path/],
  ['an option of the server', { sessionTtlMs: 5 }, /serve: unknown option 'sessionTtlMs'/],
])('serve refuses %s with a TypeError that names it', async (_what, options, message) => {
  const error = await serve(fixture().router, { port: 0, signals: false, ...options }).then(
    (serving) => serving.close().then(() => undefined),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(TypeError)
  expect(String(error)).toMatch(message)
})
