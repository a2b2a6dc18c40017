import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetchHandler } from 'phantom-mcp/fetch'
import { nodeHandler, serve } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import {
  afterTest,
  begin,
  codeOf,
  dataOf,
  head,
  type Json,
  legacy,
  META,
  modern,
  RawSocket,
  TARGETS,
  target,
  textBlockOf,
} from './_http.js'

const TEXT = 'naïve — 漢字 🧭 Ω'
const LIMIT = 2_000

const echo = (text: string): ReturnType<typeof modern> => modern('tools/call', { name: 'echo', arguments: { text } })

/** A request whose body has exactly so many bytes. */
function sized(bytes: number): ReturnType<typeof modern> {
  const empty = echo('')
  return echo('x'.repeat(bytes - Buffer.byteLength(empty.body as string)))
}

describe.each(TARGETS)('bodies over %s', (kind) => {
  test('a body of maxBodyBytes is served, one byte more is refused, and the next one is served', async () => {
    const { router, entered } = fixture()
    const on = await target(kind, router, { http: { maxBodyBytes: LIMIT } })
    expect((await on.send(sized(LIMIT))).status).toBe(200)
    const refused = await on.send(sized(LIMIT + 1))
    expect(refused.status).toBe(413)
    expect(codeOf(refused)).toBe(-32600)
    expect(dataOf(refused)).toMatchObject({ reason: 'too_large', option: 'maxBodyBytes' })
    expect((await on.send(sized(LIMIT))).status).toBe(200)
    expect(entered).toEqual(['echo', 'echo'])
  })

  test('bytes are counted, not characters', async () => {
    const on = await target(kind, fixture().router, { http: { maxBodyBytes: LIMIT } })
    expect((await on.send(echo('漢'.repeat(LIMIT / 2)))).status).toBe(413)
    expect(textBlockOf(await on.send(echo('漢'.repeat(LIMIT / 4))))).toBe('漢'.repeat(LIMIT / 4))
  })

  test.each([
    ['is empty', ''],
    ['is cut', '{"jsonrpc":"2.0","id":1,"method":'],
    ['has something behind the message', '{"jsonrpc":"2.0","id":1,"method":"tools/list"} {}'],
    ['is not JSON', 'hello'],
    ['is JavaScript and not JSON', "{jsonrpc:'2.0'}"],
    ['has NaN', '{"jsonrpc":"2.0","id":NaN,"method":"tools/list"}'],
    [
      'is invalid UTF-8',
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    ],
    ['ends inside of a character', Buffer.from('"漢').subarray(0, 3)],
    ['is UTF-16', Buffer.from('{"jsonrpc":"2.0"}', 'utf16le')],
  ])('a body that %s is a parse error, and the next one is served', async (_what, body) => {
    const on = await target(kind, fixture().router)
    const answer = await on.send({ ...modern('tools/list'), body })
    expect(answer.status).toBe(400)
    expect(codeOf(answer)).toBe(-32700)
    expect(answer.message).not.toHaveProperty('id')
    expect((await on.send(modern('tools/list'))).status).toBe(200)
    expect(on.errors).toEqual([])
  })

  test.each([
    ['null', 'null'],
    ['a string', '"just a string"'],
    ['a number', '5'],
    ['an object that is no message', '{}'],
    ['a message without jsonrpc', '{"id":1,"method":"tools/list"}'],
    ['a method that is no string', '{"jsonrpc":"2.0","id":1,"method":5}'],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}'],
    ['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}'],
    ['an array', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]'],
    ['an empty array', '[]'],
  ])('a body that is %s is no request', async (_what, body) => {
    const on = await target(kind, fixture().router)
    const answer = await on.send({ ...modern('tools/list'), body })
    expect(answer.status).toBe(400)
    expect(codeOf(answer)).toBe(-32600)
  })

  test('a byte order mark in front is no part of the message', async () => {
    const on = await target(kind, fixture().router)
    const sent = modern('tools/list')
    expect((await on.send({ ...sent, body: `\uFEFF${sent.body as string}` })).status).toBe(200)
  })

  test('A1: text comes back code point for code point', async () => {
    const on = await target(kind, fixture().router)
    const answer = await on.send(modern('tools/call', { name: 'echo', arguments: { text: TEXT } }, { id: 'κ-1' }))
    expect(textBlockOf(answer)).toBe(TEXT)
    expect(answer.message?.['id']).toBe('κ-1')
  })

  test('maxDepth counts levels, and the refusal keeps the id', async () => {
    const on = await target(kind, fixture().router, { http: { maxDepth: 10 } })
    const nested = (levels: number): string =>
      `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":${JSON.stringify(META)},"x":${'['.repeat(levels)}${']'.repeat(levels)}}}`
    expect((await on.send({ ...modern('tools/list'), body: nested(8) })).status).toBe(200)
    const refused = await on.send({ ...modern('tools/list'), body: nested(9) })
    expect(refused.status).toBe(400)
    expect(refused.message).toMatchObject({ id: 7, error: { code: -32600, data: { option: 'maxDepth' } } })
  })

  test('errors of a session name no id as null', async () => {
    const on = await target(kind, fixture().router)
    const { headers } = await begin(on)
    const answer = await on.send({
      ...legacy('ping', {}, { headers }),
      body: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    })
    expect(answer.status).toBe(400)
    expect(answer.message).toMatchObject({ id: null, error: { code: -32600 } })
  })
})

describe('bodies on a socket', () => {
  async function listening(maxBodyBytes = LIMIT): Promise<{ port: number; entered: string[]; errors: unknown[] }> {
    const { router, entered } = fixture()
    const on = await target('node', router, { http: { maxBodyBytes } })
    return { port: on.serving?.port ?? 0, entered, errors: on.errors }
  }
  const serves = async (port: number): Promise<void> => {
    const socket = await RawSocket.connect(port)
    const sent = modern('tools/list')
    await socket.write(
      head(sent, { connection: 'close', 'content-length': String(Buffer.byteLength(sent.body as string)) }),
    )
    await socket.write(sent.body as string)
    await socket.ended
    expect(socket.status).toBe(200)
  }

  test('chunks without Content-Length are counted: 413, the connection ends, and the next connection is served', async () => {
    const { port, entered } = await listening()
    const socket = await RawSocket.connect(port)
    await socket.write(head(echo(''), { 'transfer-encoding': 'chunked' }))
    const chunk = 'x'.repeat(500)
    for (let at = 0; at < 5; at++) await socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    // The last chunk is never sent: the answer does not wait for it.
    await socket.ended
    expect(socket.status).toBe(413)
    expect(socket.received.toLowerCase()).toContain('connection: close')
    expect(entered).toEqual([])
    await serves(port)
  })

  test('a Content-Length beyond the limit is refused before the body comes', async () => {
    const { port } = await listening()
    const socket = await RawSocket.connect(port)
    await socket.write(head(echo(''), { 'content-length': '999999999999' }))
    await socket.ended
    expect(socket.status).toBe(413)
    await serves(port)
  })

  test('a client that sends megabytes before it reads still gets its 413', async () => {
    const { port } = await listening()
    const sent = echo('x'.repeat(3_000_000))
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: plain(sent.headers),
      body: sent.body as string,
    })
    expect(answer.status).toBe(413)
    expect(((await answer.json()) as Json)['error']).toMatchObject({ code: -32600 })
    await serves(port)
  })

  test('what follows a body that is longer than its Content-Length is not run as a part of it', async () => {
    const { port, entered } = await listening()
    const socket = await RawSocket.connect(port)
    const sent = modern('tools/call', { name: 'noargs' })
    await socket.write(head(sent, { 'content-length': '10', connection: 'close' }) + (sent.body as string))
    await socket.ended
    expect(socket.status).toBe(400)
    expect(entered).toEqual([])
    await serves(port)
  })

  test('A1: a body cut inside of its characters', async () => {
    const { port } = await listening()
    const sent = echo(TEXT)
    const bytes = Buffer.from(sent.body as string)
    const han = bytes.indexOf(Buffer.from('漢')) + 1
    const compass = bytes.indexOf(Buffer.from('🧭')) + 2
    const socket = await RawSocket.connect(port)
    await socket.write(head(sent, { connection: 'close', 'content-length': String(bytes.length) }))
    for (const part of [bytes.subarray(0, han), bytes.subarray(han, compass), bytes.subarray(compass)]) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      await socket.write(part)
    }
    await socket.ended
    expect(socket.status).toBe(200)
    expect(socket.body).toContain(JSON.stringify(TEXT))
    expect(socket.body).not.toContain('\uFFFD')
  })

  test('a client that hangs up inside of its body costs nobody anything', async () => {
    const { port, entered, errors } = await listening()
    for (let at = 0; at < 5; at++) {
      const socket = await RawSocket.connect(port)
      await socket.write(`${head(modern('tools/call', { name: 'noargs' }), { 'content-length': '400' })}{"jsonrpc":`)
      socket.socket.destroy()
      await socket.ended
    }
    await serves(port)
    expect(entered).toEqual([])
    expect(errors).toEqual([])
  })
})

const plain = (headers: Readonly<Record<string, unknown>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

describe('bodies of a web Request', () => {
  const request = (body: ReadableStream<Uint8Array>, more: RequestInit = {}): Request =>
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...plain(modern('tools/list').headers), 'content-length': '5' },
      body,
      duplex: 'half',
      ...more,
    } as RequestInit)

  test('chunks are counted whatever Content-Length says, and reading stops at the limit', async () => {
    const handle = fetchHandler(fixture().router, { maxBodyBytes: LIMIT })
    let pulled = 0
    let cancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++
        controller.enqueue(new Uint8Array(100).fill(0x20))
      },
      cancel: () => {
        cancelled = true
      },
    })
    expect((await handle(request(endless))).status).toBe(413)
    expect(cancelled).toBe(true)
    expect(pulled).toBeLessThan(LIMIT / 100 + 5)
  })

  test('a body that somebody else has read is an error of the host, told to nobody but onError', async () => {
    const { router } = fixture()
    const on = await target('fetch', router)
    const handle = fetchHandler(on.server)
    const used = request(new Blob(['{}']).stream() as ReadableStream<Uint8Array>)
    await used.text()
    const answer = await handle(used)
    expect(answer.status).toBe(500)
    expect((await answer.json()) as Json).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(on.errors).toHaveLength(1)
  })

  test('a request that is aborted inside of its body still settles', async () => {
    const handle = fetchHandler(fixture().router)
    const gone = new AbortController()
    const stuck = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array([0x7b])) })
    const pending = handle(request(stuck, { signal: gone.signal }))
    gone.abort()
    const outcome = await Promise.race([
      pending.then(
        () => 'settled',
        () => 'settled',
      ),
      new Promise((resolve) => setTimeout(() => resolve('hangs'), 50)),
    ])
    expect(outcome).toBe('settled')
  })
})

describe('bodies that a parser of the host has taken', () => {
  async function behindParser(parse: (text: string) => unknown): Promise<string> {
    const handler = nodeHandler(fixture().router, { maxDepth: 10 })
    const http = createHttpServer(async (request: IncomingMessage & { body?: unknown }, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      request.body = parse(text)
      await handler(request, response)
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    afterTest(() => new Promise((resolve) => http.close(() => resolve())))
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  }

  test('are served as they were parsed', async () => {
    const url = await behindParser(JSON.parse)
    const sent = echo(TEXT)
    const answer = await fetch(url, { method: 'POST', headers: plain(sent.headers), body: sent.body as string })
    expect((await answer.json()) as Json).toMatchObject({ result: { content: [{ text: TEXT }] } })
  })

  test('are bounded in depth like any other', async () => {
    const url = await behindParser((text) => ({
      ...JSON.parse(text),
      deep: JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`),
    }))
    const sent = echo('x')
    const answer = await fetch(url, { method: 'POST', headers: plain(sent.headers), body: sent.body as string })
    expect(answer.status).toBe(400)
    expect((await answer.json()) as Json).toMatchObject({ id: 1, error: { data: { reason: 'too_deep' } } })
  })
})

test('serve and nodeHandler share what a body may be', async () => {
  await expect(serve(fixture().router, { port: 0, maxBodyBytes: 0 })).rejects.toThrow(
    'serve: maxBodyBytes must be a whole number from 1 on, not 0',
  )
  expect(() => nodeHandler(fixture().router, { maxDepth: 1.5 })).toThrow(
    'nodeHandler: maxDepth must be a whole number from 1 on, not 1.5',
  )
})
