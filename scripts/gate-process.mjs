// Runs one command of the gate in a process group of its own, so that whatever it starts ends with it.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const running = new Set()

/** Ends every process of the gate at once. */
export function stopRunning() {
  for (const group of running) signalGroup(group, 'SIGKILL')
  running.clear()
}

/** Runs a command to its end: `ok`, its output, why it was ended, and whether it left processes behind. */
export async function runCommand(command, { cwd, minutes }) {
  const child = spawn(command, {
    cwd,
    env: environment(cwd),
    shell: true,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child.pid)
  const chunks = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stderr.on('data', (chunk) => chunks.push(chunk))
  let ended
  const limit = setTimeout(() => {
    ended = `\nended after ${minutes} minutes`
    signalGroup(child.pid, 'SIGKILL')
  }, minutes * 60_000)
  // Not `close`: a process that was left behind would keep the pipes open.
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  clearTimeout(limit)
  const leftRunning = await sweep(child.pid)
  running.delete(child.pid)
  await drained(child)
  return { ok: code === 0, output: Buffer.concat(chunks).toString(), ended, leftRunning }
}

function environment(cwd) {
  const env = {
    ...process.env,
    NO_COLOR: '1',
    PATH: `${join(cwd, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
  }
  // The project's own `silent` is for `npm start`; a step must be able to say why npm failed.
  delete env.npm_config_loglevel
  delete env.FORCE_COLOR
  return { ...env, npm_config_loglevel: 'warn' }
}

async function sweep(group) {
  for (let i = 0; i < 20 && isAlive(group); i++) await sleep(25)
  if (!isAlive(group)) return false
  signalGroup(group, 'SIGTERM')
  for (let i = 0; i < 40 && isAlive(group); i++) await sleep(25)
  signalGroup(group, 'SIGKILL')
  return true
}

/** A dead process that its parent has not collected yet still answers signals: /proc tells it from a living one. */
function isAlive(group) {
  if (!signalGroup(group, 0)) return false
  if (!existsSync('/proc/self/stat')) return true
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      const [state, , processGroup] = statOf(pid)
      return Number(processGroup) === group && state !== 'Z'
    })
}

/** The fields of /proc/PID/stat after the command: state, parent, group, … */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

async function drained(child) {
  const ends = [child.stdout, child.stderr].map((stream) =>
    stream.closed ? undefined : new Promise((resolve) => stream.once('close', resolve)),
  )
  await Promise.race([Promise.all(ends), sleep(2_000, undefined, { ref: false })])
}

function signalGroup(group, signal) {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}
