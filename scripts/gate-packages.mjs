// System packages that tests need. What is missing is installed where that may happen without asking: as root on a
// Debian base. Otherwise the gate runs without it and says so.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * command   what must be on the PATH
 * apt       the Debian package that brings it
 * for       what is left out without it
 * @type {{ command: string, apt: string, for: string }[]}
 */
const systemPackages = [
  { command: 'nginx', apt: 'nginx-light', for: 'deployment behind nginx' },
  { command: 'haproxy', apt: 'haproxy', for: 'deployment behind HAProxy' },
  { command: 'redis-server', apt: 'redis-server', for: 'the backplane in Redis' },
  { command: 'nats-server', apt: 'nats-server', for: 'the backplane in NATS' },
]

/** Installs what is missing and may be installed; says what is left out. */
export async function installMissing() {
  const missing = systemPackages.filter((row) => !isInstalled(row))
  if (missing.length > 0 && mayInstall()) install(missing)
  return missing.filter((row) => !isInstalled(row)).map((row) => `${row.for} (needs ${row.apt})`)
}

/** Whether a program is there to be run. */
export function isInstalled({ command }) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.some((folder) => existsSync(join(folder, command)))
}

function mayInstall() {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && isInstalled({ command: 'apt-get' })
}

function install(missing) {
  const names = missing.map((row) => row.apt)
  console.log(`installing ${names.join(', ')}`)
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    // RUNLEVEL=1 keeps the packages from starting their services: tests start what they need themselves.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  }
  const get = (...args) => spawnSync('apt-get', ['-qq', '-o', 'Dpkg::Use-Pty=0', ...args], options).status === 0
  if (!get('install', '-y', '--no-install-recommends', ...names)) {
    get('update')
    get('install', '-y', '--no-install-recommends', ...names)
  }
}
