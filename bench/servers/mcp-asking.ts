import { createServer as createHttpServer, type Server } from 'node:http'
import { createRouter, createServer, Elicit, field } from 'phantom-mcp'
import { nodeHandler } from 'phantom-mcp/node'

/** Handlers that wait at once, as many as a server has room for by default. */
export const MAX_PARKED = 1_000

/** A tool that asks its client and may not run again, so that it waits, and one that does not ask. */
export function makeServer(): Server {
  const router = createRouter({
    name: 'bench',
    version: '1.0.0',
    secretKeyBase: 'the secret of a bench, which is long enough to be taken for a real one, no more',
  })
  const input = { message: field.string({ required: true }) }
  const name = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
  router.tool('echo', { description: 'Gives its message back.', input }, ({ message }) => message)
  router.tool('ask', { description: 'Asks for a name.', input }, async ({ message }, session) => {
    const answer = await session.elicit(name)
    return `${message} ${answer.action}`
  })
  const handle = nodeHandler(createServer(router, { continuations: { maxParked: MAX_PARKED } }))
  return createHttpServer((request, response) => void handle(request, response))
}
