import { createServer as createHttpServer, type Server } from 'node:http'
import { createRouter, createServer, field } from 'phantom-mcp'
import { nodeHandler } from 'phantom-mcp/node'
import { openBackplane } from '../nodes/backplanes.js'
import { FOLLOWED } from '../requests.js'

/** So many that no session has to make room while they are counted. */
const MAX_SESSIONS = 20_000

/** When a tool began to tell its followers, by the clock that all processes of a machine have, and what came of it. */
export interface Touched {
  readonly atNs: string
  readonly told: number
  readonly tookMs: number
}

/** One of the nodes of a server: they share what is in an engine; without one it is alone. */
export async function makeServer(engine: string | undefined): Promise<Server> {
  const { backplane } = await openBackplane(engine)
  const router = createRouter({
    name: 'bench',
    version: '1.0.0',
    secretKeyBase: 'the secret of a bench, which is long enough to be taken for a real one, no more',
  })
  const input = { message: field.string({ required: true }) }
  router.tool('echo', { description: 'Gives its message back.', input }, ({ message }) => message)
  router.tool('progress', {}, async (_input, session) => {
    await session.notifyProgress(1, 2)
    return 'done'
  })
  router.resource(FOLLOWED, { name: 'clock' }, () => String(Date.now()))
  const server = createServer(router, { backplane, maxSessions: MAX_SESSIONS })
  router.tool('touch', {}, async () => {
    const at = process.hrtime.bigint()
    const told = await server.notifyResourcesUpdated([FOLLOWED])
    const tookMs = Number(process.hrtime.bigint() - at) / 1e6
    return JSON.stringify({ atNs: String(at), told, tookMs } satisfies Touched)
  })
  const handle = nodeHandler(server)
  return createHttpServer((request, response) => void handle(request, response))
}
