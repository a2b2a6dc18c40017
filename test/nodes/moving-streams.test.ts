import { setTimeout as sleep } from 'node:timers/promises'
import { type Backplane, createRouter, createServer, memoryBackplane, type Router, type Server } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { expect, test } from 'vitest'
import { afterTest, head, initialize, legacy, open, RawSocket, textOf } from '../http/_http.js'
import { carries, countOf, lastIdOf, NOTE, UPDATED } from './_following.js'

interface Held {
  readonly backplane: Backplane
  /** Letters with this text wait until they are let go. */
  hold(text: string): () => void
}

/** A backplane whose letters can be held on their way. */
function holding(): Held {
  const { store, pubSub } = memoryBackplane()
  let held: { readonly text: string; readonly gone: Promise<void> } | undefined
  const append = store.append.bind(store)
  const late: typeof store.append = async (log, value, options) => {
    if (held !== undefined && log.startsWith('inbox/') && value.includes(held.text)) await held.gone
    return await append(log, value, options)
  }
  Object.assign(store, { append: late })
  return {
    backplane: { store, pubSub },
    hold: (text) => {
      let letGo = (): void => undefined
      const gone = new Promise<void>((resolve) => {
        letGo = resolve
      })
      held = { text, gone }
      return letGo
    },
  }
}

interface Serves {
  readonly server: Server
  readonly port: number
}

async function node(
  backplane: Backplane,
  nodeId: string,
  authorizing: () => Promise<void> = async () => undefined,
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
  router.resource('notes:///:id', { name: 'note' }, ({ id }) => id)
  const server = createServer(router, { backplane, nodeId })
  const { port, close } = await serve(server, { port: 0, signals: false })
  afterTest(() => close())
  return { server, port }
}

async function listen({ port }: Serves, headers: Record<string, string>): Promise<RawSocket> {
  const socket = await RawSocket.connect(port)
  await socket.write(head({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } }))
  await carries(socket, '\r\n\r\n')
  return socket
}

interface Moving {
  readonly headers: Record<string, string>
  readonly stream: RawSocket
}

/** A session whose stream is on a node. */
async function following(on: Serves): Promise<Moving> {
  const begun = await open(on.port, initialize())
  await textOf(begun)
  const headers = { 'mcp-session-id': String(begun.headers['mcp-session-id']) }
  const stream = await listen(on, headers)
  await carries(stream, 'id: ')
  await textOf(await open(on.port, legacy('resources/subscribe', { uri: NOTE }, { headers })))
  return { headers, stream }
}

/** Its client hangs up, and comes to another node. */
async function move({ headers, stream }: Moving, to: Serves): Promise<RawSocket> {
  stream.socket.destroy()
  const goOn = { ...headers, 'last-event-id': lastIdOf(stream) }
  let back = await listen(to, goOn)
  while (back.status === 409) back = await listen(to, goOn)
  expect(back.status).toBe(200)
  return back
}

test('a stream that has moved is not told again of what the other node has told, when that is heard of later', async () => {
  const { backplane, hold } = holding()
  const [one, two] = [await node(backplane, 'one'), await node(backplane, 'two')]
  const moving = await following(two)
  const letGo = hold('"type":"notice"')
  const told = two.server.notifyResourcesUpdated([NOTE])
  await carries(moving.stream, UPDATED)
  const back = await move(moving, one)
  letGo()
  expect(await told).toBe(1)
  await sleep(100)
  expect(countOf(back, UPDATED)).toBe(0)
  expect(await one.server.notifyResourcesUpdated([NOTE])).toBe(1)
  await carries(back, UPDATED)
  expect(countOf(back, UPDATED)).toBe(1)
})

test('a stream moves when what is being told on it has been told', async () => {
  const { backplane } = holding()
  let slow = 0
  const one = await node(backplane, 'one')
  const two = await node(backplane, 'two', () => sleep(slow))
  const moving = await following(two)
  slow = 300
  const told = two.server.notifyResourcesUpdated([NOTE])
  const back = await move(moving, one)
  expect(await told).toBe(1)
  await carries(back, UPDATED)
  expect(countOf(back, UPDATED)).toBe(1)
  expect(countOf(back, 'list_changed')).toBe(0)
})
