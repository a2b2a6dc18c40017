import { createServer as createHttpServer, type Server } from 'node:http'
import { createRouter, createServer, field } from 'phantom-mcp'
import { nodeHandler } from 'phantom-mcp/node'

export type Clock = () => number

/** So many that no session has to make room while they are counted. */
const MAX_SESSIONS = 20_000
/** Long enough to open all of them, short enough that what looks after abandoned ones does so while the bench waits. */
const SESSION_TTL_MS = 20_000

/** One tool, and sessions whose clock can be moved. */
export function makeServer(clock: Clock): Server {
  const router = createRouter({ name: 'bench', version: '1.0.0' })
  const input = { message: field.string({ required: true }) }
  router.tool('echo', { description: 'Gives its message back.', input }, ({ message }) => message)
  const server = createServer(router, { clock, maxSessions: MAX_SESSIONS, sessionTtlMs: SESSION_TTL_MS })
  const handle = nodeHandler(server)
  return createHttpServer((request, response) => void handle(request, response))
}
