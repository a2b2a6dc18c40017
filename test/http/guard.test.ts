import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpOptions } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { nodeHandler, serve } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import { type Answer, afterTest, codeOf, dataOf, initialize, modern, RawSocket, TARGETS, target } from './_http.js'

describe.each(TARGETS)('guard over %s', (kind) => {
  const ask = async (headers: Readonly<Record<string, string>>, http: HttpOptions = {}): Promise<Answer> => {
    const { router, entered } = fixture()
    const on = await target(kind, router, { http })
    const answer = await on.send(modern('tools/call', { name: 'noargs' }, { headers }))
    // What is refused runs nothing, and what is served does.
    expect(entered).toEqual(answer.status === 200 ? ['noargs'] : [])
    return answer
  }

  test.each(['localhost', 'localhost:3000', 'LocalHost:1', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:8080'])(
    'Host %s is this machine, with any port',
    async (host) => {
      expect((await ask({ host })).status).toBe(200)
    },
  )

  test.each([
    'evil.example.com',
    'evil.example.com:3000',
    'localhost.evil.example.com',
    'evil-localhost',
    '127.0.0.1.evil.example.com',
    '127.0.0.2',
    '0.0.0.0',
    '[::2]:3000',
    '[::1].evil.example.com',
    '192.168.1.5:3000',
    'localhost.',
  ])('Host %s is foreign: 403, and the option is named', async (host) => {
    const answer = await ask({ host })
    expect(answer.status).toBe(403)
    expect(codeOf(answer)).toBe(-32600)
    expect(dataOf(answer)).toEqual({ reason: 'host', option: 'hosts' })
    expect(JSON.stringify(answer.message)).toContain('hosts')
  })

  test.each([
    'http://localhost',
    'http://localhost:5173',
    'https://127.0.0.1:8443',
    'http://[::1]:3000',
    'HTTP://LOCALHOST:1',
  ])('Origin %s is a page of this machine', async (origin) => {
    expect((await ask({ origin })).status).toBe(200)
  })

  test.each([
    'https://evil.example.com',
    'http://localhost.evil.example.com',
    'http://evil.example.com:3000',
    'http://127.0.0.1.evil.example.com',
    'http://localhost@evil.example.com',
    'null',
    'localhost',
    'file://',
    '',
  ])('Origin %j is foreign: 403, and the option is named', async (origin) => {
    const answer = await ask({ origin })
    expect(answer.status).toBe(403)
    expect(codeOf(answer)).toBe(-32600)
    expect(dataOf(answer)).toEqual({ reason: 'origin', option: 'origins' })
    expect(JSON.stringify(answer.message)).toContain('origins')
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
  })

  test.each(['GET', 'POST', 'DELETE'])('%s of a foreign page is refused whatever it asks', async (method) => {
    const on = await target(kind, fixture().router)
    const headers = { origin: 'https://evil.example.com', accept: 'text/event-stream', 'mcp-session-id': 'x' }
    expect((await on.send({ method, headers })).status).toBe(403)
    expect((await on.send(initialize('2025-11-25', { host: 'evil.example.com' }))).status).toBe(403)
  })

  describe('hosts', () => {
    const hosts = ['mcp.example.com', 'Other.Example.com:8443']

    test.each(['mcp.example.com', 'MCP.example.com:443', 'other.example.com'])('a list serves %s', async (host) => {
      expect((await ask({ host }, { hosts })).status).toBe(200)
    })

    test.each(['localhost', '127.0.0.1:3000', 'example.com', 'x.mcp.example.com'])(
      'a list serves %s no more',
      async (host) => {
        expect(dataOf(await ask({ host }, { hosts }))).toEqual({ reason: 'host', option: 'hosts' })
      },
    )

    test("the server's own pages may call it where its name is listed", async () => {
      const own = { host: 'mcp.example.com', origin: 'https://mcp.example.com' }
      expect((await ask(own, { hosts })).status).toBe(200)
      expect(
        (await ask({ host: 'mcp.example.com:8443', origin: 'https://mcp.example.com:8443' }, { hosts })).status,
      ).toBe(200)
      expect((await ask({ host: 'mcp.example.com', origin: 'https://other.example.com' }, { hosts })).status).toBe(403)
      expect((await ask({ host: 'mcp.example.com', origin: 'https://mcp.example.com:8443' }, { hosts })).status).toBe(
        403,
      )
      expect((await ask({ host: 'mcp.example.com', origin: 'http://localhost:5173' }, { hosts })).status).toBe(403)
    })

    test("'*' serves every name, and no name makes a page the server's own", async () => {
      expect((await ask({ host: 'anything.example.com' }, { hosts: '*' })).status).toBe(200)
      const rebound = { host: 'evil.example.com', origin: 'http://evil.example.com' }
      expect((await ask(rebound, { hosts: '*' })).status).toBe(403)
      expect((await ask({ host: 'localhost', origin: 'null' }, { hosts: '*' })).status).toBe(403)
    })
  })

  describe('origins', () => {
    test('a list', async () => {
      const origins = ['https://app.example.com', 'http://Dev.example.com:5173', 'chrome-extension://abc']
      for (const origin of [
        'https://app.example.com',
        'HTTPS://APP.example.com',
        'http://dev.example.com:5173',
        'chrome-extension://abc',
      ]) {
        expect((await ask({ origin }, { origins })).status).toBe(200)
      }
      for (const origin of [
        'http://app.example.com',
        'https://app.example.com:8443',
        'https://app.example.com.evil.com',
        'https://x.app.example.com',
        'null',
      ]) {
        expect((await ask({ origin }, { origins })).status).toBe(403)
      }
      expect((await ask({}, { origins })).status).toBe(200)
    })

    test('a function', async () => {
      const asked: string[] = []
      const origins = (origin: string): boolean => {
        asked.push(origin)
        return origin.endsWith('.example.com') || origin === 'null'
      }
      expect((await ask({ origin: 'https://a.example.com' }, { origins })).status).toBe(200)
      expect((await ask({ origin: 'null' }, { origins })).status).toBe(200)
      expect((await ask({ origin: 'https://example.org' }, { origins })).status).toBe(403)
      expect(asked).toEqual(['https://a.example.com', 'null', 'https://example.org'])
    })

    test('a function that throws costs its request only, masked and reported', async () => {
      let broken = true
      const origins = (): boolean => {
        if (broken) throw new Error('database is down')
        return true
      }
      const on = await target(kind, fixture().router, { http: { origins } })
      const sent = modern('tools/list', {}, { headers: { origin: 'https://a.example.com' } })
      const answer = await on.send(sent)
      expect([answer.status, codeOf(answer)]).toEqual([500, -32603])
      expect(answer.text).not.toContain('database')
      expect(on.errors).toHaveLength(1)
      broken = false
      expect((await on.send(sent)).status).toBe(200)
    })

    test("'*'", async () => {
      expect((await ask({ origin: 'https://evil.example.com' }, { origins: '*' })).status).toBe(200)
      expect((await ask({ origin: 'null' }, { origins: '*' })).status).toBe(200)
      // Names are another matter.
      expect((await ask({ host: 'evil.example.com' }, { origins: '*' })).status).toBe(403)
    })
  })

  test('an answer that refuses does not let a name break out of its JSON', async () => {
    const answer = await ask({ host: 'evil"}.example.com' })
    expect(answer.status).toBe(403)
    expect(answer.message).toMatchObject({ error: { code: -32600 } })
  })
})

describe('hosts on a socket', () => {
  const raw = async (lines: string): Promise<RawSocket> => {
    const on = await target('node', fixture().router)
    const socket = await RawSocket.connect(on.serving?.port ?? 0)
    await socket.write(`PUT /mcp HTTP/1.1\r\nconnection: close\r\n${lines}\r\n`)
    await socket.ended
    return socket
  }

  test('two Host headers, one of them foreign, are refused', async () => {
    // What passes the guard here is 405.
    expect((await raw('host: localhost\r\n')).status).toBe(405)
    expect([400, 403]).toContain((await raw('host: localhost\r\nhost: evil.example.com\r\n')).status)
    expect([400, 403]).toContain((await raw('host: evil.example.com\r\nhost: localhost\r\n')).status)
  })

  test('two Origin headers, one of them foreign, are refused', async () => {
    const on = await target('node', fixture().router)
    const answer = await on.send(
      modern('tools/list', {}, { headers: { origin: ['http://localhost', 'https://evil.example.com'] } }),
    )
    expect(answer.status).toBe(403)
  })

  test('no Host header is refused', async () => {
    expect([400, 403]).toContain((await raw('')).status)
  })
})

describe('hosts that listen', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'mcp.example.com'])(
    'serve on %s without hosts is a TypeError',
    async (host) => {
      const error = await serve(fixture().router, { port: 0, host }).then(
        (serving) => serving.close().then(() => undefined),
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain('serve:')
      expect(String(error)).toContain(host)
      expect(String(error)).toContain('hosts')
    },
  )

  test('serve on 0.0.0.0 with hosts serves those', async () => {
    const serving = await serve(fixture().router, {
      port: 0,
      host: '0.0.0.0',
      hosts: ['mcp.example.com'],
      signals: false,
    })
    afterTest(() => serving.close())
    const status = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { port: serving.port, path: '/mcp', method: 'OPTIONS', headers: { host }, agent: false }
        httpRequest(options, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .on('error', reject)
          .end()
      })
    expect(await status('mcp.example.com')).toBe(204)
    const sent = modern('tools/list', {}, { headers: { host: 'localhost' } })
    const response = await fetch(serving.url.replace('0.0.0.0', '127.0.0.1'), {
      method: 'POST',
      headers: sent.headers as Record<string, string>,
      body: sent.body as string,
    })
    expect(response.status).toBe(403)
  })

  test.each(['localhost', '127.0.0.1'])('serve on %s needs no hosts, and its url works', async (host) => {
    const serving = await serve(fixture().router, { port: 0, host, signals: false })
    afterTest(() => serving.close())
    expect(serving.url).toBe(`http://${host}:${serving.port}/mcp`)
    const { headers, body } = modern('tools/list')
    const response = await fetch(serving.url, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: body as string,
    })
    expect(response.status).toBe(200)
  })

  test('serve takes another path', async () => {
    const serving = await serve(fixture().router, { port: 0, path: '/team/mcp', signals: false })
    afterTest(() => serving.close())
    expect(serving.url).toMatch(/\/team\/mcp$/)
    const { headers, body } = modern('tools/list')
    const init = { method: 'POST', headers: headers as Record<string, string>, body: body as string }
    expect((await fetch(serving.url, init)).status).toBe(200)
    expect((await fetch(serving.url.replace('/team', ''), init)).status).toBe(404)
  })

  test('nodeHandler and fetchHandler guard by default as serve does', async () => {
    const http = createHttpServer(nodeHandler(fixture().router))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    afterTest(() => new Promise((resolve) => http.close(() => resolve())))
    const socket = await RawSocket.connect((http.address() as AddressInfo).port)
    await socket.write('POST / HTTP/1.1\r\nhost: evil.example.com\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    await socket.ended
    expect(socket.status).toBe(403)
    const handle = fetchHandler(fixture().router)
    const { headers, body } = modern('tools/list')
    const init = { method: 'POST', headers: headers as Record<string, string>, body: body as string }
    expect((await handle(new Request('https://app.example.com/mcp', init))).status).toBe(403)
    expect((await handle(new Request('http://localhost/mcp', init))).status).toBe(200)
    const listed = fetchHandler(fixture().router, { hosts: ['app.example.com'] })
    expect((await listed(new Request('https://app.example.com/any/path', init))).status).toBe(200)
  })
})
