import { PassThrough, Writable } from 'node:stream'
import { createRouter, createServer, type LoggedEvent, type Router, type Server } from 'phantom-mcp'
import { serveStdio } from 'phantom-mcp/stdio'
import { afterEach, describe, expect, test } from 'vitest'
import { META, PATIENT } from '../_messages.js'

const MIB = 1_048_576

interface Piped {
  readonly server: Server
  readonly events: LoggedEvent[]
  /** Bytes of the server's that are in memory. */
  readonly waiting: number
  readonly input: PassThrough
  send(message: object): void
  /** Everything that was written, read at last. */
  read(): Promise<Record<string, unknown>[]>
}

const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

/** A client at a pipe that it does not read. */
function piped(router: Router): Piped {
  const events: LoggedEvent[] = []
  const logger = { debug: () => undefined, info: take, warn: take, error: take }
  function take(event: LoggedEvent): void {
    events.push(event)
  }
  const server = createServer(router, { logger, drainMs: 10 })
  const input = new PassThrough()
  let text = ''
  let open = (): void => undefined
  const reading = new Promise<void>((resolve) => {
    open = resolve
  })
  const output = new Writable({
    write: (chunk: Buffer, _encoding, taken) => {
      text += chunk.toString()
      void reading.then(() => taken())
    },
  })
  const served = serveStdio(server, { input, output, console: 'keep' })
  const messages = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  undo.push(async () => {
    open()
    input.end()
    await served
  })
  return {
    server,
    events,
    input,
    get waiting() {
      return output.writableLength
    },
    send: (message) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    read: async () => {
      open()
      let size = -1
      await expect
        .poll(() => {
          const settled = size === text.length
          size = text.length
          return settled
        }, PATIENT)
        .toBe(true)
      return messages()
    },
  }
}

function loud(): Router {
  const router = createRouter({ name: 'loud', version: '1.0.0' })
  // Waits for nobody.
  router.tool('shout', {}, (_params, session) => {
    for (let n = 0; n < 40; n++) void session.notify('notifications/shout', { text: 'x'.repeat(MIB) })
    return 'shouted'
  })
  router.tool('big', {}, () => 'x'.repeat(MIB))
  return router
}

describe('a client that does not read its pipe', () => {
  test('of a session costs no more than its bound, and is told afterwards what it may have missed', async () => {
    const router = loud()
    const client = piped(router)
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    client.send({ id: 1, method: 'initialize', params })
    client.send({ id: 2, method: 'tools/call', params: { name: 'shout' } })
    await expect.poll(() => client.events.map(({ event }) => event), PATIENT).toContain('pipe_full')
    for (let n = 0; n < 50; n++) await client.server.notifyToolList()
    expect(client.waiting).toBeLessThan(18 * MIB)
    const messages = await client.read()
    const methods = messages.map(({ method }) => method)
    expect(methods.filter((method) => method === 'notifications/shout').length).toBeLessThan(18)
    expect(messages.filter(({ id }) => id !== undefined)).toMatchObject([{ id: 1 }, { id: 2, result: {} }])
    const lists = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`)
    expect(methods.slice(-3)).toEqual(lists)
    expect(client.events.filter(({ event }) => event.startsWith('pipe_'))).toMatchObject([
      { event: 'pipe_full' },
      { event: 'pipe_read', dropped: expect.any(Number) },
    ])
  })

  test('that listens in 2026-07-28 has its listen ended instead of a gap', async () => {
    const router = loud()
    const client = piped(router)
    const params = { _meta: META, notifications: { toolsListChanged: true } }
    client.send({ id: 'l', method: 'subscriptions/listen', params })
    client.send({ id: 2, method: 'tools/call', params: { name: 'shout', _meta: META } })
    await expect.poll(() => client.events.map(({ event }) => event), PATIENT).toContain('pipe_full')
    router.tool('more', {}, () => 'more')
    const messages = await client.read()
    expect(messages.filter(({ method }) => method === 'notifications/tools/list_changed')).toEqual([])
    expect(messages.find(({ id }) => id === 'l')).toMatchObject({ result: { resultType: 'complete' } })
  })

  test('and asks on is not read itself, until it does', async () => {
    const client = piped(loud())
    for (let id = 0; id < 40; id++) client.send({ id, method: 'tools/call', params: { name: 'big', _meta: META } })
    await expect.poll(() => client.input.isPaused(), PATIENT).toBe(true)
    expect(client.waiting).toBeLessThan(20 * MIB)
    const messages = await client.read()
    await expect.poll(() => client.input.isPaused(), PATIENT).toBe(false)
    expect(messages.length).toBeGreaterThan(16)
  })
})
