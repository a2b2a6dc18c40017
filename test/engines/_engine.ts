import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { vi } from 'vitest'

/** Where a program is; undefined where it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

export interface EngineProgram {
  readonly name: string
  /** Of a server on a loopback port that keeps all that it has in the folder. */
  args(port: number, folder: string): readonly string[]
}

/** A server of our own, on a port and in a folder of its own. It may be stopped and started again, and finds its data then. */
export class Engine {
  readonly port: number
  readonly #program: EngineProgram
  readonly #folder: string
  #process: ChildProcess | undefined

  private constructor(program: EngineProgram, port: number) {
    this.#program = program
    this.port = port
    this.#folder = mkdtempSync(join(tmpdir(), 'phantom-engine-'))
  }

  static async run(program: EngineProgram): Promise<Engine> {
    const engine = new Engine(program, await freePort())
    await engine.start()
    return engine
  }

  async start(): Promise<void> {
    const { name } = this.#program
    let output = ''
    const child = spawn(findProgram(name) ?? name, this.#program.args(this.port, this.#folder), { cwd: this.#folder })
    this.#process = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-4_000)
      })
    }
    child.on('error', (error) => {
      output += String(error)
    })
    const listens = async (): Promise<void> => {
      if (!(await isOpen(this.port))) throw new Error(`${name} does not listen: ${output}`)
    }
    await vi.waitFor(listens, { timeout: 10_000, interval: 20 })
  }

  /** At once and without a farewell, as in a crash. */
  async stop(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null) return
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGKILL')
    await exited
  }

  async end(): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
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
