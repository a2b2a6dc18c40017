import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { MESSAGE } from '../requests.js'

/** What no server can do without: collect the body, parse it, stringify an answer of 200 bytes, and say its length. */
export function makeServer(): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(chunks, request, response))
  })
}

function answer(chunks: readonly Buffer[], _request: IncomingMessage, response: ServerResponse): void {
  const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: {
      content: [{ type: 'text', text: MESSAGE }],
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bench', version: '1.0.0' } },
    },
  })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
