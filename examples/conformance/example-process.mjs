// Runs one of the examples' servers as a process of its own, and ends that very process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Building what is stale is part of the start. */
const START_MS = 180_000
const STOP_MS = 10_000

/** The compiled file of an example that {@link startExample} has started; running it does not build again. */
export function builtExample(name) {
  return join(root, '.build', `${name}.js`)
}

/**
 * Starts a server on a free port, unless `env` has one, and waits for the address that it prints to stderr.
 * `env` has more of its environment. `stop` ends it by SIGTERM and gives what is wrong with the way it ended, if anything; `kill` ends
 * it at once.
 */
export async function startExample(name, env = {}) {
  const child = spawn(process.execPath, [join(root, 'scripts/run-example.mjs'), name], {
    cwd: root,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithUs(child)
  let printed = ''
  let limit
  const url = await new Promise((resolve, reject) => {
    limit = setTimeout(() => reject(new Error(`${name} does not say where it listens:\n${printed}`)), START_MS)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} at its start:\n${printed}`)))
    child.stderr.setEncoding('utf8').on('data', (text) => {
      printed += text
      const found = /http:\/\/\S+/.exec(printed)
      if (found) resolve(found[0])
    })
  }).finally(() => clearTimeout(limit))
  return { url, pid: child.pid, printed: () => printed, stop: () => stop(child), kill: () => kill(child) }
}

async function kill(child) {
  const ended = once(child, 'exit')
  if (child.kill('SIGKILL')) await ended
}

async function stop(child) {
  const before = child.exitCode ?? child.signalCode
  if (before !== null) return `it had ended already, with ${before}`
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const [code, signal] = (await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })])) ?? []
  if (code === 0) return undefined
  child.kill('SIGKILL')
  return code === undefined
    ? `it did not end within ${STOP_MS} ms of SIGTERM`
    : `it ended with ${code ?? signal} on SIGTERM`
}

/** A process that we start does not outlive us. */
export function endWithUs(child) {
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
}

/** Ends this process, and so what it started, on a signal. */
export function exitOnSignals() {
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
}
