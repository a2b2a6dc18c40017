import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import {
  type Answer,
  type Backplane,
  createRouter,
  createServer,
  Elicit,
  field,
  McpError,
  type Router,
  type Server,
  type Session,
  Tool,
} from 'phantom-mcp'
import { natsBackplane } from 'phantom-mcp/nats'
import { serve } from 'phantom-mcp/node'
import { redisBackplane } from 'phantom-mcp/redis'
import { onLine } from './_lines.js'
import { socketBackplane } from './_socket-backplane.js'

/** What a node is told when it is started, as JSON in `NODE_SETTINGS`. */
export interface NodeSettings {
  readonly name: string
  /** The socket of a backplane, or the URL of an engine with a prefix for what is kept there. */
  readonly backplane:
    | { readonly socket: string }
    | { readonly redis: string; readonly prefix: string }
    | { readonly nats: string; readonly prefix: string; readonly storage: 'memory' | 'file' }
  /** How long a call waits for an engine. @default that of the backplane */
  readonly timeoutMs?: number
  /** Milliseconds that the clock of the node is ahead. @default 0 */
  readonly aheadMs?: number
  /** The file of all effects, a line each. */
  readonly effects: string
  readonly heartbeatMs: number
  readonly drainMs: number
  readonly secondStream?: 'refuse' | 'takeOver'
  readonly sessionTtlMs?: number
  readonly maxSessions?: number
}

const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
const AGE = Elicit.form({ message: 'Your age?', fields: { age: field.integer({ required: true }) } })

const told = (answer: Answer<object>): string =>
  answer.action === 'accept' ? Object.values(answer.content).join() : answer.action

/**
 * A node of a server, in a process of its own. It says its port on stdout, and what its handlers go through; a line on stdin
 * opens the gate of that name.
 */
export async function runNode(): Promise<void> {
  const settings = JSON.parse(process.env['NODE_SETTINGS'] ?? '') as NodeSettings
  const { name, heartbeatMs, drainMs, sessionTtlMs = 60_000, maxSessions = 100, aheadMs = 0 } = settings
  const now = Date.now
  Date.now = () => now() + aheadMs
  const router = createRouter({
    name: 'nodes',
    version: '1.0.0',
    secretKeyBase: 'a secret that all nodes of the test have in common, and that is long enough',
    connect: (session, { headers }) => session.assign({ user: headers.get('authorization') }),
    principal: ({ assigns }) => assigns.user,
    authorizeResourceSubscriptions: (resources) => {
      appendFileSync(settings.effects, `${resources.map(({ uri }) => uri).join()} asked on ${name}\n`)
      return resources
    },
  }) as unknown as Router
  addTools(router, settings)
  const backplane = await openBackplane(settings)
  const server = createServer(router, { backplane, nodeId: name, heartbeatMs, drainMs, sessionTtlMs, maxSessions })
  addTelling(router, server, settings)
  const { secondStream = 'refuse' } = settings
  const { port, close } = await serve(server, { port: 0, signals: false, secondStream })
  process.once('SIGTERM', async () => {
    await close()
    await backplane.close?.()
    process.exit(0)
  })
  console.log(`port ${port}`)
}

/** Tools that tell what nobody has called for. */
function addTelling(router: Router, server: Server, { name }: NodeSettings): void {
  router.resource('notes:///:id', { name: 'note' }, ({ id }) => id)
  router.tool('tell', { input: { uris: field.array(field.string()) } }, async ({ uris = [] }) =>
    String(await server.notifyResourcesUpdated(uris)),
  )
  router.tool('tell_tools', {}, async () => String(await server.notifyToolList()))
  const session = { session: field.string({ required: true }) }
  router.tool('say', { input: session }, async ({ session: id }) => {
    await server.session(id)?.notify('notifications/message', { level: 'error', data: `said by ${name}` })
    return 'said'
  })
  router.tool('ping', { input: session }, async ({ session: id }) => {
    await server.session(id)?.ping()
    return 'pinged'
  })
  router.tool('finish', { input: session }, async ({ session: id }) => {
    await server.session(id)?.finish()
    return 'finished'
  })
  router.tool('who', {}, () => name)
  const page = Elicit.url('https://example.com/connect', 'Connect your account', { elicitationId: 'page' })
  router.tool('page', {}, () => Tool.elicitationRequired([page]))
  router.tool('page_complete', {}, async () => String(await server.notifyElicitationComplete('page')))
  router.tool('pause', {}, async () => {
    await sleep(40)
    return `paused on ${name}`
  })
  router.tool('log', {}, async (_params, session) => {
    await session.log.debug('a detail')
    return 'logged'
  })
  router.tool('track', {}, async () => {
    // A call runs once its handler waits.
    await Promise.resolve()
    const { tracker } = server
    const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
      const found: Item[] = []
      for await (const item of items) found.push(item)
      return found
    }
    const nodeOf = ({ node }: { readonly node: string }): string => node.slice(0, node.indexOf('.'))
    const [sessions, streams, calls, listeners] = await Promise.all([
      all(tracker.sessions()),
      all(tracker.streams()),
      all(tracker.calls()),
      all(tracker.listeners()),
    ])
    return {
      sessions: sessions.map(({ principal, subscriptions }) => [principal, ...subscriptions]),
      streams: streams.map((stream) => [nodeOf(stream), stream.of, stream.connected]),
      calls: calls.map((call) => [nodeOf(call), call.name, call.principal]),
      listeners: listeners.map((listener) => [nodeOf(listener), listener.principal, ...listener.resources]),
    }
  })
}

async function openBackplane({ backplane, timeoutMs }: NodeSettings): Promise<Backplane> {
  const patience = timeoutMs === undefined ? {} : { timeoutMs }
  if ('socket' in backplane) return socketBackplane(backplane.socket)
  const options = { prefix: backplane.prefix, ...patience }
  if ('nats' in backplane) {
    const reconnecting = {
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      reconnectJitter: 0,
      waitOnFirstConnect: true,
    }
    return natsBackplane(await connect({ servers: backplane.nats, ...reconnecting }), {
      ...options,
      storage: backplane.storage,
    })
  }
  const client = new Redis(backplane.redis, { autoResendUnfulfilledCommands: false, retryStrategy: () => 100 })
  client.on('error', () => undefined)
  return redisBackplane(client, options)
}

/** Gates that handlers wait at. */
export function openGates(): (name: string) => Promise<void> {
  const gates = new Map<string, { readonly promise: Promise<void>; open(): void }>()
  const gateOf = (name: string) => {
    let open = (): void => undefined
    const promise = new Promise<void>((resolve) => {
      open = resolve
    })
    const gate = gates.get(name) ?? { promise, open }
    gates.set(name, gate)
    return gate
  }
  onLine(process.stdin, (line) => gateOf(line).open())
  return (name) => gateOf(name).promise
}

function addTools(router: Router, { name, effects }: NodeSettings): void {
  const passing = openGates()
  const effect = (what: string): void => appendFileSync(effects, `${what} on ${name}\n`)
  const watch = ({ signal }: Session, tool: string): void =>
    signal.addEventListener('abort', () => console.log(`${tool} aborted by ${(signal.reason as Error).name}`))

  router.tool('talk', {}, async (_params, session) => {
    watch(session, 'talk')
    effect('talk')
    const who = await session.elicit(NAME)
    await session.notifyProgress(1, 2, 'half')
    await session.log.info({ heard: told(who) })
    const old = await session.elicit(AGE)
    await session.notifyProgress(2, 2, 'all')
    return `${told(who)} ${told(old)}, says ${name}`
  })
  router.tool('fail', { input: { hidden: field.boolean() } }, async ({ hidden }, session) => {
    const who = told(await session.elicit(NAME))
    if (hidden === true) throw new Error(`for the operator: ${who}`)
    throw new McpError('INVALID_PARAMS', `There is no ${who}`, { data: { reason: 'nobody' } })
  })
  router.tool('hold', {}, async (_params, session) => {
    watch(session, 'hold')
    const who = told(await session.elicit(NAME))
    effect('hold')
    console.log('holding')
    await Promise.race([passing('hold'), new Promise((end) => session.signal.addEventListener('abort', end))])
    return `held for ${who} by ${name}`
  })
  router.tool('count', {}, async (_params, session) => {
    await session.log.error('one')
    await passing('count')
    await session.notifyProgress(1, 2)
    await session.log.error('two')
    return `counted on ${name}`
  })
  router.tool('part', {}, async (_params, session) => {
    await session.finish()
    console.log('parted')
    await passing('part')
    await session.notifyProgress(1, 2)
    return `parted from by ${name}`
  })
  router.tool('stay', {}, async (_params, session) => {
    watch(session, 'stay')
    console.log('staying')
    await Promise.race([passing('stay'), new Promise((end) => session.signal.addEventListener('abort', end))])
    return `stayed on ${name}`
  })
  router.tool('order', { replay: true }, async (_params, session) => {
    watch(session, 'order')
    const quote = await session.once('quote', () => {
      effect('quoted')
      return { price: 7 }
    })
    const who = told(await session.elicit(NAME))
    const charged = await session.once('charge', () => {
      effect('charged')
      return name
    })
    const old = told(await session.elicit(AGE))
    return `${who} ${old} pays ${quote.price}, charged by ${charged}, says ${name}`
  })
  router.tool('stubborn', { replay: true }, async (_params, session) => {
    const who = await session.elicit(NAME).then(told, (error: Error) => error.name)
    const charged = await session
      .once('charge', () => {
        effect('charged')
        return name
      })
      .catch((error: Error) => error.name)
    console.log(`stubborn has ${who} and ${charged}`)
    return `${who}, charged by ${charged}`
  })
  router.tool('linger', { replay: true }, async (_params, session) => {
    watch(session, 'linger')
    const who = told(await session.elicit(NAME))
    console.log('lingering')
    await passing('linger')
    await session.once('linger', () => effect('lingered'))
    return `lingered for ${who} on ${name}`
  })
  router.tool('crash', { replay: true }, async (_params, session) => {
    await session.elicit(NAME)
    return await session.once('charge', (key) => {
      const first = !readFileSync(effects, 'utf8').includes('charge ')
      effect(`charge ${key}`)
      if (first) process.kill(process.pid, 'SIGKILL')
      return `charged by ${name}`
    })
  })
  router.tool('deadline', { input: { ms: field.integer({ default: 300 }) }, replay: true }, async ({ ms }, session) => {
    const answer = await session.elicit(NAME, { timeoutMs: ms })
    effect(`deadline ${answer.action}`)
    return answer.action
  })
}
