import { SESSION_MARK } from './load.js'

/** A request as every connection sends it, again and again. */
export interface LoadRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The version to begin a session of, one for each connection; undefined where requests stand alone. */
  readonly session?: string
  /** What each connection sends in turn instead, from `initialize` to DELETE; `body` is the one whose answer is checked. */
  readonly cycle?: readonly LoadStep[]
  /** @throws Error when the body of an answer is not the right one. */
  check(answer: unknown): void
}

/** One request of a cycle. */
export interface LoadStep {
  readonly method: 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What the tool `echo` is called with, so long that its answer has the 200 bytes of the bare server's. */
export const MESSAGE = 'The quick brown foxes'

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
}

/** `tools/call` of 2026-07-28. */
export const modernCall: LoadRequest = {
  headers: { ...TYPES, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' },
  body: request('tools/call', { name: 'echo', arguments: { message: MESSAGE }, _meta: META }),
  check: checkEcho,
}

/** The same of a tool that asks its client, and waits. */
export const askingCall: Pick<LoadRequest, 'headers' | 'body'> = {
  headers: { ...modernCall.headers, 'mcp-name': 'ask' },
  body: request('tools/call', {
    name: 'ask',
    arguments: { message: MESSAGE },
    _meta: { ...META, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } },
  }),
}

/** `tools/call` of 2025-11-25, in a session. */
export const legacyCall: LoadRequest = {
  headers: { ...TYPES, 'mcp-protocol-version': '2025-11-25' },
  body: request('tools/call', { name: 'echo', arguments: { message: MESSAGE } }),
  session: '2025-11-25',
  check: checkEcho,
}

export const initializeBody: string = request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
})

const IN_SESSION = { ...legacyCall.headers, 'mcp-session-id': SESSION_MARK }

/** A session of 2025-11-25 from its beginning to its end, with one call. */
export const sessionCycle: LoadRequest = {
  ...legacyCall,
  cycle: [
    { method: 'POST', headers: TYPES, body: initializeBody },
    { method: 'POST', headers: IN_SESSION, body: legacyCall.body },
    { method: 'DELETE', headers: IN_SESSION, body: '' },
  ],
}

/** `tools/list` of 2026-07-28, all on one page. */
export const listCall: LoadRequest = {
  headers: { ...TYPES, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  body: request('tools/list', { _meta: META }),
  check: (answer) => {
    const tools = (answer as { result?: { tools?: readonly unknown[] } }).result?.tools
    if (tools?.length !== 200) throw new Error(`200 tools were expected: ${JSON.stringify(answer).slice(0, 300)}`)
  },
}

/** `subscriptions/listen`, for the list of tools. */
export const listenCall: Pick<LoadRequest, 'headers' | 'body'> = {
  headers: { ...TYPES, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
  body: request('subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: META }),
}

/** A resource that clients follow. */
export const FOLLOWED = 'bench://clock'

/** The same, for a resource. */
export const followCall: Pick<LoadRequest, 'headers' | 'body'> = {
  ...listenCall,
  body: request('subscriptions/listen', { notifications: { resourceSubscriptions: [FOLLOWED] }, _meta: META }),
}

export const subscribeBody: string = request('resources/subscribe', { uri: FOLLOWED })

/** `tools/call` of 2026-07-28 of the tool that tells all who follow the resource, and says when it began. */
export const touchCall: Pick<LoadRequest, 'headers' | 'body'> = {
  headers: { ...modernCall.headers, 'mcp-name': 'touch' },
  body: request('tools/call', { name: 'touch', arguments: {}, _meta: META }),
}

/** `tools/call` of a session, of a tool that tells its progress once: its answer is a stream. */
export const streamedBody: string = request('tools/call', {
  name: 'progress',
  arguments: {},
  _meta: { progressToken: 'bench' },
})

function request(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

function checkEcho(answer: unknown): void {
  const { id, result } = answer as { id?: unknown; result?: { content?: readonly { text?: unknown }[] } }
  if (id === 1 && result?.content?.[0]?.text === MESSAGE) return
  throw new Error(`An echo was expected: ${JSON.stringify(answer).slice(0, 300)}`)
}
