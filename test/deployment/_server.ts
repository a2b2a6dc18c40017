import { request } from 'node:http'
import {
  type AppendOptions,
  type Backplane,
  createRouter,
  createServer,
  field,
  memoryBackplane,
  type SetOptions,
  type Store,
} from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'

/**
 * The process behind the proxies. It tells its port on stdout, and each call whose client has gone.
 * NODE_NAME is what it calls itself; with STORE_PORT its sessions are in the store that listens there.
 */
export async function serveBehindProxy(): Promise<void> {
  const { NODE_NAME: node = '', STORE_PORT: storePort } = process.env
  const held = new Map<string, () => void>()
  const router = createRouter({ name: node, version: '1.0.0' })
  router.tool('who', {}, () => node)
  router.tool('hold', { input: { tag: field.string({ required: true }) } }, async ({ tag }, session) => {
    session.signal.addEventListener('abort', () => console.log(`aborted ${tag}`), { once: true })
    await session.notifyProgress(1, 2)
    console.log(`holding ${tag}`)
    await new Promise<void>((release) => {
      held.set(tag, release)
      session.signal.addEventListener('abort', () => release(), { once: true })
    })
    return tag
  })
  router.tool('tell', {}, async (_params, session) => {
    await server.session(session.id ?? '')?.notify('notifications/message', { level: 'info', data: node })
    return node
  })
  const server = createServer(router, {
    backplane: storePort === undefined ? memoryBackplane() : remoteBackplane(Number(storePort)),
    ids: () => `${node}-${crypto.randomUUID()}`,
  })
  const { port } = await serve(server, {
    port: 0,
    hosts: ['mcp.example.com'],
    readyPath: '/ready',
    keepAliveMs: 200,
  })
  process.stdin.setEncoding('utf8').on('data', (tag: string) => held.get(tag.trim())?.())
  console.log(`port ${port}`)
}

/** The store of another process, asked by HTTP: a stand-in for one that many nodes share. */
function remoteBackplane(port: number): Backplane {
  const ask = async (method: keyof Store, ...args: readonly unknown[]): Promise<never> =>
    (await post(port, JSON.stringify({ method, args }))) as never
  const store: Store = {
    get: (key) => ask('get', key),
    set: (key, value, options: SetOptions) => ask('set', key, value, options),
    delete: (key, revision) => ask('delete', key, revision),
    claim: (key, owner, ttlMs) => ask('claim', key, owner, ttlMs),
    release: (key, owner) => ask('release', key, owner),
    async *list(prefix) {
      yield* (await ask('list', prefix)) as string[]
    },
    append: (log, value, options: AppendOptions) => ask('append', log, value, options),
    readAfter: (log, id, limit) => ask('readAfter', log, id, limit),
    drop: (log) => ask('drop', log),
  }
  return { ...memoryBackplane(), store }
}

function post(port: number, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method: 'POST', agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve((JSON.parse(text) as { value?: unknown }).value))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
