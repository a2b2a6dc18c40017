import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../http/_eventually.js'
import { bundled, Child, codeOf, initialize, type Json, legacy, modern, textOf } from './_child.js'

const SERVER = `
import { createRouter, field } from 'phantom-mcp'
import { serveStdio } from 'phantom-mcp/stdio'

const router = createRouter({ name: 'pipes', version: '1.0.0' })
router.tool('echo', { input: { text: field.string({ required: true }) } }, ({ text }) => text)
router.tool('noargs', {}, () => 'ok')
router.tool('fail', {}, () => {
  throw new Error('secret')
})
router.tool('slow', { input: { ms: field.integer({ required: true }) } }, async ({ ms }, session) => {
  session.signal.addEventListener('abort', () => console.error('aborted', session.call.id))
  await new Promise((resolve) => setTimeout(resolve, ms))
  return 'slept'
})
router.tool('wait', {}, (_params, session) => new Promise((_resolve, reject) => {
  console.error('waiting', session.call.id)
  session.signal.addEventListener('abort', () => {
    console.error('aborted', session.call.id)
    reject(session.signal.reason)
  })
}))
router.tool('chatty', {}, () => {
  console.log('%s and more', 'log')
  console.info('info')
  console.debug('debug')
  console.warn('warn')
  console.error('error')
  console.trace('trace')
  console.dir({ dir: true })
  console.dirxml('dirxml')
  console.table([{ table: 1 }])
  console.group('group')
  console.groupEnd()
  console.groupCollapsed('collapsed')
  console.groupEnd()
  console.count('counter')
  console.assert(false, 'assert')
  return 'said'
})
router.tool('counting', {}, () => {
  console.group('group')
  console.log('inside')
  console.groupEnd()
  console.log('outside')
  console.groupCollapsed('collapsed')
  console.groupEnd()
  console.count('counter')
  console.countReset('counter')
  console.count('counter')
  console.time('timer')
  console.timeLog('timer')
  console.timeEnd('timer')
  console.error('counted')
})
router.tool('flood', {}, async (_params, session) => {
  for (let step = 1; step <= 400; step++) {
    await session.notifyProgress(step, 400, 'x'.repeat(65_536))
    console.error('step', step)
  }
  return 'done'
})
// What a program holds open must not keep the process after the client has gone.
setInterval(() => undefined, 1_000)
console.error('ready')
await serveStdio(router, process.env.MAX_LINE ? { maxLineBytes: Number(process.env.MAX_LINE) } : {})
`

let file = ''
let small = ''
beforeAll(async () => {
  file = await bundled(SERVER)
  small = await bundled(
    SERVER.replace('process.env.MAX_LINE ?', 'true ?').replace('Number(process.env.MAX_LINE)', '2_000'),
  )
})

const TEXT = 'naïve — 漢字 🧭 Ω'
const call = (id: unknown, name: string, args: Json = {}): Json => modern(id, 'tools/call', { name, arguments: args })

describe('framing', () => {
  test('A1: one byte at a time', async () => {
    const child = new Child(file)
    const message = legacy('κ-1', 'tools/call', { name: 'echo', arguments: { text: TEXT } })
    for (const byte of Buffer.from(`${JSON.stringify(message)}\n`)) await child.write(Uint8Array.of(byte))
    await eventually(() => textOf(child.answer('κ-1'))).toBe(TEXT)
    expect(child.stdout).not.toContain('\uFFFD')
  })

  test('a character cut between two writes, many messages in one write', async () => {
    const child = new Child(file)
    const bytes = Buffer.from([1, 2, 3].map((id) => `${JSON.stringify(call(id, 'echo', { text: TEXT }))}\n`).join(''))
    const cut = bytes.lastIndexOf(Buffer.from('🧭')) + 2
    await child.write(bytes.subarray(0, cut))
    await eventually(() => child.answer(2)).toBeDefined()
    await child.write(bytes.subarray(cut))
    await eventually(() => [1, 2, 3].map((id) => textOf(child.answer(id)))).toEqual([TEXT, TEXT, TEXT])
  })

  test('CRLF, a byte order mark, blank lines and a last line without its end', async () => {
    const child = new Child(file)
    const line = (id: number): string => JSON.stringify(modern(id, 'tools/list'))
    await child.write(`\uFEFF${line(1)}\r\n\r\n\n  \t \n${line(2)}\r\n ${line(3)} \n${line(4)}`)
    child.end()
    expect(await child.exited).toBe(0)
    expect(child.messages.map(({ id }) => id)).toEqual([1, 2, 3, 4])
    expect(child.messages.every(({ result }) => result !== undefined)).toBe(true)
  })

  test('a line that is too long is refused, and the next one is served', async () => {
    const child = new Child(small)
    await child.send(call(1, 'echo', { text: 'x'.repeat(3_000) }), call(2, 'noargs'))
    await eventually(() => textOf(child.answer(2))).toBe('ok')
    const [refused] = child.messages
    expect(codeOf(refused)).toBe(-32600)
    expect(refused).toMatchObject({ error: { data: { reason: 'too_large', option: 'maxLineBytes' } } })
    expect(child.messages).toHaveLength(2)
    // Bytes are counted, wherever the writes end.
    for (let at = 0; at < 5; at++) await child.write('漢'.repeat(200))
    await child.write('\n')
    await child.send(call(3, 'noargs'))
    await eventually(() => textOf(child.answer(3))).toBe('ok')
    expect(child.messages).toHaveLength(4)
  })

  test('A3: bad lines are refused one by one, and the good one behind them is served', async () => {
    const child = new Child(file)
    await child.write('{"jsonrpc":"2.0","id":70,"method":\n')
    await child.write('"just a string"\n')
    await child.write('{"jsonrpc":"2.0","id":71,"method":5}\n')
    await child.write('{"jsonrpc":"2.0","id":72,"method":"tools/call"}\n')
    await child.write('{"jsonrpc":"2.0","id":73,"method":"tools/list"}\n')
    await eventually(() => child.answer(73)).toMatchObject({ result: {} })
    const errors = child.messages.filter(({ error }) => error !== undefined)
    expect(errors.map((error) => [error['id'], codeOf(error)])).toEqual([
      [undefined, -32700],
      [undefined, -32600],
      [71, -32600],
      [72, -32602],
    ])
  })

  test('A3: a session gets null where the id could not be read', async () => {
    const child = new Child(file)
    await child.send(initialize(1))
    await eventually(() => child.answer(1)).toBeDefined()
    await child.write('{\n')
    await eventually(() => child.messages[1]).toMatchObject({ id: null, error: { code: -32700 } })
  })

  test.each([
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
    ['a cut character', Buffer.from('"漢').subarray(0, 3)],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a null byte', Buffer.from('\u0000')],
  ])('%s is a parse error of its own line', async (_what, bytes) => {
    const child = new Child(file)
    await child.write(Buffer.concat([bytes, Buffer.from('\n')]))
    await child.send(call(1, 'echo', { text: TEXT }))
    await eventually(() => textOf(child.answer(1))).toBe(TEXT)
    expect(child.messages.map(codeOf)).toEqual([-32700, undefined])
  })
})

describe('stdout', () => {
  test('carries messages only: what a handler prints goes to stderr', async () => {
    const child = new Child(file)
    await child.send(call(1, 'chatty'), call(2, 'fail'))
    await eventually(() => child.answer(2)).toBeDefined()
    child.end()
    expect(await child.exited).toBe(0)
    expect(child.messages.map(({ id }) => id)).toEqual([1, 2])
    for (const said of ['log and more', 'info', 'debug', 'warn', 'error', 'dir: true', 'dirxml', 'table', 'group']) {
      expect(child.stderr).toContain(said)
    }
    expect(child.stderr).toContain('secret')
    expect(child.stdout).not.toContain('secret')
  })

  test('timers, counters and groups of the console work as before', async () => {
    const child = new Child(file)
    await child.send(call(1, 'counting'))
    await eventually(() => child.stderr).toContain('counted')
    expect(child.stderr).not.toContain('No such label')
    expect(child.stderr.match(/timer: /g)).toHaveLength(2)
    expect(child.stderr).toContain('counter: 1\ncounter: 1\n')
    expect(child.stderr).toContain('\n  inside\noutside\n')
  })
})

describe('the end', () => {
  test('an input that ends at once ends the process', async () => {
    const child = new Child(file)
    child.end()
    expect(await child.exited).toBe(0)
    expect(child.stdout).toBe('')
  })

  test('a call that is pending is answered before the process ends by itself, whatever it holds open', async () => {
    const child = new Child(file)
    await child.send(call(1, 'slow', { ms: 50 }), initialize(2), call(3, 'noargs'))
    child.end()
    expect(await child.exited).toBe(0)
    expect(textOf(child.answer(1))).toBe('slept')
    expect(child.answer(2)).toBeDefined()
    expect(textOf(child.answer(3))).toBe('ok')
  })

  test('a large answer is written whole before the process ends', async () => {
    const child = new Child(file)
    const text = '漢'.repeat(500_000)
    await child.send(call(1, 'echo', { text }))
    child.end()
    expect(await child.exited).toBe(0)
    expect(textOf(child.answer(1))).toBe(text)
  })

  test('a reader that has gone costs no crash', async () => {
    const child = new Child(file, { read: false })
    await eventually(() => child.stderr).toContain('ready')
    child.process.stdout.destroy()
    await child.send(...Array.from({ length: 20 }, (_, id) => call(id, 'noargs')))
    child.end()
    expect(await child.exited).toBe(0)
    expect(child.stderr.trim()).toBe('ready')
  })
})

describe('both eras on one pipe', () => {
  test('are interleaved, and neither commits the process', async () => {
    const child = new Child(file)
    await child.send(
      modern('d1', 'server/discover'),
      initialize('i', '2025-06-18'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      legacy('l1', 'tools/list'),
      modern('m1', 'tools/list'),
      legacy('l2', 'ping'),
      modern('m2', 'ping'),
      modern('m3', 'initialize'),
      modern('d2', 'server/discover'),
      legacy('l3', 'tools/call', { name: 'noargs' }),
    )
    await eventually(() => child.answer('l3')).toBeDefined()
    expect(child.answer('d1')).toMatchObject({ result: { supportedVersions: ['2026-07-28'], resultType: 'complete' } })
    expect(child.answer('i')).toMatchObject({ result: { protocolVersion: '2025-06-18' } })
    expect(child.answer('l1')?.['result']).not.toHaveProperty('resultType')
    expect(child.answer('m1')).toMatchObject({ result: { resultType: 'complete' } })
    expect(child.answer('l2')).toEqual({ jsonrpc: '2.0', id: 'l2', result: {} })
    expect(codeOf(child.answer('m2'))).toBe(-32601)
    expect(codeOf(child.answer('m3'))).toBe(-32601)
    expect(child.answer('d2')).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } })
    expect(textOf(child.answer('l3'))).toBe('ok')
    expect(child.messages).toHaveLength(9)
  })

  test('an envelope with another version is refused with those that are served', async () => {
    const child = new Child(file)
    const version = 'io.modelcontextprotocol/protocolVersion'
    await child.send(
      modern(1, 'tools/list', { _meta: { [version]: '2099-01-01' } }),
      modern(2, 'tools/list', { _meta: { [version]: '2025-11-25' } }),
      modern(3, 'tools/list', { _meta: { 'io.modelcontextprotocol/clientCapabilities': undefined } }),
    )
    await eventually(() => child.messages).toHaveLength(3)
    expect(child.answer(1)).toMatchObject({
      error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
    })
    expect(codeOf(child.answer(2))).toBe(-32022)
    expect(codeOf(child.answer(3))).toBe(-32602)
  })

  test('a second initialize is refused, and the session goes on', async () => {
    const child = new Child(file)
    await child.send(initialize(1, '2025-03-26'), initialize(2, '2025-11-25'))
    await child.send([legacy(3, 'ping'), legacy(4, 'ping')])
    await eventually(() => child.stdout.split('\n').length).toBe(4)
    const [first, second, batch] = child.messages
    expect(first).toMatchObject({ result: { protocolVersion: '2025-03-26' } })
    expect([second?.['id'], codeOf(second)]).toEqual([2, -32600])
    expect((batch as unknown as Json[]).map(({ id }) => id)).toEqual([3, 4])
  })
})

describe('calls in flight', () => {
  test('an id that is in flight is refused, whichever era asks; afterwards it is free', async () => {
    const child = new Child(file)
    await child.send(call(7, 'slow', { ms: 50 }), call(7, 'noargs'), legacy(7, 'tools/list'))
    await eventually(() => child.messages).toHaveLength(3)
    expect(child.messages.map(codeOf)).toEqual([-32600, -32600, undefined])
    expect(textOf(child.messages[2])).toBe('slept')
    await child.send(call(7, 'noargs'))
    await eventually(() => textOf(child.messages[3])).toBe('ok')
  })

  test('quick answers overtake slow ones', async () => {
    const child = new Child(file)
    await child.send(call(1, 'slow', { ms: 50 }), call(2, 'noargs'))
    await eventually(() => child.messages.map(({ id }) => id)).toEqual([2, 1])
  })

  test.each(['modern', 'legacy'])('%s: a cancelled call is aborted and not answered', async (era) => {
    const child = new Child(file)
    const wait = era === 'modern' ? call('w', 'wait') : legacy('w', 'tools/call', { name: 'wait' })
    await child.send(wait)
    await eventually(() => child.stderr).toContain('waiting w')
    await child.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'w', reason: 'enough' },
    })
    await eventually(() => child.stderr).toContain('aborted w')
    await child.send(call('w', 'noargs'))
    await eventually(() => textOf(child.answer('w'))).toBe('ok')
    child.end()
    expect(await child.exited).toBe(0)
    expect(child.messages).toHaveLength(1)
  })

  test('J3: late and senseless cancels get no answer and cost nothing', async () => {
    const child = new Child(file)
    const cancel = (params: unknown): Json => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    await child.send(
      call(5, 'noargs'),
      cancel({ requestId: 5 }),
      cancel({ requestId: 999 }),
      cancel({}),
      cancel({ requestId: {} }),
      cancel({ requestId: 5 }),
      { jsonrpc: '2.0', method: 'notifications/cancelled' },
      call(6, 'noargs'),
    )
    child.end()
    expect(await child.exited).toBe(0)
    expect(child.messages.map(({ id }) => id)).toEqual([5, 6])
  })
})

test('a client that does not read makes a handler wait that awaits its progress', async () => {
  const child = new Child(file, { read: false })
  await child.send(modern(1, 'tools/call', { name: 'flood', _meta: { progressToken: 1 } }))
  const steps = (): number => child.stderr.match(/step/g)?.length ?? 0
  let last = -1
  let still = 0
  await eventually(() => {
    still = steps() === last && last > 0 ? still + 1 : 0
    last = steps()
    return still
  }).toBeGreaterThanOrEqual(15)
  expect(last).toBeLessThan(100)
  child.read()
  await eventually(() => textOf(child.answer(1))).toBe('done')
  expect(child.messages.filter(({ method }) => method === 'notifications/progress')).toHaveLength(400)
})
