import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Load, LoadResult } from './load.js'
import type { ProcessName, ServerName } from './modules.js'
import type { Timing } from './timing.js'

type Question =
  | { ask: 'heap'; connections: number }
  | { ask: 'advance'; ms: number }
  | { ask: 'usage' }
  | { ask: 'load'; load: Load }
  | { ask: 'time'; rounds: number }
interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

const ANSWER_MS = 30_000
const children = new Set<Child>()

/** Ends every child that is still there. */
export function endChildren(): void {
  for (const child of children) child.end()
}

/** A process of ours, which answers one question at a time. */
class Child {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #nextId = 1

  constructor(args: readonly string[], nodeOptions: readonly string[]) {
    const file = fileURLToPath(new URL('./child.js', import.meta.url))
    this.#process = fork(file, args, { execArgv: [...nodeOptions] })
    this.#process.on('message', (answer: Answer) => this.#take(answer))
    this.#process.on('exit', (code) => {
      children.delete(this)
      for (const id of [...this.#waiting.keys()]) this.#take({ id, error: `${args.join(' ')} ended with ${code}` })
    })
    children.add(this)
  }

  /** The child's first word: the port of a server. */
  async started(): Promise<unknown> {
    return await this.#wait(0)
  }

  async ask(question: Question): Promise<unknown> {
    const id = this.#nextId++
    const answer = this.#wait(id)
    this.#process.send({ ...question, id })
    return await answer
  }

  /** Lets the child end by itself, so that it can write a profile, and sees to it that it does. */
  async close(): Promise<void> {
    if (!this.#process.connected) return
    const exited = once(this.#process, 'exit')
    this.#process.disconnect()
    const timer = setTimeout(() => this.end(), 5_000)
    await exited
    clearTimeout(timer)
  }

  end(): void {
    this.#process.kill('SIGKILL')
  }

  #wait(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#take({ id, error: 'A child process does not answer' }), ANSWER_MS)
      this.#waiting.set(id, ({ value, error }) => {
        clearTimeout(timer)
        if (error === undefined) resolve(value)
        else reject(new Error(error))
      })
    })
  }

  #take(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    waiting?.(answer)
  }
}

export interface ServerChildOptions {
  /** Arguments of node itself. @default none */
  readonly nodeOptions?: readonly string[]
  /** Where its backplane is, for a server that has one. @default in its memory */
  readonly engine?: string | undefined
}

/** A server in a process of its own. */
export class ServerChild extends Child {
  readonly name: ServerName
  port = 0

  private constructor(name: ServerName, { nodeOptions = [], engine }: ServerChildOptions) {
    super(['server', name, ...(engine === undefined ? [] : [engine])], nodeOptions)
    this.name = name
  }

  static async start(name: ServerName, options: ServerChildOptions): Promise<ServerChild> {
    const child = new ServerChild(name, options)
    child.port = (await child.started()) as number
    return child
  }

  /** Bytes of its heap after garbage collection, once no more than so many connections are open. */
  async heap(connections: number): Promise<number> {
    return (await this.ask({ ask: 'heap', connections })) as number
  }

  /** Moves the clock of its sessions. */
  async advance(ms: number): Promise<void> {
    await this.ask({ ask: 'advance', ms })
  }

  /** CPU time that it has used, in microseconds. */
  async usage(): Promise<number> {
    return (await this.ask({ ask: 'usage' })) as number
  }
}

/** The load, in a process of its own. */
export class LoadChild extends Child {
  static async start(): Promise<LoadChild> {
    const child = new LoadChild(['load'], [])
    await child.started()
    return child
  }

  async run(load: Load): Promise<LoadResult> {
    return (await this.ask({ ask: 'load', load })) as LoadResult
  }
}

/** Times a pair in a process of its own. */
export async function timeInChild(name: ProcessName, rounds: number): Promise<readonly Timing[]> {
  const child = new Child(['process', name], [])
  await child.started()
  const timings = (await child.ask({ ask: 'time', rounds })) as readonly Timing[]
  await child.close()
  return timings
}
