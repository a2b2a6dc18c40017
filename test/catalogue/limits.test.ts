import { createRouter, field, McpError, type Middleware, type Outcome, Tool } from 'phantom-mcp'
import type { CallToolResult } from 'phantom-mcp/testing'
import { expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { argumentErrors, createCatalogue, createGate, type Gate, textOf } from './_catalogue.js'

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

describeMatrix('timeoutMs', {}, (setup) => {
  test('ends a call whose handler takes longer, and tells the handler by its signal', async () => {
    const router = createCatalogue()
    const told: unknown[] = []
    const gate = createGate()
    router.tool('slow', { timeoutMs: 20 }, async (_params, session) => {
      session.signal.addEventListener('abort', () => {
        told.push((session.signal.reason as Error).name)
        gate.open()
      })
      await gate.passed
      return 'too late'
    })
    router.tool('deaf', { timeoutMs: 20 }, () => new Promise<string>(() => undefined))
    router.tool('quick', { timeoutMs: 20_000 }, async () => 'in time')
    const client = await setup(router)
    for (const name of ['slow', 'deaf']) {
      const result = await client.callTool(name)
      expect(result.isError, name).toBe(true)
      expect(textOf(result)).toContain('20 ms')
    }
    expect(told).toEqual(['TimeoutError'])
    expect(textOf(await client.callTool('quick'))).toBe('in time')
  })

  test('leaves what a handler throws in time as it is, and ignores what comes later', async () => {
    const router = createCatalogue()
    const gate = createGate()
    router.tool('throws', { timeoutMs: 20_000 }, () => {
      throw new McpError('INVALID_PARAMS', 'no such study')
    })
    router.tool('fails', { timeoutMs: 20_000 }, async () => Tool.error('out of stock'))
    router.tool('late', { timeoutMs: 10 }, async () => {
      await gate.passed
      throw new Error('after the end')
    })
    const client = await setup(router)
    await expect(client.callTool('throws')).rejects.toMatchObject({ code: -32602, message: 'no such study' })
    expect(await client.callTool('fails')).toMatchObject({ isError: true, content: [{ text: 'out of stock' }] })
    expect(textOf(await client.callTool('late'))).toContain('10 ms')
    gate.open()
    await turn()
    // The call had its answer; its signal told the handler, so that this is no news to the operator.
    expect(setup.takeErrors()).toEqual([])
    await expect(client.callTool('late')).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
    expect(setup.expectErrors(1)).toMatchObject([{ message: 'after the end' }])
  })
})

/** A tool that says what arrives, leaves and runs, and lets each call go on when it is told to. */
interface Watched {
  readonly arrived: string[]
  readonly left: string[]
  readonly started: string[]
  readonly gates: Map<string, Gate>
  most: number
  running: number
}

interface Watch {
  readonly watched: Watched
  /** Runs before a call stands in line. */
  readonly middleware: readonly Middleware[]
  run(id: string): Promise<string>
}

function watch(): Watch {
  const watched: Watched = { arrived: [], left: [], started: [], gates: new Map(), most: 0, running: 0 }
  const door: Middleware = (session, next) => {
    const { id } = session.params['arguments'] as { id: string }
    session.signal.addEventListener('abort', () => watched.left.push(id))
    const outcome = next()
    watched.arrived.push(id)
    return outcome
  }
  const run = async (id: string): Promise<string> => {
    watched.started.push(id)
    watched.running++
    watched.most = Math.max(watched.most, watched.running)
    const gate = createGate()
    watched.gates.set(id, gate)
    try {
      await gate.passed
      if (id.startsWith('throw')) throw new McpError('INTERNAL_ERROR', `${id} failed`)
      return `done ${id}`
    } finally {
      watched.running--
    }
  }
  return { watched, middleware: [door], run }
}

const POLL = { interval: 5 }
const ID = { id: field.string({ required: true }) }

describeMatrix('maxConcurrency', {}, (setup) => {
  test('runs so many calls at once, and the others in the order in which they came', async () => {
    const router = createCatalogue()
    const { watched, middleware, run } = watch()
    router.tool('job', { input: ID, maxConcurrency: 2, middleware }, ({ id }) => run(id))
    const client = await setup(router)
    const calls = new Map<string, Promise<unknown>>()
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      calls.set(id, client.callTool('job', { id }).then(textOf))
      // Each call has to be there before the next one, so that their order is known.
      await expect.poll(() => watched.arrived, POLL).toContain(id)
    }
    expect(watched.started).toEqual(['a', 'b'])
    for (const [ended, next] of [
      ['b', 'c'],
      ['a', 'd'],
      ['c', 'e'],
    ] as const) {
      watched.gates.get(ended)?.open()
      expect(await calls.get(ended)).toBe(`done ${ended}`)
      await expect.poll(() => watched.started.at(-1), POLL).toBe(next)
    }
    for (const id of ['d', 'e']) watched.gates.get(id)?.open()
    expect(await Promise.all(calls.values())).toEqual(['done a', 'done b', 'done c', 'done d', 'done e'])
    expect(watched).toMatchObject({ started: ['a', 'b', 'c', 'd', 'e'], most: 2, running: 0 })
  })

  test('lets a call that is given up leave the line', async () => {
    const router = createCatalogue()
    const { watched, middleware, run } = watch()
    router.tool('job', { input: ID, maxConcurrency: 1, middleware }, ({ id }) => run(id))
    const client = await setup(router)
    const call = async (id: string, signal?: AbortSignal): Promise<{ answer: Promise<CallToolResult> }> => {
      const answer = client.callTool('job', { id }, signal === undefined ? {} : { signal })
      answer.catch(() => undefined)
      await expect.poll(() => watched.arrived, POLL).toContain(id)
      return { answer }
    }
    const controller = new AbortController()
    const first = await call('first')
    const second = await call('second', controller.signal)
    const third = await call('third')
    controller.abort()
    await expect(second.answer).rejects.toThrow('cancelled')
    await expect.poll(() => watched.left, POLL).toEqual(['second'])
    watched.gates.get('first')?.open()
    expect(textOf(await first.answer)).toBe('done first')
    await expect.poll(() => watched.started, POLL).toEqual(['first', 'third'])
    watched.gates.get('third')?.open()
    expect(textOf(await third.answer)).toBe('done third')
    expect(watched.most).toBe(1)
  })

  test('gives the slot back of a call that is given up, whatever its handler goes on to do', async () => {
    const router = createCatalogue()
    let calls = 0
    router.tool('stuck', { maxConcurrency: 1 }, () => (++calls === 1 ? new Promise<string>(() => undefined) : 'free'))
    const client = await setup(router)
    const controller = new AbortController()
    const first = client.callTool('stuck', {}, { signal: controller.signal })
    first.catch(() => undefined)
    await expect.poll(() => calls, POLL).toBe(1)
    controller.abort()
    await expect(first).rejects.toThrow('cancelled')
    expect(textOf(await client.callTool('stuck'))).toBe('free')
    expect(textOf(await client.callTool('stuck'))).toBe('free')
  })

  test('gives the slot back after a throw, at once or later, and after a time that is up', async () => {
    const router = createCatalogue()
    let calls = 0
    router.tool('sync', { maxConcurrency: 1 }, () => {
      calls++
      throw new McpError('INVALID_PARAMS', 'refused')
    })
    router.tool('async', { maxConcurrency: 1 }, async () => {
      calls++
      await turn()
      throw new McpError('INVALID_PARAMS', 'refused later')
    })
    router.tool('stuck', { maxConcurrency: 1, timeoutMs: 10 }, () => {
      calls++
      return new Promise<string>(() => undefined)
    })
    router.tool('wrong', { maxConcurrency: 1, output: { n: field.integer({ required: true }) } }, () => {
      calls++
      return { n: 0.5 }
    })
    const client = await setup(router)
    for (let round = 0; round < 2; round++) {
      await expect(client.callTool('sync')).rejects.toMatchObject({ message: 'refused' })
      await expect(client.callTool('async')).rejects.toMatchObject({ message: 'refused later' })
      expect((await client.callTool('stuck')).isError).toBe(true)
      expect((await client.callTool('wrong')).isError).toBe(true)
      setup.expectErrors(1)
    }
    expect(calls).toBe(8)
  })

  test('does not count calls whose arguments are refused, and is of each tool alone', async () => {
    const router = createCatalogue()
    const { watched, run } = watch()
    router.tool('job', { input: ID, maxConcurrency: 1 }, ({ id }) => run(id))
    router.tool('other', { input: ID, maxConcurrency: 1 }, ({ id }) => `other ${id}`)
    const client = await setup(router)
    const first = client.callTool('job', { id: 'first' })
    await expect.poll(() => watched.started, POLL).toEqual(['first'])
    expect(await argumentErrors(client.callTool('job', {}))).toEqual(['id is required'])
    expect(textOf(await client.callTool('other', { id: 'x' }))).toBe('other x')
    watched.gates.get('first')?.open()
    expect(textOf(await first)).toBe('done first')
  })
})

describeMatrix('the middleware of a tool', {}, (setup) => {
  test('runs around its calls alone, inside of the router’s, in the order in which it is listed', async () => {
    const steps: string[] = []
    const named =
      (name: string): Middleware =>
      async (session, next): Promise<Outcome> => {
        steps.push(`${name} > ${session.call.method} ${session.call.name ?? ''}`.trimEnd())
        const outcome = await next()
        steps.push(`${name} < ${outcome.ok ? 'ok' : (outcome.error as Error).message}`)
        return outcome
      }
    const router = createRouter({ name: 'middleware', version: '1.0.0', middleware: [named('router')] })
    router.tool('guarded', { middleware: [named('first'), named('second')] }, () => {
      steps.push('handler')
      return 'ok'
    })
    router.tool('free', {}, () => 'free')
    router.tool('fails', { middleware: [named('only')] }, () => {
      throw new McpError('INVALID_PARAMS', 'no')
    })
    const client = await setup(router)
    const during = async (run: () => Promise<unknown>): Promise<string[]> => {
      steps.length = 0
      await run().catch(() => undefined)
      return [...steps]
    }
    expect(await during(() => client.callTool('guarded'))).toEqual([
      'router > tools/call guarded',
      'first > tools/call guarded',
      'second > tools/call guarded',
      'handler',
      'second < ok',
      'first < ok',
      'router < ok',
    ])
    expect(await during(() => client.callTool('free'))).toEqual(['router > tools/call free', 'router < ok'])
    expect(await during(() => client.list('tools'))).toEqual(['router > tools/list', 'router < ok'])
    expect(await during(() => client.callTool('fails'))).toEqual([
      'router > tools/call fails',
      'only > tools/call fails',
      'only < no',
      'router < no',
    ])
  })

  test('can refuse a call before its handler, and does not wait in its line', async () => {
    const router = createCatalogue()
    const { watched, run } = watch()
    let open = true
    const door: Middleware = async (_session, next) => {
      if (!open) throw new McpError('INVALID_REQUEST', 'closed', { data: { until: 9 } })
      return await next()
    }
    router.tool('job', { input: ID, maxConcurrency: 1, middleware: [door] }, ({ id }) => run(id))
    const client = await setup(router)
    const first = client.callTool('job', { id: 'first' })
    await expect.poll(() => watched.started, POLL).toEqual(['first'])
    open = false
    await expect(client.callTool('job', { id: 'second' })).rejects.toMatchObject({
      code: -32600,
      message: 'closed',
      data: { until: 9 },
    })
    watched.gates.get('first')?.open()
    expect(textOf(await first)).toBe('done first')
    expect(watched.started).toEqual(['first'])
  })
})
