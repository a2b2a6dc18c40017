import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { memoryBackplane, type Store } from 'phantom-mcp'
import { afterAll, vi } from 'vitest'
import { root } from '../docs/_samples.js'
import { bundled } from '../stdio/_child.js'
import { serveBehindProxy } from './_server.js'

export const PROXIES = ['nginx', 'haproxy'] as const
export type ProxyName = (typeof PROXIES)[number]
/** Where sessions are: in a store that both processes share, or in the memory of each. */
export type Sessions = 'shared' | 'memory'

const undo: (() => Promise<void> | void)[] = []
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** The program of a proxy; undefined where it is not installed. */
export function find(name: ProxyName): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/** The sample of docs/deployment.md as it stands there. */
export function configOf(proxy: ProxyName, sessions: Sessions): string {
  const page = readFileSync(join(root, 'docs/deployment.md'), 'utf8')
  const found = new RegExp(`<!-- config: ${proxy}, ${sessions} -->\\n\`\`\`${proxy}\\n([\\s\\S]*?)\`\`\``).exec(page)
  if (found?.[1] === undefined) throw new Error(`docs/deployment.md has no sample for ${proxy}, ${sessions}`)
  return found[1]
}

/** Waits, with the patience that a busy machine needs; also outside of a test. */
export async function until(holds: () => boolean | Promise<boolean>, why: () => string): Promise<void> {
  const look = async (): Promise<void> => {
    if (!(await holds())) throw new Error(why())
  }
  await vi.waitFor(look, { timeout: 10_000, interval: 10 })
}

/** A process of ours or the proxy's, which ends with the tests. */
class Running {
  readonly process: ChildProcessWithoutNullStreams
  output = ''

  constructor(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.process = spawn(file, args, { env: { ...process.env, ...env } })
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.process.stdin.on('error', () => undefined)
    const exited = new Promise<void>((resolve) => this.process.once('exit', () => resolve()))
    undo.push(async () => {
      if (this.process.exitCode === null) this.process.kill('SIGKILL')
      await exited
    })
  }

  async says(text: string): Promise<void> {
    await until(
      () => this.output.includes(text),
      () => `${text} was expected: ${this.output}`,
    )
  }
}

/** Two processes, and a proxy in front of them. */
export interface Deployment {
  readonly port: number
  readonly nodes: readonly [Running, Running]
  /** Lets a `hold` call return, wherever it is. */
  release(tag: string): void
  /** Resolves when one of the processes says so. */
  says(text: string): Promise<void>
}

export interface DeployOptions {
  readonly sessions: Sessions
  /** Changes the sample, for tests that show what it is good for. */
  readonly change?: (config: string) => string
}

let program: Promise<string> | undefined

export async function deploy(
  proxy: ProxyName,
  { sessions, change = (config) => config }: DeployOptions,
): Promise<Deployment> {
  program ??= bundled(`import { ${serveBehindProxy.name} } from './test/deployment/_server.js'
await ${serveBehindProxy.name}()`)
  const file = await program
  const store: Record<string, string> = sessions === 'shared' ? { STORE_PORT: String(await listenStore()) } : {}
  const nodes = (['a', 'b'] as const).map(
    (name) => new Running(process.execPath, [file], { ...store, NODE_NAME: name }),
  )
  const [a, b] = nodes as [Running, Running]
  const port = await freePort()
  const config = change(configOf(proxy, sessions))
    .replaceAll('127.0.0.1:3001', `127.0.0.1:${await portOf(a)}`)
    .replaceAll('127.0.0.1:3002', `127.0.0.1:${await portOf(b)}`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
  const running = proxy === 'nginx' ? runNginx(config) : runHaproxy(config)
  await until(
    () => isOpen(port),
    () => `${proxy} does not listen: ${running.output}`,
  )
  return {
    port,
    nodes: [a, b],
    release: (tag) => {
      for (const node of nodes) node.process.stdin.write(`${tag}\n`)
    },
    says: async (text) => {
      await until(
        () => (a.output + b.output).includes(text),
        () => `${text} was expected: ${a.output}${b.output}`,
      )
    },
  }
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'phantom-proxy-'))
  undo.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What stands around the sample in nginx.conf, with nothing outside of a folder of its own. */
function runNginx(config: string): Running {
  const folder = temporary()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log stderr;
events { worker_connections 512; }
http { access_log off; ${paths.join(' ')}
${config}}
`,
  )
  return new Running(find('nginx') ?? 'nginx', ['-p', folder, '-e', 'stderr', '-c', file])
}

function runHaproxy(config: string): Running {
  const file = join(temporary(), 'haproxy.cfg')
  writeFileSync(file, config)
  return new Running(find('haproxy') ?? 'haproxy', ['-db', '-f', file])
}

async function portOf(node: Running): Promise<string> {
  await node.says('port ')
  return /port (\d+)/.exec(node.output)?.[1] ?? ''
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createTcpServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const done = (open: boolean): void => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', () => done(true)).once('error', () => done(false))
  })
}

/** Lets other processes use a store in memory. Gives the port. */
function listenStore(): Promise<number> {
  const { store } = memoryBackplane()
  const http = createServer((request, response) => {
    void (async () => {
      const { method, args } = JSON.parse(await textOf(request)) as { method: keyof Store; args: readonly never[] }
      // JSON has no undefined, and a parameter that is left out is null there.
      const given = args.map((argument) => argument ?? undefined)
      const found = (store[method] as (...args: readonly unknown[]) => unknown).apply(store, given)
      const value = method === 'list' ? await listOf(found as AsyncIterable<string>) : await found
      response.end(JSON.stringify({ value }))
    })()
  })
  undo.push(() => void http.close().closeAllConnections())
  return new Promise((resolve) => {
    http.listen(0, '127.0.0.1', () => resolve((http.address() as AddressInfo).port))
  })
}

async function listOf(keys: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = []
  for await (const key of keys) list.push(key)
  return list
}

export async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  return text
}
