// What the example runs on: its packages, a Redis of its own, and workers.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { builtExample, endWithUs } from '../conformance/example-process.mjs'

export const folder = fileURLToPath(new URL('.', import.meta.url))
const START_MS = 20_000

export function installPackages() {
  const { dependencies } = readJson(join(folder, 'package.json'))
  const isInstalled = ([name, version]) =>
    readJson(join(folder, 'node_modules', name, 'package.json'))?.version === version
  if (Object.entries(dependencies).every(isInstalled)) return
  console.error('installing the packages of examples/report-queue')
  const { status } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('npm ci failed in examples/report-queue')
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** A Redis on a free port that keeps nothing, and a client of it. */
export async function startRedis() {
  const home = mkdtempSync(join(tmpdir(), 'phantom-reports-'))
  const port = await freePort()
  const child = spawn('redis-server', ['--bind', '127.0.0.1', '--port', String(port), '--dir', home, '--save', ''], {
    stdio: 'ignore',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` },
  })
  endWithUs(child)
  const url = `redis://127.0.0.1:${port}`
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 25 })
  redis.on('error', () => undefined)
  const answer = await Promise.race([redis.ping(), once(child, 'error'), sleep(START_MS, undefined, { ref: false })])
  if (answer !== 'PONG') throw new Error('redis-server does not answer')
  return {
    url,
    redis,
    stop: () => {
      redis.disconnect()
      child.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/** Starts a worker, once the example is built; `end` sends it a signal and gives what it ended with. */
export async function startWorker(env) {
  const child = spawn(process.execPath, [builtExample('examples/report-queue/worker')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithUs(child)
  const ended = once(child, 'exit')
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  for (const until = Date.now() + START_MS; !printed.includes('Writing reports'); await sleep(20)) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`the worker does not start:\n${printed}`)
  }
  const end = async (signal) => {
    child.kill(signal)
    const [code, killed] = await ended
    return code ?? killed
  }
  return { printed: () => printed, end }
}
