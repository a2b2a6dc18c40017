import { createRouter } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import {
  begin,
  codeOf,
  dataOf,
  type HeaderList,
  initialize,
  legacy,
  MODERN,
  modern,
  type Sent,
  TARGETS,
  target,
} from './_http.js'

const FOREIGN = 'evil.example.com'
const UNKNOWN = 'never-issued'
const LIMIT = 1_000
const HUGE = 'x'.repeat(LIMIT + 1)

interface Row {
  /** The earlier check, which wins, and the later one. */
  readonly checks: readonly [string, string]
  readonly sent: Sent
  /** Status, code, and the word of the reason where there is one. */
  readonly wins: readonly [number, number | undefined, string?]
}

const unknownSession = { 'mcp-session-id': UNKNOWN }
const modernWith = (headers: HeaderList, body?: string): Sent => {
  const sent = modern('tools/call', { name: 'noargs' }, { headers })
  return body === undefined ? sent : { ...sent, body }
}
/** A modern request with an incomplete envelope. */
const incomplete = (method: string, headers: HeaderList = {}): Sent => ({
  ...modern(method, {}, { headers }),
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN } },
  }),
})

// Each row violates two neighbours of the order of checks (docs/architecture.md); the earlier one has to be told.
const ROWS: Row[] = [
  { checks: ['OPTIONS', 'host'], sent: { method: 'OPTIONS', headers: { host: FOREIGN } }, wins: [204, undefined] },
  {
    checks: ['OPTIONS', 'origin'],
    sent: {
      method: 'OPTIONS',
      headers: { origin: `https://${FOREIGN}`, 'access-control-request-method': 'POST' },
    },
    wins: [204, undefined],
  },
  {
    checks: ['host', 'origin'],
    sent: modernWith({ host: FOREIGN, origin: `https://other.${FOREIGN}` }),
    wins: [403, -32600, 'host'],
  },
  { checks: ['host', 'method'], sent: { method: 'PUT', headers: { host: FOREIGN } }, wins: [403, -32600, 'host'] },
  {
    checks: ['origin', 'method'],
    sent: { method: 'PUT', headers: { origin: `https://${FOREIGN}` } },
    wins: [403, -32600, 'origin'],
  },
  {
    checks: ['method', 'type'],
    sent: { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'x' },
    wins: [405, -32600, 'method'],
  },
  {
    checks: ['method', 'session'],
    sent: { method: 'PUT', headers: unknownSession },
    wins: [405, -32600, 'method'],
  },
  {
    checks: ['type', 'accept'],
    sent: modernWith({ 'content-type': 'text/plain', accept: 'text/html' }),
    wins: [415, -32600, 'content_type'],
  },
  {
    checks: ['type', 'size'],
    sent: modernWith({ 'content-type': 'text/plain' }, HUGE),
    wins: [415, -32600, 'content_type'],
  },
  {
    checks: ['type', 'parse'],
    sent: modernWith({ 'content-type': 'text/plain' }, '{'),
    wins: [415, -32600, 'content_type'],
  },
  { checks: ['accept', 'parse'], sent: modernWith({ accept: 'text/html' }, '{'), wins: [406, -32600, 'accept'] },
  { checks: ['size', 'parse'], sent: modernWith({}, HUGE), wins: [413, -32600, 'too_large'] },
  { checks: ['parse', 'era'], sent: modernWith({ 'mcp-protocol-version': '2099-01-01' }, '{'), wins: [400, -32700] },
  {
    checks: ['parse', 'session'],
    sent: { ...legacy('x', {}, { headers: unknownSession }), body: '{' },
    wins: [400, -32700],
  },
  { checks: ['parse', 'headers'], sent: modernWith({ 'mcp-method': 'other' }, '{'), wins: [400, -32700] },
  {
    checks: ['era', 'session'],
    sent: { ...modern('ping'), headers: { ...modern('ping').headers, ...unknownSession } },
    wins: [404, -32601],
  },
  {
    checks: ['era', 'session of initialize'],
    sent: { ...initialize('2025-11-25', { ...unknownSession, 'mcp-protocol-version': MODERN }) },
    wins: [404, -32601],
  },
  {
    checks: ['session', 'message'],
    sent: { ...legacy('x', {}, { headers: unknownSession }), body: '{"jsonrpc":"2.0","id":null,"method":"ping"}' },
    wins: [404, -32600, 'session_unknown'],
  },
  {
    checks: ['session', 'array'],
    sent: { ...legacy('x', {}, { headers: unknownSession }), body: '[]' },
    wins: [404, -32600, 'session_unknown'],
  },
  {
    checks: ['session', 'method of the message'],
    sent: legacy('no/such/method', {}, { headers: unknownSession }),
    wins: [404, -32600, 'session_unknown'],
  },
  {
    checks: ['session', 'params'],
    sent: legacy('tools/call', { name: 'nothing' }),
    wins: [400, -32600, 'session_required'],
  },
  { checks: ['envelope', 'method of the message'], sent: incomplete('no/such/method'), wins: [400, -32602] },
  {
    checks: ['version header', 'envelope'],
    sent: incomplete('tools/list', { 'mcp-protocol-version': '2025-11-25' }),
    wins: [400, -32020],
  },
  {
    checks: ['headers', 'method of the message'],
    sent: modern('no/such/method', {}, { headers: { 'mcp-method': 'tools/list' } }),
    wins: [400, -32020],
  },
  {
    checks: ['headers', 'method that the server lacks'],
    sent: modern('prompts/get', { name: 'x' }, { headers: { 'mcp-name': 'y' } }),
    wins: [400, -32020],
  },
  {
    checks: ['headers', 'params'],
    sent: modern('tools/call', { name: 'nothing' }, { headers: { 'mcp-name': 'other' } }),
    wins: [400, -32020],
  },
  {
    checks: ['method of the message', 'params'],
    sent: modern('prompts/get', { name: 'x', arguments: 5 }),
    wins: [404, -32601],
  },
]

describe.each(TARGETS)('order of checks over %s', (kind) => {
  test.each(ROWS)('$checks.0 comes before $checks.1', async ({ sent, wins }) => {
    const router = createRouter({ name: 'bare', version: '1.0.0' })
    let ran = 0
    router.tool('noargs', {}, () => {
      ran++
      return 'ok'
    })
    const on = await target(kind, router, { http: { maxBodyBytes: LIMIT } })
    const answer = await on.send(sent)
    const [status, code, reason] = wins
    expect([answer.status, codeOf(answer)]).toEqual([status, code])
    if (reason !== undefined) expect(dataOf(answer)['reason']).toBe(reason)
    if (sent.method === 'OPTIONS') expect(answer.header('access-control-allow-origin')).toBeUndefined()
    expect(ran).toBe(0)
    expect((await on.send(modern('tools/call', { name: 'noargs' }))).status).toBe(200)
    expect(ran).toBe(1)
  })

  test('a session is looked for before its message is judged, and lives on', async () => {
    const on = await target(kind, fixture().router)
    const { headers } = await begin(on)
    const answer = await on.send({ ...legacy('x', {}, { headers }), body: '{"jsonrpc":"2.0","id":1,"method":5}' })
    expect([answer.status, codeOf(answer), answer.message?.['id']]).toEqual([400, -32600, 1])
    expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
  })
})
