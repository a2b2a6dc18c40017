// npm run bench:backplane -- [--engine text] [--rounds n]
// What the calls of a backplane cost on this machine: with one caller, and with 64 at once. Servers are started on loopback,
// and their data is on this disk; engines that are not installed are left out.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { type Backplane, memoryBackplane } from 'phantom-mcp'
import { natsBackplane } from 'phantom-mcp/nats'
import { redisBackplane } from 'phantom-mcp/redis'
import { createClient } from 'redis'

const { values: options } = parseArgs({
  options: { engine: { type: 'string', default: '' }, rounds: { type: 'string', default: '1000' } },
})
const ROUNDS = Number(options.rounds)
const AT_ONCE = 64
const MINUTE = { ttlMs: 60_000 }
const LOG = { ttlMs: 60_000, maxEntries: 1_000, maxBytes: 4 * 1024 * 1024 }
const RECORD = JSON.stringify({ v: '2025-11-25', client: { name: 'bench', version: '1' }, pad: 'x'.repeat(400) })

type Call = (index: number) => Promise<unknown>

const undo: (() => Promise<unknown> | unknown)[] = []

const ENGINES: Readonly<Record<string, () => Promise<Backplane | undefined>>> = {
  memory: async () => memoryBackplane(),
  ioredis: async () => {
    const port = await startRedis()
    if (port === undefined) return undefined
    const client = new Redis(port, '127.0.0.1')
    undo.push(() => client.disconnect())
    return redisBackplane(client)
  },
  'node-redis': async () => {
    const port = await startRedis()
    if (port === undefined) return undefined
    const client = createClient({ url: `redis://127.0.0.1:${port}` })
    await client.connect()
    undo.push(() => client.destroy())
    return redisBackplane(client)
  },
  nats: async () => {
    const port = await start('nats-server', (at, folder) => ['-a', '127.0.0.1', '-p', `${at}`, '-js', '-sd', folder])
    if (port === undefined) return undefined
    const connection = await connect({ servers: `127.0.0.1:${port}` })
    undo.push(() => connection.close())
    return natsBackplane(connection)
  },
}

function startRedis(): Promise<number | undefined> {
  const persistent = ['--appendonly', 'yes', '--save', '']
  return start('redis-server', (port, folder) => ['--port', `${port}`, '--dir', folder, ...persistent])
}

async function start(
  name: string,
  args: (port: number, folder: string) => readonly string[],
): Promise<number | undefined> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  const file = folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (file === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'phantom-bench-'))
  const port = await freePort()
  const server: ChildProcess = spawn(file, args(port, folder), { cwd: folder, stdio: 'ignore' })
  const exited = new Promise((resolve) => server.once('exit', resolve))
  undo.push(async () => {
    server.kill()
    await exited
    rmSync(folder, { recursive: true, force: true })
  })
  for (let tries = 0; !(await isOpen(port)); tries += 1) {
    if (tries === 200) throw new Error(`${name} does not listen`)
    await sleep(25)
  }
  return port
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy())
  })
}

async function measure(name: string, call: Call, rounds = ROUNDS): Promise<void> {
  for (let index = 0; index < Math.min(rounds, 100); index += 1) await call(index)
  const times: number[] = []
  for (let index = 0; index < rounds; index += 1) {
    const before = performance.now()
    await call(index)
    times.push(performance.now() - before)
  }
  times.sort((one, other) => one - other)
  const started = performance.now()
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < rounds) await call(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  const perSecond = rounds / ((performance.now() - started) / 1_000)
  const at = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(3).padStart(9)
  console.log(`  ${name.padEnd(34)}${at(0.5)} ms${at(0.99)} ms${perSecond.toFixed(0).padStart(10)}/s`)
}

async function measureAll({ store, pubSub }: Backplane): Promise<void> {
  const heard: (() => void)[] = []
  await pubSub.subscribe('bench', () => heard.shift()?.())
  await measure('set, 500 bytes', (index) => store.set(`s/${index}`, RECORD, MINUTE))
  await measure('get, 500 bytes', (index) => store.get(`s/${index}`))
  await measure('claim, renewed', (index) => store.claim(`lease/${index % 100}`, 'me', 15_000))
  await measure('append, 500 bytes', (index) => store.append(`log/${index % 100}`, RECORD, LOG))
  await measure('append to a log that is full', (index) =>
    store.append(`f${index % 100}`, RECORD, { ...LOG, maxEntries: 5 }),
  )
  await measure('readAfter, 5 entries', (index) => store.readAfter(`log/${index % 100}`, undefined, 5))
  for (let index = 0; index < 1_000; index += 1) await store.append('long', RECORD, LOG)
  await measure('readAfter, 1,000 entries', () => store.readAfter('long', undefined, 1_000), 20)
  await measure(`list, ${ROUNDS} keys`, () => count(store.list('s/')), 20)
  await measure('publish, 100 bytes', () => pubSub.publish('nobody', 'x'.repeat(100)))
  await measure('publish until it is heard', () => {
    const rung = new Promise<void>((resolve) => heard.push(resolve))
    return Promise.all([rung, pubSub.publish('bench', 'x'.repeat(100))])
  })
  const large = 'x'.repeat(8 * 1024 * 1024)
  await measure('set, 8 MiB', () => store.set('large', large, MINUTE), 4)
  await measure('get, 8 MiB', () => store.get('large'), 4)
}

async function count(keys: AsyncIterable<string>): Promise<number> {
  let found = 0
  for await (const _key of keys) found += 1
  return found
}

for (const [name, open] of Object.entries(ENGINES)) {
  if (!name.includes(options.engine)) continue
  try {
    const backplane = await open()
    console.log(
      `${name}${backplane === undefined ? ': not installed' : `${' '.repeat(30 - name.length)}         one caller, p50, p99     64 callers`}`,
    )
    if (backplane !== undefined) await measureAll(backplane)
    await backplane?.close?.()
  } finally {
    for (const step of undo.splice(0).reverse()) await step()
  }
}
