import { PassThrough, Writable } from 'node:stream'
import { createRouter, createServer, field, type Router } from 'phantom-mcp'
import { type StdioOptions, serveStdio } from 'phantom-mcp/stdio'
import { afterEach, describe, expect } from 'vitest'
import { gate, META, PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'

interface Pipe {
  readonly input: PassThrough
  readonly output: PassThrough
  /** Lines that were written, as they are. */
  readonly lines: string[]
  readonly served: Promise<void>
  /** Waits for so many lines. */
  has(count: number): Promise<void>
  messages(): { id?: unknown; result?: { content?: { text: string }[] }; error?: { code: number } }[]
}

const open: Pipe[] = []
afterEach(async () => {
  for (const pipe of open.splice(0)) {
    pipe.input.end()
    await pipe.served
  }
})

function serve(router: Router, options: StdioOptions = {}): Pipe {
  const input = new PassThrough()
  const output = new PassThrough()
  const lines: string[] = []
  let text = ''
  output.setEncoding('utf8')
  output.on('data', (chunk: string) => {
    text += chunk
    const whole = text.split('\n')
    text = whole.pop() ?? ''
    lines.push(...whole)
  })
  const served = serveStdio(createServer(router, { onError: () => undefined }), {
    input,
    output,
    console: 'keep',
    ...options,
  })
  const pipe: Pipe = {
    input,
    output,
    lines,
    served,
    has: (count) => expect.poll(() => lines.length, PATIENT).toBe(count),
    messages: () => lines.map((line) => JSON.parse(line)),
  }
  open.push(pipe)
  return pipe
}

function echo(): Router {
  const router = createRouter({ name: 'stdio', version: '1.0.0' })
  router.tool('echo', { input: { text: field.string({ required: true }) } }, ({ text }) => text)
  return router
}

const call = (id: unknown, text: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text }, _meta: META },
  })
const list = (id: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: META } })
const TEXT = 'naïve — 漢字 🧭 Ω'

describe('lines', () => {
  verifies('field.A1', 'may be cut anywhere, characters included', async () => {
    const pipe = serve(echo())
    for (const byte of new TextEncoder().encode(`${call('κ-1', TEXT)}\n`)) {
      pipe.input.write(Uint8Array.of(byte))
      await new Promise((later) => setImmediate(later))
    }
    await pipe.has(1)
    expect(pipe.messages()[0]).toMatchObject({ id: 'κ-1', result: { content: [{ type: 'text', text: TEXT }] } })
    const bytes = new TextEncoder().encode(`${call(1, TEXT)}\n${call(2, TEXT)}\n`)
    for (let cut = 1; cut < bytes.length; cut += 7) {
      pipe.lines.length = 0
      pipe.input.write(bytes.subarray(0, cut))
      pipe.input.write(bytes.subarray(cut))
      await pipe.has(2)
      expect(pipe.messages().map(({ id, result }) => [id, result?.content?.[0]?.text])).toEqual([
        [1, TEXT],
        [2, TEXT],
      ])
    }
  })

  verifies('field.A3', 'that are bad cost nothing but themselves', async () => {
    const pipe = serve(echo())
    const bad = [
      '{"jsonrpc":"2.0","id":70,"method":',
      '"just a string"',
      '{"jsonrpc":"2.0","id":71,"method":5}',
      '{"jsonrpc":"2.0","id":72,"method":"tools/call"}',
    ]
    pipe.input.write(`${bad.join('\n')}\n${list(73)}\n`)
    await pipe.has(5)
    const answers = pipe.messages()
    expect(answers.filter(({ error }) => error !== undefined).map(({ id, error }) => [id, error?.code])).toEqual([
      [undefined, -32700],
      [undefined, -32600],
      [71, -32600],
      [72, -32602],
    ])
    expect(answers.find(({ id }) => id === 73)).toMatchObject({ result: { tools: [{ name: 'echo' }] } })
  })

  verifies('stdio.framing', 'end in CRLF or LF, begin with a BOM, or are blank', async () => {
    const pipe = serve(echo())
    pipe.input.write(`\uFEFF${list(1)}\r\n\r\n\n   \t\n${list(2)}\r\n`)
    await pipe.has(2)
    expect(pipe.messages().map(({ id, error }) => [id, error])).toEqual([
      [1, undefined],
      [2, undefined],
    ])
  })

  verifies('stdio.framing', 'may lack the last line end', async () => {
    const pipe = serve(echo())
    pipe.input.end(list('last'))
    await pipe.served
    expect(pipe.messages()).toMatchObject([{ id: 'last' }])
  })

  verifies(['rpc.utf-8', 'rpc.parse-error'], 'that are not UTF-8 are a parse error', async () => {
    const pipe = serve(echo())
    pipe.input.write(
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}\n'),
      ]),
    )
    pipe.input.write(`${list(2)}\n`)
    await pipe.has(2)
    expect(pipe.messages().map(({ id, error }) => [id, error?.code])).toEqual([
      [undefined, -32700],
      [2, undefined],
    ])
  })

  verifies('stdio.limit', 'that are too long are refused and skipped', async () => {
    const pipe = serve(echo(), { maxLineBytes: 1000 })
    const long = call(1, 'x'.repeat(5000))
    for (let at = 0; at < long.length; at += 500) pipe.input.write(long.slice(at, at + 500))
    pipe.input.write(`\n${call(2, 'short')}\n`)
    await pipe.has(2)
    expect(pipe.messages()).toMatchObject([
      { error: { code: -32600, data: { reason: 'too_large', option: 'maxLineBytes' } } },
      { id: 2, result: { content: [{ text: 'short' }] } },
    ])
  })

  verifies(['stdio.framing', 'rpc.no-answer'], 'are one for each message, without line breaks inside', async () => {
    const pipe = serve(echo())
    pipe.input.write(`${call(1, 'a\nb\r\n\u2028c')}\n${call(2, '')}\n`)
    await pipe.has(2)
    expect(pipe.lines.every((line) => !/[\r\n]/.test(line))).toBe(true)
    expect(pipe.messages().map(({ result }) => result?.content?.[0]?.text)).toEqual(['a\nb\r\n\u2028c', ''])
  })
})

describe('the pipe', () => {
  verifies('stdio.end', 'ends when the pending answers are written', async () => {
    const slow = gate()
    const router = echo()
    router.tool('slow', {}, async () => {
      await slow.promise
      return 'slow'
    })
    const pipe = serve(router)
    const params = { name: 'slow', _meta: META }
    pipe.input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n${list(2)}\n`)
    pipe.input.end()
    await pipe.has(1)
    slow.open()
    await pipe.served
    expect(pipe.messages().map(({ id }) => id)).toEqual([2, 1])
  })

  verifies('stdio.pressure', 'that is full holds a handler back, and keeps the order', async () => {
    const taken: string[] = []
    const release = gate()
    // Takes one chunk, and no more until it is released.
    const output = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => {
        taken.push(chunk.toString())
        void release.promise.then(() => done())
      },
    })
    let sent = 0
    const router = echo()
    router.tool('flood', {}, async (_params, session) => {
      for (let step = 1; step <= 200; step++) {
        await session.notifyProgress(step)
        sent = step
      }
      return 'flooded'
    })
    const input = new PassThrough()
    const served = serveStdio(createServer(router), { input, output, console: 'keep' })
    const params = { name: 'flood', _meta: { ...META, progressToken: 1 } }
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
    await expect.poll(() => taken.length, PATIENT).toBe(1)
    for (let turn = 0; turn < 20; turn++) await new Promise((later) => setImmediate(later))
    expect(sent).toBeLessThan(50)
    release.open()
    await expect.poll(() => taken.join('').includes('flooded'), PATIENT).toBe(true)
    const messages = taken
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { params?: { progress: number } })
    expect(messages.map(({ params: told }) => told?.progress)).toEqual([
      ...Array.from({ length: 200 }, (_, index) => index + 1),
      undefined,
    ])
    void input.end()
    await served
  })

  verifies('stdio.broken', 'that nobody reads any more is no error', async () => {
    const pipe = serve(echo())
    pipe.input.write(`${list(1)}\n`)
    await pipe.has(1)
    pipe.output.destroy(new Error('EPIPE'))
    pipe.input.write(`${list(2)}\n`)
    pipe.input.end()
    await expect(pipe.served).resolves.toBeUndefined()
  })
})
