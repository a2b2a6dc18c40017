import { createServer, type Server } from 'node:http'
import { nodeHandler } from 'phantom-mcp/node'
import { manyTools } from '../many-tools.js'

/** 200 tools of 10 fields, on one page. */
export function makeServer(): Server {
  const handle = nodeHandler(manyTools(200))
  return createServer((request, response) => void handle(request, response))
}
