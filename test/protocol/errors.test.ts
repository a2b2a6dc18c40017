import { createRouter, createServer, McpError, type Router } from 'phantom-mcp'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'

/** A server whose tool, prompt and resource all do the same. */
function doing(run: () => unknown): Router {
  const router = createRouter({ name: 'errors', version: '1.0.0' })
  router.tool('boom', {}, run as () => string)
  router.prompt('boom', {}, run as () => string)
  router.resource('boom://x', { name: 'boom' }, run as () => string)
  router.tool('fine', {}, () => 'fine')
  return router
}

const ask = (client: TestClient): (() => Promise<unknown>)[] => [
  () => client.callTool('boom'),
  () => client.getPrompt('boom'),
  () => client.readResource('boom://x'),
]

/** What a handler might throw that must not even be looked at. */
function oddities(): unknown[] {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const name = { get: (): never => fail('name') }
  const code = { get: (): never => fail('code') }
  return [
    proxy,
    Object.defineProperties(new Error('x'), { name }),
    Object.defineProperties(new Error('x'), { name: { value: 'McpError' }, code }),
    Object.defineProperties(new McpError('INVALID_PARAMS', 'x'), { code }),
  ]
}

function fail(what: string): never {
  throw new Error(what)
}

describeMatrix('what a handler throws', {}, (setup, cell) => {
  verifies('errors.masked', 'may be anything, now or later: it costs its own call only', async () => {
    let thrown: unknown
    let later = false
    const client = await setup(
      doing(() => {
        if (later) return Promise.resolve().then(() => Promise.reject(thrown))
        throw thrown
      }),
    )
    for (later of [false, true]) {
      for (thrown of oddities()) {
        for (const request of ask(client)) await expect(request()).rejects.toMatchObject({ code: -32603 })
        const told = setup.expectErrors(3).map((error) => Object.is(error, thrown))
        expect(told).toEqual([true, true, true])
        expect((await client.callTool('fine')).content).toEqual([{ type: 'text', text: 'fine' }])
      }
    }
  })

  verifies('errors.masked', 'reaches the operator once and never the client', async () => {
    const looksRight = Object.assign(new Error('secret'), { code: 'INVALID_PARAMS', data: 'secret' })
    const values: unknown[] = [
      new Error('secret at /srv/app/db.ts:12'),
      'secret text',
      undefined,
      null,
      5,
      { code: -32602, message: 'secret' },
      looksRight,
    ]
    let thrown: unknown
    let later = false
    const client = await setup(
      doing(() => {
        if (later) return Promise.reject(thrown)
        throw thrown
      }),
    )
    for (later of [false, true]) {
      for (thrown of values) {
        for (const answer of ask(client)) {
          await expect(answer()).rejects.toMatchObject({ code: -32603, message: 'Internal error', data: undefined })
        }
        expect(setup.expectErrors(3)).toEqual([thrown, thrown, thrown])
        if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(200)
      }
    }
    expect(JSON.stringify(setup.wire.received)).not.toContain('secret')
    expect(await client.callTool('fine')).toMatchObject({ content: [{ text: 'fine' }] })
  })

  verifies('errors.mcp-error', 'as McpError passes with its code, message and data', async () => {
    const data = { study: 7, list: [1, null] }
    const cases = [
      ['INVALID_PARAMS', -32602],
      ['INTERNAL_ERROR', -32603],
      ['RESOURCE_NOT_FOUND', cell.sessions ? -32002 : -32602],
    ] as const
    for (const [code, number] of cases) {
      const client = await setup(
        doing(() => {
          throw new McpError(code, 'The study is archived', { data })
        }),
      )
      for (const answer of ask(client)) {
        await expect(answer()).rejects.toMatchObject({ code: number, message: 'The study is archived', data })
      }
    }
    const bare = await setup(
      doing(() => {
        throw new McpError('INVALID_PARAMS', 'No data')
      }),
    )
    await expect(bare.callTool('boom')).rejects.toMatchObject({ message: 'No data' })
    expect(setup.wire.received.at(-1)?.['error']).toEqual({ code: -32602, message: 'No data' })
  })

  verifies('errors.mcp-error', 'as McpError with a cause tells the cause to the operator alone', async () => {
    const error = new McpError('INVALID_PARAMS', 'Try later', { cause: new Error('secret') })
    const client = await setup(
      doing(() => {
        throw error
      }),
    )
    await expect(client.callTool('boom')).rejects.toMatchObject({ code: -32602, message: 'Try later', data: undefined })
    expect(setup.expectErrors(1)).toEqual([error])
    expect(JSON.stringify(setup.wire.received)).not.toContain('secret')
  })

  verifies('errors.mcp-error', 'as McpError with data that JSON cannot hold loses the data only', async () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    for (const data of [cyclic, { n: 10n }]) {
      const client = await setup(
        doing(() => {
          throw new McpError('INVALID_PARAMS', 'Told', { data })
        }),
      )
      await expect(client.callTool('boom')).rejects.toMatchObject({ code: -32602, message: 'Told', data: undefined })
      setup.expectErrors(1)
      expect(await client.callTool('fine')).toMatchObject({ content: [{ text: 'fine' }] })
    }
  })

  verifies('errors.foreign', 'as an McpError of somebody else, or with a code that is none, is masked', async () => {
    const foreign: unknown[] = [
      Object.assign(new Error('MCP error -32000: secret'), { name: 'McpError', code: -32000, data: 'secret' }),
      ...['NOPE', 'constructor', '__proto__'].map((code) =>
        Object.assign(new McpError('INVALID_PARAMS', 'secret'), { code }),
      ),
    ]
    for (const error of foreign) {
      const client = await setup(
        doing(() => {
          throw error
        }),
      )
      await expect(client.callTool('boom')).rejects.toMatchObject({
        code: -32603,
        message: 'Internal error',
        data: undefined,
      })
      expect(setup.expectErrors(1)).toEqual([error])
      expect(JSON.stringify(setup.wire.received)).not.toContain('secret')
    }
  })

  verifies('errors.mcp-error', 'as the McpError of another copy of this package passes', async () => {
    const copy = Object.assign(new Error('Archived'), { name: 'McpError', code: 'INVALID_PARAMS', data: { a: 1 } })
    const client = await setup(
      doing(() => {
        throw copy
      }),
    )
    await expect(client.callTool('boom')).rejects.toMatchObject({ code: -32602, message: 'Archived', data: { a: 1 } })
  })
})

describeMatrix('results that JSON cannot hold', {}, (setup, cell) => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  const throwing = {
    toJSON: () => {
      throw new Error('secret')
    },
  }
  const getter = {
    get secret(): string {
      throw new Error('secret')
    },
  }

  verifies(['field.P4', 'errors.unserialisable'], 'cost their own call only', async () => {
    const values: [unknown, string][] = [
      [cyclic, 'cycle'],
      [{ n: 10n }, 'BigInt'],
      [10n, 'bare BigInt'],
      [() => 'x', 'function'],
      [Symbol('x'), 'symbol'],
      [throwing, 'toJSON'],
      [getter, 'getter'],
      [[cyclic], 'cycle in a list'],
    ]
    for (const [value, name] of values) {
      const client = await setup(doing(() => value))
      const failed = await client.callTool('boom').then(
        (result) => result.isError,
        (error: { code: number; message: string }) => error.code === -32603 && error.message === 'Internal error',
      )
      expect(failed, name).toBe(true)
      expect(setup.takeErrors().length, name).toBe(1)
      expect(JSON.stringify(setup.wire.received)).not.toContain('secret')
      expect(await client.callTool('fine')).toMatchObject({ content: [{ text: 'fine' }] })
    }
  })

  verifies('field.P4', 'but that JSON has a form of are sent in it', async () => {
    const values: [unknown, string][] = [
      [{ n: Number.NaN }, '{"n":null}'],
      [{ n: Number.POSITIVE_INFINITY }, '{"n":null}'],
      [{ a: undefined, b: () => 1, c: [undefined] }, '{"c":[null]}'],
      [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ]
    for (const [value, text] of values) {
      const client = await setup(doing(() => value))
      const { content, structuredContent } = await client.callTool('boom')
      expect(content).toEqual([{ type: 'text', text }])
      const sent: unknown = JSON.parse(text)
      const isObject = typeof sent === 'object'
      const knows = cell.version >= (isObject ? '2025-06-18' : '2026-07-28')
      expect(structuredContent, text).toEqual(knows ? sent : undefined)
    }
    const client = await setup(doing(() => undefined))
    expect((await client.callTool('boom')).content).toEqual([])
  })

  verifies(['field.P4', 'errors.unserialisable'], 'in raw content are caught as well', async () => {
    const router = createRouter({ name: 'errors', version: '1.0.0' })
    router.prompt('raw', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 10n } }] }) as never)
    router.prompt('cyclic', {}, () => ({ messages: [cyclic] }) as never)
    router.tool('fine', {}, () => 'fine')
    const client = await setup(router)
    for (const name of ['raw', 'cyclic']) {
      await expect(client.getPrompt(name)).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
      setup.expectErrors(1)
    }
    expect(await client.callTool('fine')).toMatchObject({ content: [{ text: 'fine' }] })
  })
})

test('an McpError with a code that is none is a TypeError where it is made', () => {
  for (const code of ['NOPE', 'constructor', '__proto__', -32602, undefined])
    expect(() => new McpError(code as 'INVALID_PARAMS', 'x')).toThrow(
      /^McpError: unknown code '.*'; known are PARSE_ERROR, /,
    )
})

test('an onError that rejects, or a callback that answers later, costs nothing but a word to the operator', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => printed.mockRestore())
  const seen: unknown[] = []
  const router = createRouter({
    name: 'x',
    version: '1',
    instructions: (async () => 'later') as unknown as () => string,
    serverInfo: (() => Promise.reject(new Error('no name'))) as unknown as () => { name: string; version: string },
  })
  router.tool('boom', {}, () => Promise.reject(new Error('boom')))
  const server = createServer(router, {
    onError: async (error) => {
      seen.push((error as Error).message)
      throw new Error('no log')
    },
  })
  const client = await connect(server, { protocol: '2025-11-25' })
  expect(client.initialized).not.toHaveProperty('instructions')
  expect(client.initialized).toMatchObject({ serverInfo: { name: '', version: '' } })
  await expect(client.callTool('boom')).rejects.toMatchObject({ code: -32603 })
  await vi.waitFor(() => expect(printed).toHaveBeenCalledTimes(4))
  expect(seen.toSorted()).toEqual([
    'boom',
    'createRouter, instructions: it must return a string at once',
    'createRouter, serverInfo: it must return { name, version } at once',
    'no name',
  ])
})

test.each([{ protocol: '2025-11-26' }, { protocol: 'latest' }, { protocol: null }, { protocl: '2025-11-25' }])(
  'connect with %j is a TypeError',
  async (options) => {
    await expect(connect(createRouter({ name: 'x', version: '1' }), options as never)).rejects.toThrow(TypeError)
  },
)
