import { createServer, type Server } from 'node:http'
import { connect } from 'phantom-mcp/testing'
import { manyTools } from '../many-tools.js'

/** Sends a stored string: the answer that the server beside it makes, made once. */
export async function makeServer(): Promise<Server> {
  const client = await connect(manyTools(200))
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: await client.list('tools') })
  const length = Buffer.byteLength(body)
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
      response.end(body)
    })
  })
}
