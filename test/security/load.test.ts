import { Agent, createServer as createHttpServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createRouter } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { nodeHandler } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'
import { failOnWarnings } from '../_warnings.js'
import { eventually } from '../http/_eventually.js'
import { fixture } from '../http/_fixture.js'
import {
  afterTest,
  begin,
  codeOf,
  head,
  type Json,
  legacy,
  META,
  modern,
  RawSocket,
  type Sent,
  TARGETS,
  target,
  textBlockOf,
} from '../http/_http.js'
import { textOf as blockText, bundled, Child } from '../stdio/_child.js'

failOnWarnings()

const LEVELS = 100_000
const deep = (open: string, close: string): string =>
  open.repeat(LEVELS) + (open === '[' ? '' : '1') + close.repeat(LEVELS)
const DEEP_ARRAY = deep('[', ']')
const DEEP_OBJECT = deep('{"a":', '}')
const META_TEXT = JSON.stringify(META)

const BODIES: [string, string, boolean][] = [
  [
    'arguments',
    `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"text":${DEEP_ARRAY}},"_meta":${META_TEXT}}}`,
    true,
  ],
  [
    'objects as arguments',
    `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":${DEEP_OBJECT},"_meta":${META_TEXT}}}`,
    true,
  ],
  [
    '_meta',
    `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","_meta":{"x":${DEEP_ARRAY},${META_TEXT.slice(1)}}}`,
    true,
  ],
  [
    'inputResponses',
    `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","inputResponses":${DEEP_OBJECT},"_meta":${META_TEXT}}}`,
    true,
  ],
  [
    'an unknown member',
    `{"jsonrpc":"2.0","id":9,"x":${DEEP_ARRAY},"method":"tools/call","params":{"name":"echo","_meta":${META_TEXT}}}`,
    true,
  ],
  [
    'the id',
    `{"jsonrpc":"2.0","id":${DEEP_ARRAY},"method":"tools/call","params":{"name":"echo","_meta":${META_TEXT}}}`,
    false,
  ],
  ['the whole body', DEEP_ARRAY, false],
  ['the whole body, as objects', DEEP_OBJECT, false],
  ['the whole body, without its end', '['.repeat(LEVELS), false],
]

describe('P1: 100,000 levels', () => {
  describe.each(TARGETS)('over %s', (kind) => {
    test.each(BODIES)('in %s', async (_where, body, keepsId) => {
      const { router, entered } = fixture()
      const on = await target(kind, router)
      const started = performance.now()
      for (const sent of [
        { ...modern('tools/call', { name: 'echo' }), body },
        { ...legacy('x', {}, { headers: (await begin(on)).headers }), body },
      ]) {
        const answer = await on.send(sent)
        expect(answer.status).toBe(400)
        expect([-32600, -32602, -32700]).toContain(codeOf(answer))
        if (keepsId) expect(answer.message?.['id']).toBe(9)
      }
      expect(performance.now() - started).toBeLessThan(2_000)
      expect(entered).toEqual([])
      expect(on.errors).toEqual([])
      expect((await on.send(modern('tools/list'))).status).toBe(200)
    })
  })

  test('over stdio, one after the other', async () => {
    const program = `
      import { createRouter, field } from 'phantom-mcp'
      import { serveStdio } from 'phantom-mcp/stdio'
      const router = createRouter({ name: 'x', version: '1.0.0' })
      router.tool('echo', { input: { text: field.string({ required: true }) } }, ({ text }) => text)
      await serveStdio(router)
    `
    const child = new Child(await bundled(program))
    for (const [, body] of BODIES) await child.write(`${body}\n`)
    await child.send({
      jsonrpc: '2.0',
      id: 'after',
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'alive' }, _meta: META },
    })
    await eventually(() => blockText(child.answer('after'))).toBe('alive')
    expect(child.messages).toHaveLength(BODIES.length + 1)
    const refused = child.messages.slice(0, -1)
    expect(refused.every(({ error }) => [-32600, -32602, -32700].includes((error as Json)['code'] as number))).toBe(
      true,
    )
    expect(refused.map(({ id }) => id === 9)).toEqual(BODIES.map(([, , keepsId]) => keepsId))
    child.end()
    expect(await child.exited).toBe(0)
    expect(child.stderr).toBe('')
  })
})

/** Sends over the connections of an agent, and reads the answer whole. */
function ask(port: number, agent: Agent, sent: Sent): Promise<{ response: IncomingMessage; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(sent.headers as Record<string, string>),
      'content-length': String(Buffer.byteLength(sent.body as string)),
    }
    const request = httpRequest(
      { host: '127.0.0.1', port, method: 'POST', path: '/mcp', headers, agent },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.on('end', () => resolve({ response, text }))
      },
    )
    request.on('error', reject)
    request.end(sent.body)
  })
}

describe('many requests', () => {
  /** A plain server, whose sockets can be looked at. */
  async function watched(
    router: ReturnType<typeof fixture>['router'],
  ): Promise<{ port: number; sockets: Set<Socket> }> {
    const http = createHttpServer(nodeHandler(router))
    const sockets = new Set<Socket>()
    http.on('connection', (socket) => sockets.add(socket))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    afterTest(() => {
      http.closeAllConnections()
      return new Promise((resolve) => http.close(() => resolve()))
    })
    return { port: (http.address() as AddressInfo).port, sockets }
  }
  const listeners = (socket: Socket): Record<string, number> =>
    Object.fromEntries(socket.eventNames().map((name) => [String(name), socket.listenerCount(name)]))

  test('500 pings in a row go over one connection', async () => {
    const { router } = fixture()
    const { port, sockets } = await watched(router)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    afterTest(() => agent.destroy())
    const clientInfo = { name: 'x', version: '1' }
    const begun = await ask(
      port,
      agent,
      legacy('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }),
    )
    const headers = { 'mcp-session-id': String(begun.response.headers['mcp-session-id']) }
    for (let id = 1; id <= 500; id++) {
      const { text } = await ask(port, agent, legacy('ping', {}, { id, headers }))
      expect(text).toBe(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
    }
    expect(sockets.size).toBe(1)
  })

  test('2,000 requests of both eras grow no listeners and no connections', async () => {
    const { router } = fixture()
    router.tool('touch', {}, async (_params, session) => {
      session.signal.addEventListener('abort', () => undefined)
      await Promise.resolve()
      return 'ok'
    })
    const { port, sockets } = await watched(router)
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    afterTest(() => agent.destroy())
    const clientInfo = { name: 'x', version: '1' }
    const begun = await ask(
      port,
      agent,
      legacy('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }),
    )
    const session = { 'mcp-session-id': String(begun.response.headers['mcp-session-id']) }
    const round = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 4) {
        const answers = await Promise.all([
          ask(port, agent, modern('tools/call', { name: 'touch' }, { id: at })),
          ask(
            port,
            agent,
            modern('tools/call', { name: 'touch' }, { id: at, headers: { accept: 'text/event-stream' } }),
          ),
          ask(port, agent, legacy('tools/call', { name: 'touch' }, { id: at, headers: session })),
          ask(port, agent, legacy('tools/call', { name: 'touch' }, { id: at + 0.5, headers: session } as never)),
        ])
        expect(answers.map(({ response }) => response.statusCode)).toEqual([200, 200, 200, 400])
      }
    }
    await round(40)
    const before = [...sockets].map(listeners)
    await round(1_960)
    expect(sockets.size).toBe(4)
    expect([...sockets].map(listeners)).toEqual(before)
  })

  test('2,000 web requests over one handler cause no warning, and all are answered', async () => {
    const { router, entered } = fixture()
    const handle = fetchHandler(router)
    const { headers, body } = modern('tools/call', { name: 'noargs' })
    for (let at = 0; at < 2_000; at++) {
      const init = { method: 'POST', headers: headers as Record<string, string>, body: body as string }
      expect((await handle(new Request('http://localhost/mcp', init))).status).toBe(200)
    }
    expect(entered).toHaveLength(2_000)
  })

  test('a handler that does not await its progress while nobody reads adds no listener for each', async () => {
    const router = createRouter({ name: 'x', version: '1.0.0' })
    let sent = 0
    router.tool('hurry', {}, async (_params, session) => {
      const all: Promise<void>[] = []
      for (let step = 1; step <= 100; step++) {
        all.push(session.notifyProgress(step, 100, 'x'.repeat(100_000)))
        sent++
        await Promise.resolve()
      }
      await Promise.all(all)
      return 'done'
    })
    const on = await target('node', router)
    const call = modern('tools/call', { name: 'hurry' }, { meta: { progressToken: 1 } })
    const socket = await RawSocket.connect(on.serving?.port ?? 0)
    socket.socket.pause()
    await socket.write(
      head(call, { connection: 'close', 'content-length': String(Buffer.byteLength(call.body as string)) }) +
        (call.body as string),
    )
    await eventually(() => sent).toBe(100)
    socket.socket.resume()
    await socket.ended
    expect(socket.received).toContain('"text":"done"')
  })
})

describe('slow clients', () => {
  test('50 requests that stop inside of their body hold up nobody, and leave nothing', async () => {
    const { router, entered } = fixture()
    const on = await target('node', router)
    const port = on.serving?.port ?? 0
    const sent = modern('tools/call', { name: 'noargs' })
    const sockets = await Promise.all(Array.from({ length: 50 }, () => RawSocket.connect(port)))
    for (const socket of sockets) await socket.write(`${head(sent, { 'content-length': '1000' })}{"jsonrpc":"2.0",`)
    expect(textBlockOf(await on.send(sent))).toBe('ok')
    for (const { socket } of sockets) socket.destroy()
    await Promise.all(sockets.map(({ ended }) => ended))
    expect(textBlockOf(await on.send(sent))).toBe('ok')
    expect(entered).toEqual(['noargs', 'noargs'])
    expect(on.errors).toEqual([])
  })

  test('a long name, uri or method is answered in time', async () => {
    const on = await target('node', fixture().router)
    const long = 'a'.repeat(5_000)
    const started = performance.now()
    for (const sent of [
      modern('tools/call', { name: long }),
      modern('resources/read', { uri: `notes://${long}` }),
      modern(long),
      modern('completion/complete', {
        ref: { type: 'ref/resource', uri: `notes://${'{a}'.repeat(5_000)}` },
        argument: { name: long, value: long },
      }),
      modern('tools/call', { name: 'echo', arguments: { text: '\\"'.repeat(200_000) } }),
    ]) {
      expect([200, 404]).toContain((await on.send(sent)).status)
    }
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})
