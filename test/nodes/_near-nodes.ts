import {
  type Backplane,
  createRouter,
  createServer,
  Elicit,
  field,
  memoryBackplane,
  type Router,
  type Server,
} from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { afterTest, head, initialize, legacy, open, RawSocket, textOf } from '../http/_http.js'
import { carries, NOTE } from './_following.js'

const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })

export interface Held {
  readonly backplane: Backplane
  /** What is published of topics that begin like this is lost. */
  lose(topics: string): void
  /** Letters with this text wait until they are let go. */
  hold(text: string): () => void
  /** Letters with this text cannot be written until that is over. */
  refuse(text: string): () => void
}

/** A backplane whose letters can be held on their way. */
export function holding(): Held {
  const { store, pubSub } = memoryBackplane()
  let held: { readonly text: string; readonly gone: Promise<void> } | undefined
  const append = store.append.bind(store)
  let refused: string | undefined
  const late: typeof store.append = async (log, value, options) => {
    if (refused !== undefined && log.startsWith('inbox/') && value.includes(refused)) throw new Error('It is away')
    if (held !== undefined && log.startsWith('inbox/') && value.includes(held.text)) await held.gone
    return await append(log, value, options)
  }
  Object.assign(store, { append: late })
  let lost: string | undefined
  const publish = pubSub.publish.bind(pubSub)
  const lossy: typeof publish = async (topic, message) => {
    if (lost === undefined || !topic.startsWith(lost)) await publish(topic, message)
  }
  Object.assign(pubSub, { publish: lossy })
  return {
    backplane: { store, pubSub },
    lose: (topics) => {
      lost = topics
    },
    hold: (text) => {
      let letGo = (): void => undefined
      const gone = new Promise<void>((resolve) => {
        letGo = resolve
      })
      held = { text, gone }
      return letGo
    },
    refuse: (text) => {
      refused = text
      return () => {
        refused = undefined
      }
    },
  }
}

export interface Serves {
  readonly server: Server
  readonly port: number
}

interface NodeOptions {
  readonly authorizing?: () => Promise<void>
  readonly heartbeatMs?: number
}

/** A node of this process. */
export async function node(
  backplane: Backplane,
  nodeId: string,
  { authorizing = async () => undefined, heartbeatMs = 5_000 }: NodeOptions = {},
): Promise<Serves> {
  const router = createRouter({
    name: 'nodes',
    version: '1.0.0',
    secretKeyBase: 'a secret that all nodes of the test have in common, and that is long enough',
    authorizeResourceSubscriptions: async (resources) => {
      await authorizing()
      return resources
    },
  }) as unknown as Router
  router.tool('ask', {}, async (_params, session) => {
    const answer = await session.elicit(NAME)
    return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action
  })
  router.resource('notes:///:id', { name: 'note' }, ({ id }) => id)
  const server = createServer(router, { backplane, nodeId, heartbeatMs, onError: () => undefined })
  const { port, close } = await serve(server, { port: 0, signals: false })
  afterTest(() => close())
  return { server, port }
}

/** The stream of a session. */
export async function listen({ port }: Serves, headers: Record<string, string>): Promise<RawSocket> {
  const socket = await RawSocket.connect(port)
  await socket.write(head({ method: 'GET', headers: { ...headers, accept: 'text/event-stream', connection: 'close' } }))
  await carries(socket, '\r\n\r\n')
  return socket
}

export interface Moving {
  readonly headers: Record<string, string>
  readonly stream: RawSocket
}

/** A session whose stream is on a node. */
export async function following(on: Serves): Promise<Moving> {
  const begun = await open(on.port, initialize())
  await textOf(begun)
  const headers = { 'mcp-session-id': String(begun.headers['mcp-session-id']) }
  const stream = await listen(on, headers)
  await carries(stream, 'id: ')
  await textOf(await open(on.port, legacy('resources/subscribe', { uri: NOTE }, { headers })))
  return { headers, stream }
}
