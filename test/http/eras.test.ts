import { createRouter } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import {
  type Answer,
  begin,
  codeOf,
  dataOf,
  initialize,
  type Json,
  legacy,
  META,
  MODERN,
  modern,
  resultOf,
  type Sent,
  TARGETS,
  type Target,
  target,
  textBlockOf,
} from './_http.js'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const SESSION_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

/** A modern request with another `_meta`. */
function withMeta(meta: unknown, headers: Readonly<Record<string, string | undefined>> = {}): Sent {
  const sent = modern('tools/list', {}, { headers })
  return { ...sent, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }) }
}

/** What every error of a version has to look like to clients that look for the mark of 2026-07-28. */
function expectNoModernCode(answer: Answer): void {
  expect([-32020, -32021, -32022]).not.toContain(codeOf(answer))
}

describe.each(TARGETS)('eras at one URL over %s', (kind) => {
  const served = (): Promise<Target> => target(kind, fixture().router)

  test('both are served side by side, and neither commits the endpoint', async () => {
    const on = await served()
    expect(resultOf(await on.send(modern('server/discover')))).toMatchObject({ supportedVersions: [MODERN] })
    const { headers } = await begin(on)
    expect(resultOf(await on.send(modern('tools/list')))).toMatchObject({ resultType: 'complete' })
    const listed = resultOf(await on.send(legacy('tools/list', {}, { headers })))
    expect(listed).toBeDefined()
    expect(listed).not.toHaveProperty('resultType')
    expect(resultOf(await on.send(modern('server/discover')))).toMatchObject({ resultType: 'complete' })
  })

  test.each(SESSION_VERSIONS)('initialize names %s and gets it', async (version) => {
    const on = await served()
    expect(resultOf(await on.send(initialize(version)))).toMatchObject({ protocolVersion: version })
    const { headers } = await begin(on, version)
    const answer = await on.send(legacy('tools/call', { name: 'noargs' }, { headers }))
    expect(textBlockOf(answer)).toBe('ok')
  })

  test.each([MODERN, '2099-01-01', '1.0', ''])(
    'F1: initialize names %j and gets the newest with sessions',
    async (version) => {
      const on = await served()
      const answer = await on.send(initialize(version))
      expect(resultOf(answer)).toMatchObject({ protocolVersion: '2025-11-25' })
      const id = answer.header('mcp-session-id') ?? ''
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
      expect((await on.send(legacy('tools/list', {}, { headers }))).status).toBe(200)
    },
  )

  test.each([
    ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }],
    ['ping', {}],
    ['logging/setLevel', { level: 'info' }],
    ['resources/subscribe', { uri: 'notes://plain' }],
    ['resources/unsubscribe', { uri: 'notes://plain' }],
  ])('%s does not exist in 2026-07-28', async (method, params) => {
    const on = await served()
    const { headers: session } = await begin(on)
    for (const sent of [
      modern(method, params),
      modern(method, params, { headers: { 'mcp-session-id': session['mcp-session-id'] } }),
      // Even without the headers that go with it.
      { ...modern(method, params), headers: legacy(method).headers ?? {} },
    ]) {
      const answer = await on.send(sent)
      // A request without its headers may be refused for them where the method is unknown in every version.
      if (method.startsWith('resources/') && answer.status === 400) expect(codeOf(answer)).toBe(-32020)
      else expect([answer.status, codeOf(answer), answer.message?.['id']]).toEqual([404, -32601, 1])
      expect(answer.header('mcp-session-id')).toBeUndefined()
    }
  })

  test.each(['initialize', 'ping'])('%s with the header of 2026-07-28 and no envelope is not found', async (method) => {
    const on = await served()
    const { params } = JSON.parse(initialize().body as string) as { params: Json }
    const answer = await on.send(legacy(method, params, { headers: { 'mcp-protocol-version': MODERN } }))
    expect([answer.status, codeOf(answer)]).toEqual([404, -32601])
    expect(answer.header('mcp-session-id')).toBeUndefined()
  })

  test.each([...SESSION_VERSIONS, '2099-01-01', 'banana', ''])(
    'an envelope that names %j is refused with the versions that are served',
    async (version) => {
      const on = await served()
      const answer = await on.send(withMeta({ ...META, [VERSION]: version }, { 'mcp-protocol-version': version }))
      expect([answer.status, codeOf(answer)]).toEqual([400, -32022])
      expect(dataOf(answer)).toEqual({ supported: [MODERN], requested: version })
      expect(answer.message?.['id']).toBe(1)
    },
  )

  test.each([
    ['no _meta', undefined],
    ['an empty _meta', {}],
    ['a _meta without a version', { [CAPABILITIES]: {} }],
    ['a _meta without capabilities', { [VERSION]: MODERN }],
    ['capabilities that are null', { ...META, [CAPABILITIES]: null }],
    ['capabilities that are an array', { ...META, [CAPABILITIES]: [] }],
    ['a version that is a number', { ...META, [VERSION]: 2026 }],
    ['a _meta that is null', null],
    ['a _meta that is a list', []],
    ['an unknown log level', { ...META, 'io.modelcontextprotocol/logLevel': 'loud' }],
  ])('with the header of 2026-07-28, %s is -32602 and 400', async (_what, meta) => {
    const on = await served()
    const answer = await on.send(withMeta(meta))
    expect([answer.status, codeOf(answer), answer.message?.['id']]).toEqual([400, -32602, 1])
  })

  test.each([
    ['none', META, { 'mcp-protocol-version': undefined }],
    ['an older one', META, { 'mcp-protocol-version': '2025-11-25' }],
    ['an unknown one', META, { 'mcp-protocol-version': '2099-01-01' }],
    ['one in other case', { ...META, [VERSION]: MODERN }, { 'mcp-protocol-version': '2026-07-28x' }],
    ['2026-07-28 where the body names another', { ...META, [VERSION]: '2025-11-25' }, {}],
  ])('a version header that differs from the body, %s, is -32020', async (_what, meta, headers) => {
    const on = await served()
    const answer = await on.send(withMeta(meta, headers))
    expect([answer.status, codeOf(answer), answer.message?.['id']]).toEqual([400, -32020, 1])
  })

  test.each([
    ['missing', undefined],
    ['unreadable', { 'io.modelcontextprotocol/clientInfo': 5 }],
    ['without a name', { 'io.modelcontextprotocol/clientInfo': {} }],
  ])('a clientInfo that is %s does not matter', async (_what, meta) => {
    const on = await served()
    expect((await on.send(modern('tools/list', {}, { meta: meta ?? {} }))).status).toBe(200)
  })

  test('ids of sessions and events mean nothing in 2026-07-28', async () => {
    const on = await served()
    const headers = { 'mcp-session-id': 'never-issued', 'last-event-id': '7' }
    const answer = await on.send(modern('tools/list', {}, { headers }))
    expect(answer.status).toBe(200)
    expect(answer.header('mcp-session-id')).toBeUndefined()
    expect((await on.send(modern('server/discover'))).header('mcp-session-id')).toBeUndefined()
  })

  test.each(['1999-01-01', '2099-01-01', 'banana'])(
    'the version header %s of an older client is 400',
    async (version) => {
      const on = await served()
      const { id } = await begin(on)
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': version }
      const named = { reason: 'protocol_version', header: 'MCP-Protocol-Version' }
      for (const method of ['tools/list', 'ping', 'logging/setLevel', 'server/discover', 'no/such']) {
        const answer = await on.send(legacy(method, {}, { headers }))
        expect([answer.status, codeOf(answer), answer.message?.['id'], dataOf(answer)]).toEqual([400, -32600, 1, named])
      }
      const told = await on.send(legacy('notifications/initialized', {}, { headers, notification: true }))
      expect([told.status, dataOf(told)]).toEqual([400, named])
      // 2025-06-18 basic/transports, Protocol Version Header: MUST, on every request of a session.
      expect((await on.send({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).status).toBe(400)
      expect((await on.send({ method: 'DELETE', headers })).status).toBe(400)
      expect((await on.send(legacy('ping', {}, { headers: { 'mcp-session-id': id } }))).status).toBe(200)
    },
  )

  test('a session needs no version header', async () => {
    const on = await served()
    const { id } = await begin(on, '2025-11-25')
    expect((await on.send(legacy('tools/list', {}, { headers: { 'mcp-session-id': id } }))).status).toBe(200)
  })

  test('B3: arrays are for 2025-03-26 only', async () => {
    const { router, entered } = fixture()
    const on = await target(kind, router)
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'noargs' } }
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      call,
      { jsonrpc: '2.0', id: 3, method: 'nothing' },
      5,
    ]
    const { headers } = await begin(on, '2025-03-26')
    const answer = await on.send({ ...legacy('x', {}, { headers }), body: JSON.stringify(batch) })
    const messages = JSON.parse(answer.text) as Json[]
    expect(answer.status).toBe(200)
    expect(messages.map(({ id }) => id)).toEqual([1, 2, 3, null])
    expect(messages[3]).toMatchObject({ error: { code: -32600 } })
    expect(entered).toEqual(['noargs'])
    const silent = JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/initialized' }])
    expect((await on.send({ ...legacy('x', {}, { headers }), body: silent })).status).toBe(202)
    const nested = JSON.stringify([{ ...(JSON.parse(initialize().body as string) as Json) }])
    const refused = JSON.parse((await on.send({ ...legacy('x', {}, { headers }), body: nested })).text) as Json[]
    expect(refused[0]).toMatchObject({ id: 1, error: { code: -32600 } })
  })

  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'B3: an array in %s is refused, and nothing of it runs',
    async (version) => {
      const { router, entered } = fixture()
      const on = await target(kind, router)
      const { headers } = await begin(on, version)
      const body = JSON.stringify([{ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'noargs' } }])
      const answer = await on.send({ ...legacy('x', {}, { headers }), body })
      expect([answer.status, codeOf(answer)]).toEqual([400, -32600])
      expect(entered).toEqual([])
    },
  )

  test.each([...SESSION_VERSIONS, MODERN])('B3: an empty array in %s is -32600', async (version) => {
    const on = await served()
    const headers = version === MODERN ? (modern('x').headers ?? {}) : (await begin(on, version)).headers
    const answer = await on.send({ ...legacy('x', {}, { headers }), body: '[]' })
    expect([answer.status, codeOf(answer)]).toEqual([400, -32600])
  })

  test('an array of 2026-07-28 is refused with and without its header, and nothing of it runs', async () => {
    const { router, entered } = fixture()
    const on = await target(kind, router)
    const call = modern('tools/call', { name: 'noargs' })
    const { headers } = await begin(on, '2025-03-26')
    for (const sent of [
      { ...call, body: `[${call.body as string}]` },
      { ...legacy('x', {}, { headers }), body: `[${call.body as string}]` },
    ]) {
      const answer = await on.send(sent)
      expect([answer.status, codeOf(answer)]).toEqual([400, -32600])
    }
    expect(entered).toEqual([])
  })

  test('notifications of 2026-07-28 are accepted; responses are not', async () => {
    const on = await served()
    const { headers = {} } = modern('notifications/cancelled')
    const notification = (method: string, more: Json = {}): Sent => ({
      headers: { ...headers, 'mcp-method': method },
      body: JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: 1, ...more } }),
    })
    for (const sent of [
      notification('notifications/cancelled'),
      notification('notifications/moon'),
      notification('notifications/moon', { _meta: META }),
      { ...notification('notifications/moon'), headers: { ...headers, 'mcp-method': undefined } },
    ]) {
      const answer = await on.send(sent)
      expect([answer.status, answer.text]).toEqual([202, ''])
    }
    const wrong = await on.send({
      ...notification('notifications/moon'),
      headers: { ...headers, 'mcp-method': 'other' },
    })
    expect([wrong.status, codeOf(wrong)]).toEqual([400, -32020])
    const response = await on.send({ headers, body: '{"jsonrpc":"2.0","id":3,"result":{}}' })
    expect([response.status, codeOf(response)]).toEqual([400, -32600])
  })

  test('the same id may be in flight twice in 2026-07-28', async () => {
    const { router, held } = fixture()
    const on = await target(kind, router)
    const call = (tag: string): Promise<Answer> =>
      on.send(modern('tools/call', { name: 'hold', arguments: { tag } }, { id: 7 }))
    const answers = [call('a'), call('b')]
    const [one, two] = [await held('a'), await held('b')]
    two.release()
    expect(textBlockOf((await answers[1]) as Answer)).toBe('b')
    one.release()
    expect(textBlockOf((await answers[0]) as Answer)).toBe('a')
  })

  test('statuses: what is told by status in 2026-07-28 is told in band before', async () => {
    const on = await served()
    const { headers } = await begin(on)
    const cases: [string, Json, { modern: [number, number]; legacy: [number, number] }][] = [
      ['no/such/method', {}, { modern: [404, -32601], legacy: [200, -32601] }],
      ['tools/call', { name: 'no-such-tool' }, { modern: [200, -32602], legacy: [200, -32602] }],
      ['tools/call', {}, { modern: [200, -32602], legacy: [200, -32602] }],
      ['resources/read', { uri: 'notes://nothing' }, { modern: [200, -32602], legacy: [200, -32002] }],
      ['prompts/get', { name: 'no-such-prompt' }, { modern: [200, -32602], legacy: [200, -32602] }],
      ['tools/list', { cursor: 'bm90LW1pbmU' }, { modern: [200, -32602], legacy: [200, -32602] }],
    ]
    for (const [method, params, expected] of cases) {
      const now = await on.send(modern(method, params))
      expect([method, now.status, codeOf(now)]).toEqual([method, ...expected.modern])
      const before = await on.send(legacy(method, params, { headers }))
      expect([method, before.status, codeOf(before)]).toEqual([method, ...expected.legacy])
      expectNoModernCode(before)
    }
  })

  test('what a handler throws is an isError result or a masked error, with status 200', async () => {
    const on = await served()
    const answer = await on.send(modern('tools/call', { name: 'fail' }))
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('secret')
    expect(on.errors.splice(0)).toHaveLength(1)
  })

  test('methods behind what the server does not have are not found', async () => {
    const router = createRouter({ name: 'bare', version: '1.0.0' })
    router.tool('noargs', {}, () => 'ok')
    const on = await target(kind, router)
    for (const [method, params] of [
      ['prompts/list', {}],
      ['prompts/get', { name: 'x' }],
    ] as const) {
      const answer = await on.send(modern(method, params))
      expect([method, answer.status, codeOf(answer)]).toEqual([method, 404, -32601])
    }
  })
})
