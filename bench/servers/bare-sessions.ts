import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { MESSAGE } from '../requests.js'

/** The least that a server with sessions does: an id for `initialize`, a look at it for each call, a stream, and an end. */
export function makeServer(): Server {
  const sessions = new Set<string>()
  return createServer((request, response) => {
    const id = String(request.headers['mcp-session-id'])
    if (request.method === 'DELETE') {
      response.writeHead(sessions.delete(id) ? 204 : 404).end()
      return
    }
    if (request.method === 'GET') return openStream(response)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer({ sessions, id, body: Buffer.concat(chunks).toString() }, request, response))
  })
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(': open\n\n')
}

interface Asked {
  readonly sessions: Set<string>
  readonly id: string
  readonly body: string
}

function answer({ sessions, id: session, body }: Asked, _request: IncomingMessage, response: ServerResponse): void {
  const { id, method } = JSON.parse(body) as { id: number; method: string }
  if (method === 'subscriptions/listen') return openStream(response)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (method === 'initialize') {
    headers['mcp-session-id'] = crypto.randomUUID()
    sessions.add(headers['mcp-session-id'])
  } else if (!sessions.has(session)) {
    response.writeHead(404, headers).end('{}')
    return
  }
  const result = method === 'initialize' ? INITIALIZED : { content: [{ type: 'text', text: MESSAGE }] }
  const text = JSON.stringify({ jsonrpc: '2.0', id, result })
  headers['content-length'] = String(Buffer.byteLength(text))
  response.writeHead(200, headers)
  response.end(text)
}

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true }, logging: {} },
  serverInfo: { name: 'bench', version: '1.0.0' },
}
