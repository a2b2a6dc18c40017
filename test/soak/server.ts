// A node of the soak: NODE_NAME, PORT, EFFECTS, and REDIS_URL or NATS_URL.
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRouter, createServer, Elicit, field, type Router, type Server } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { openBackplane } from '../../examples/conformance/backplane.js'

const { NODE_NAME = 'node', PORT = '0', EFFECTS = '' } = process.env
const HEARTBEAT_MS = 1_000
const COLLECTIONS = 4

const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
const AGE = Elicit.form({ message: 'Your age?', fields: { age: field.integer({ required: true }) } })

const router = createRouter({
  name: 'soak',
  version: '1.0.0',
  secretKeyBase: 'for the soak only: sixty-four characters that everybody can read here, or more',
  connect: (session, { headers }) => session.assign({ user: headers.get('authorization') }),
  principal: ({ assigns }) => assigns.user,
  authorizeResourceSubscriptions: (resources) => resources,
}) as unknown as Router
const { backplane, close: closeBackplane } = await openBackplane(process.env)
const server = createServer(router, { backplane, nodeId: NODE_NAME, heartbeatMs: HEARTBEAT_MS })
router.resource('notes:///:group/:id', { name: 'note' }, ({ id }) => id)
addTools(router, server)

const { url, close } = await serve(server, { port: Number(PORT), signals: false })
process.once('SIGTERM', () => void close().then(closeBackplane))
console.error(`${NODE_NAME} at ${url}`)

function addTools(router: Router, server: Server): void {
  router.tool(
    'add',
    { input: { a: field.integer({ required: true }), b: field.integer({ required: true }) } },
    (params) => String(params.a + params.b),
  )
  // Numbered events on the stream of the call.
  router.tool(
    'count',
    { input: { to: field.integer({ required: true }), everyMs: field.integer({ required: true }) } },
    async ({ to, everyMs }, session) => {
      for (let number = 1; number <= to; number++) {
        await session.log.error(number)
        await sleep(everyMs)
      }
      return `counted to ${to}`
    },
  )
  router.tool('touch', { input: { uri: field.string({ required: true }) } }, async ({ uri }) =>
    String(await server.notifyResourcesUpdated([uri])),
  )
  router.tool('order', { input: { ref: field.string({ required: true }) }, replay: true }, async ({ ref }, session) => {
    const effect = (what: string): Promise<string> =>
      session.once(what, (key) => {
        appendFileSync(EFFECTS, `${ref} ${what} ${key} ${process.pid}\n`)
        return what
      })
    await effect('quote')
    const name = await session.elicit(NAME)
    await effect('charge')
    const age = await session.elicit(AGE)
    if (name.action !== 'accept' || age.action !== 'accept') return `${ref}: ${name.action}, ${age.action}`
    return `${ref}: ${name.content.name}, ${age.content.age}`
  })
  router.tool('heap', {}, async () => String(await heapUsed()))
}

async function heapUsed(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < COLLECTIONS; round++) {
    collect()
    // What closes in a later turn is let go between two collections.
    await sleep(20)
  }
  return process.memoryUsage().heapUsed
}
