import type { Readable, Writable } from 'node:stream'
import { assertCounts, assertOptions } from '../options.js'
import type { Router } from '../router/router.js'
import { type Server, toServer } from '../server/server.js'
import { admit } from './admit.js'
import { Connection } from './connection.js'
import { redirectConsole } from './console.js'
import { LineWriter } from './line-writer.js'
import { type Line, LineSplitter } from './lines.js'

/** Where `serveStdio` reads and writes. */
export interface StdioOptions {
  /** @default process.stdin */
  readonly input?: Readable
  /** @default process.stdout */
  readonly output?: Writable
  /** Bytes of one message; a longer one is refused and skipped. @default 4_194_304 */
  readonly maxLineBytes?: number
  /** Where `console.log` and its kin print while this serves: `'stderr'`, or `'keep'` to leave them alone. @default 'stderr' */
  readonly console?: 'stderr' | 'keep'
}

const OPTIONS = ['input', 'output', 'maxLineBytes', 'console']
const DEFAULT_MAX_LINE_BYTES = 4_194_304
const MAX_DEPTH = 200
/** How long the last lines are waited for, in milliseconds. */
const FLUSH_MS = 2_000
/** How long answers are waited for when the input has ended, in milliseconds. */
const DRAIN_MS = 10_000

/**
 * Serves MCP over stdin and stdout, every protocol version on one pipe. Resolves when the input has ended and the pending
 * answers are written. On the process's own streams it then ends the process: a client that has closed our input waits
 * for nothing else, and what the program still holds open must not keep it alive.
 *
 * @throws TypeError for an option that is unknown or out of range.
 * @throws Error when `connect` does not let the caller in.
 */
export async function serveStdio<Assigns extends object>(
  target: Router<Assigns> | Server,
  options: StdioOptions = {},
): Promise<void> {
  assertStdioOptions(options)
  const { input = process.stdin, output = process.stdout, maxLineBytes = DEFAULT_MAX_LINE_BYTES } = options
  const server = toServer(target as Router<never> | Server)
  // The client at the other end has nothing of it when either process ends.
  server.allowRandomSecret()
  const restore = options.console === 'keep' ? () => undefined : redirectConsole()
  const access = await admit(server).catch((error: unknown) => {
    restore()
    throw error
  })
  const writer = new LineWriter(output)
  const connection = new Connection(server, (message) => writer.write(message), {
    maxDepth: MAX_DEPTH,
    access,
    pipe: writer,
  })
  await readLines(input, new LineSplitter(maxLineBytes), (line) => {
    receive(connection, line, maxLineBytes)
    // Each request that is read is an answer that waits.
    if (!writer.overfull || input.isPaused()) return
    input.pause()
    void writer.room().then(() => input.resume())
  })
  connection.inputEnded()
  // What is open for good ends now; what runs gets its time.
  await server.close({ drainMs: DRAIN_MS })
  await connection.settled()
  connection.close()
  if (access !== undefined) {
    server.disconnected(access)
    await server.terminated(access)
  }
  // A client that has closed our input and reads nothing more must not keep the process.
  await Promise.race([writer.drained(), elapsed(FLUSH_MS)])
  restore()
  if (input === process.stdin && output === process.stdout) process.exit()
}

function assertStdioOptions(options: StdioOptions): void {
  assertOptions('serveStdio', options, OPTIONS)
  assertCounts('serveStdio', options, ['maxLineBytes'])
  const { console: printing } = options
  if (printing !== undefined && printing !== 'stderr' && printing !== 'keep') {
    throw new TypeError(`serveStdio: console must be 'stderr' or 'keep', not ${JSON.stringify(printing)}`)
  }
}

function readLines(input: Readable, splitter: LineSplitter, receiveLine: (line: Line) => void): Promise<void> {
  return new Promise((resolve) => {
    let ended = false
    const end = (): void => {
      const rest = ended ? undefined : splitter.rest()
      ended = true
      if (rest !== undefined) receiveLine(rest)
      resolve()
    }
    input.on('data', (chunk: Uint8Array | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      for (const line of splitter.push(bytes)) receiveLine(line)
    })
    input.on('end', end)
    input.on('close', end)
    input.on('error', end)
  })
}

const DECODER = new TextDecoder('utf-8', { fatal: true })

function receive(connection: Connection, line: Line, maxLineBytes: number): void {
  if (line === 'too-long') {
    const data = { reason: 'too_large', option: 'maxLineBytes' }
    connection.refuse({ code: 'INVALID_REQUEST', message: `The message has more than ${maxLineBytes} bytes`, data })
    return
  }
  let text: string
  try {
    text = DECODER.decode(line)
  } catch {
    connection.refuse({ code: 'PARSE_ERROR', message: 'The message is not valid UTF-8' })
    return
  }
  if (text.trim() !== '') connection.receiveText(text)
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
