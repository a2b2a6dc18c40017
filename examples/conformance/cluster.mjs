// Three nodes of the fixture on one backplane, behind HAProxy that sends requests to them in turn.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endWithUs, startExample } from './example-process.mjs'

const NODES = 3
const START_MS = 10_000

/** Programs that a cluster runs on, by the name of its engine; where its variable is set, the one that it names is used instead. */
const ENGINES = {
  redis: {
    program: 'redis-server',
    args: (port, folder) => ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''],
    variable: 'REDIS_URL',
    url: (port) => `redis://127.0.0.1:${port}`,
  },
  nats: {
    program: 'nats-server',
    args: (port, folder) => ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder],
    variable: 'NATS_URL',
    url: (port) => `nats://127.0.0.1:${port}`,
  },
}

/**
 * Starts a cluster; its `stop` ends all of it and gives what is wrong with the way that a node ended. `kill` ends one of its nodes at
 * once, and `restart` starts it again at the same place. `more` is the nodes' own environment; each has its name, NODE_NAME, too.
 */
export async function startCluster(engine, name, more = {}) {
  const { program, args, variable, url } = ENGINES[engine] ?? {}
  if (program === undefined) throw new Error(`--cluster takes ${Object.keys(ENGINES).join(' or ')}, not ${engine}`)
  const folder = mkdtempSync(join(tmpdir(), 'phantom-cluster-'))
  const given = process.env[variable]
  const store = given === undefined ? await start(program, (port) => args(port, folder)) : undefined
  const nodes = []
  const env = {
    ...{ REDIS_URL: undefined, NATS_URL: undefined, [variable]: given ?? url(store.port) },
    BACKPLANE_PREFIX: `cluster-${randomUUID()}`,
  }
  const startNode = (at, port) => startExample(name, { ...env, ...more, NODE_NAME: `node${at}`, PORT: port })
  // One after the other: the first builds what is stale.
  for (let node = 0; node < NODES; node++) nodes.push(await startNode(node, '0'))
  const servers = nodes.map(({ url }, at) => `  server node${at} ${new URL(url).host}\n`)
  const file = join(folder, 'haproxy.cfg')
  const proxy = await start('haproxy', (port) => {
    writeFileSync(
      file,
      `${HAPROXY}  bind 127.0.0.1:${port}\n  default_backend nodes\nbackend nodes\n  balance roundrobin\n${servers.join('')}`,
    )
    return ['-f', file, '-db']
  })
  return {
    url: `http://127.0.0.1:${proxy.port}/mcp`,
    nodes: nodes.map(({ url }) => url),
    pid: (at) => nodes[at].pid,
    kill: (at) => nodes[at].kill(),
    restart: async (at) => {
      nodes[at] = await startNode(at, new URL(nodes[at].url).port)
    },
    printed: () => nodes.map((node) => node.printed()).join('\n'),
    stop: async () => {
      const wrong = await Promise.all(nodes.map((node) => node.stop()))
      for (const started of [proxy, store]) started?.child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
      return wrong.filter(Boolean).join('; ') || undefined
    },
  }
}

/** A node hears of clients that hang up, and a request that no node has taken goes to another one. */
const HAPROXY = `defaults
  mode http
  option abortonclose
  option redispatch 1
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout tunnel 60s
  option http-no-delay
frontend mcp
`

async function start(program, argsOf) {
  const port = await freePort()
  const child = spawn(program, argsOf(port), {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` },
  })
  endWithUs(child)
  let failed
  child.once('error', (error) => {
    failed = error
  })
  for (const until = Date.now() + START_MS; Date.now() < until && failed === undefined; await sleep(50)) {
    if (await listens(port)) return { child, port }
  }
  throw new Error(`${program} does not listen${failed ? `: ${failed.message}` : ''}`)
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
