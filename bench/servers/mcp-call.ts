import { createServer, type Server } from 'node:http'
import { createRouter, field } from 'phantom-mcp'
import { nodeHandler } from 'phantom-mcp/node'

/** One tool, `echo`, with all that a server of ours does for a call. */
export function makeServer(): Server {
  const router = createRouter({ name: 'bench', version: '1.0.0' })
  const input = { message: field.string({ required: true }) }
  router.tool('echo', { description: 'Gives its message back.', input }, ({ message }) => message)
  const handle = nodeHandler(router)
  return createServer((request, response) => void handle(request, response))
}
