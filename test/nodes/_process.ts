import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { afterTest } from '../http/_http.js'
import { until } from './_calls.js'
import { onLine } from './_lines.js'

/** A process that serves, and ends with the test. It says its port on stdout, and what else the test waits for. */
export class NodeProcess {
  readonly process: ChildProcessWithoutNullStreams
  readonly lines: string[] = []
  readonly exited: Promise<void>
  stderr = ''

  constructor(program: string, settings: object) {
    const env = { ...process.env, NODE_SETTINGS: JSON.stringify(settings) }
    this.process = spawn(process.execPath, [program], { env })
    this.process.stdin.on('error', () => undefined)
    onLine(this.process.stdout, (line) => this.lines.push(line))
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.exited = new Promise((resolve) => this.process.once('exit', () => resolve()))
    afterTest(() => this.signal('SIGKILL'))
  }

  get port(): number {
    return Number(this.lines.find((line) => line.startsWith('port '))?.slice(5) ?? 0)
  }

  /** Resolves once it has said so. */
  async says(line: string): Promise<void> {
    await until(
      () => this.lines.some((said) => said.startsWith(line)),
      () => `'${line}' was expected: ${[...this.lines, this.stderr].join('\n')}`,
    )
  }

  /** Lets handlers through. */
  pass(gate: string): void {
    this.process.stdin.write(`${gate}\n`)
  }

  stop(): void {
    this.process.kill('SIGSTOP')
  }

  goOn(): void {
    this.process.kill('SIGCONT')
  }

  /** Resolves when it is gone. */
  async signal(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal)
    await this.exited
  }
}
