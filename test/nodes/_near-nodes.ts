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
import { afterTest } from '../http/_http.js'

const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })

export interface Held {
  readonly backplane: Backplane
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

/** A node of this process. */
export async function node(
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
  router.tool('ask', {}, async (_params, session) => {
    const answer = await session.elicit(NAME)
    return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action
  })
  router.resource('notes:///:id', { name: 'note' }, ({ id }) => id)
  const server = createServer(router, { backplane, nodeId, onError: () => undefined })
  const { port, close } = await serve(server, { port: 0, signals: false })
  afterTest(() => close())
  return { server, port }
}
