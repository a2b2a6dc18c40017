import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

/** The ways to a backplane that are compared. */
export const ENGINES = ['memory', 'ioredis', 'node-redis', 'nats'] as const
export type EngineName = (typeof ENGINES)[number]

/** What an engine has been asked so far, and what it keeps. */
export interface EngineCounts {
  /** Requests, of all that have asked it. */
  readonly requests: number
  /** The same by their names, and what scripts have called; empty where the engine does not tell them apart. */
  readonly byName: Readonly<Record<string, number>>
  readonly bytes: number
  /** Keys of Redis, messages of NATS. */
  readonly entries: number
}

/** An engine that runs for a while, with its data on this disk. */
export interface Engine {
  /** What a backplane is opened with; undefined for the memory. */
  readonly url: string | undefined
  counts(): Promise<EngineCounts>
  stop(): Promise<void>
}

const NOTHING: EngineCounts = { requests: 0, byName: {}, bytes: 0, entries: 0 }

/** With the folders of their data. */
const running = new Map<ChildProcess, string>()

/** Ends every engine that is still there. */
export function endEngines(): void {
  for (const [child, folder] of running) {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts an engine on a free port of loopback; undefined when it is not installed. */
export async function startEngine(name: EngineName): Promise<Engine | undefined> {
  if (name === 'memory') return { url: undefined, counts: async () => NOTHING, stop: async () => undefined }
  return name === 'nats' ? await startNats() : await startRedis(name)
}

async function startRedis(name: EngineName): Promise<Engine | undefined> {
  const persistent = ['--appendonly', 'yes', '--save', '']
  const program = await start('redis-server', (port, folder) => [
    ...['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder],
    ...persistent,
  ])
  if (program === undefined) return undefined
  const client = new Redis(program.port, '127.0.0.1')
  return {
    url: `${name}://127.0.0.1:${program.port}`,
    counts: async () => redisCounts(await client.info('commandstats', 'memory'), await client.dbsize()),
    stop: async () => {
      client.disconnect()
      await program.stop()
    },
  }
}

/** What a client sends; the rest of what Redis counts was called by its scripts, or asked by the bench. */
const SENT = ['eval', 'evalsha', 'scan', 'subscribe', 'unsubscribe']

function redisCounts(info: string, entries: number): EngineCounts {
  const calls = [...info.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)]
  const byName = Object.fromEntries(calls.map(([, command = '', count]) => [command, Number(count)]))
  const requests = SENT.reduce((sum, command) => sum + (byName[command] ?? 0), 0)
  return { requests, byName, bytes: Number(/^used_memory:(\d+)/m.exec(info)?.[1]), entries }
}

async function startNats(): Promise<Engine | undefined> {
  const monitor = await freePort()
  const program = await start('nats-server', (port, folder) => [
    ...['-a', '127.0.0.1', '-p', `${port}`, '-m', `${monitor}`, '-js', '-sd', folder],
  ])
  if (program === undefined) return undefined
  const ask = async (path: string): Promise<Record<string, number>> =>
    (await (await fetch(`http://127.0.0.1:${monitor}/${path}`)).json()) as Record<string, number>
  return {
    url: `nats://127.0.0.1:${program.port}`,
    counts: async () => {
      const [{ in_msgs: requests = 0 }, { bytes = 0, messages: entries = 0 }] = [await ask('varz'), await ask('jsz')]
      return { requests, byName: {}, bytes, entries }
    },
    stop: program.stop,
  }
}

interface Program {
  readonly port: number
  stop(): Promise<void>
}

async function start(
  name: string,
  args: (port: number, folder: string) => readonly string[],
): Promise<Program | undefined> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  const file = folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (file === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'phantom-bench-'))
  const port = await freePort()
  const child = spawn(file, args(port, folder), { cwd: folder, stdio: 'ignore' })
  running.set(child, folder)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const stop = async (): Promise<void> => {
    child.kill()
    await exited
    running.delete(child)
    rmSync(folder, { recursive: true, force: true })
  }
  for (let tries = 0; !(await isOpen(port)); tries += 1) {
    if (tries === 200) {
      await stop()
      throw new Error(`${name} does not listen`)
    }
    await sleep(25)
  }
  return { port, stop }
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
