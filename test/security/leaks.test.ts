import { createRouter, McpError, type Router } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import {
  type Answer,
  begin,
  initialize,
  type Json,
  legacy,
  modern,
  resultOf,
  type Sent,
  TARGETS,
  type Target,
  target,
} from '../http/_http.js'

const SECRET = 'password=hunter2 in /srv/app/config.json'

/** Everything in it throws, in one way or another. */
function throwing(): Router {
  const cause = new Error(SECRET)
  const ways: Record<string, () => unknown> = {
    error: () => {
      throw new Error(SECRET)
    },
    type: () => (undefined as unknown as Json)['member'],
    string: () => {
      throw SECRET
    },
    nothing: () => {
      throw undefined
    },
    object: () => {
      throw { message: SECRET, code: -32000, data: SECRET }
    },
    rejected: () => Promise.reject(new Error(SECRET)),
    later: async () => {
      await Promise.resolve()
      throw new Error(SECRET)
    },
    caused: () => {
      throw new McpError('INVALID_PARAMS', 'No', { cause })
    },
    named: () => {
      throw Object.assign(new Error(SECRET), { name: 'McpError', code: 42 })
    },
    cyclic: () => {
      const value: Record<string, unknown> = { SECRET }
      value['self'] = value
      return value
    },
    bigint: () => ({ n: 10n }),
    toJson: () => ({
      toJSON: () => {
        throw new Error(SECRET)
      },
    }),
    getter: () => ({
      get member(): never {
        throw new Error(SECRET)
      },
    }),
  }
  const router = createRouter({ name: 'x', version: '1.0.0' })
  for (const [name, run] of Object.entries(ways)) router.tool(name, {}, run as () => string)
  router.tool(
    'out',
    { outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
    () => ({
      n: SECRET,
    }),
  )
  router.prompt('error', {}, () => {
    throw new Error(SECRET)
  })
  router.prompt('odd', { arguments: { a: { complete: () => [5] as never } } }, () => ({ messages: 5 }) as never)
  router.resource('x://error', { name: 'error' }, () => {
    throw new Error(SECRET)
  })
  router.resource(
    'x://many/:id',
    {
      name: 'many',
      complete: () => {
        throw new Error(SECRET)
      },
    },
    () => ({ SECRET: 10n }) as never,
  )
  router.tool('fine', {}, () => 'ok')
  return router
}

function expectNothingLeaks({ text, header }: Pick<Answer, 'text' | 'header'>): void {
  expect(text).not.toContain('hunter2')
  expect(text).not.toContain('/srv')
  expect(text).not.toMatch(/\bat (async )?[\w.<>]+ \(/)
  expect(text).not.toMatch(/\.(ts|js|mjs):\d+/)
  expect(text).not.toMatch(/node_modules|node:internal|file:\/\//)
  expect(header('x-powered-by')).toBeUndefined()
  expect(header('server')).toBeUndefined()
}

const TOOLS = [
  'error',
  'type',
  'string',
  'nothing',
  'object',
  'rejected',
  'later',
  'caused',
  'named',
  'cyclic',
  'bigint',
  'toJson',
  'getter',
  'out',
]

describe.each(TARGETS)('what errors tell over %s', (kind) => {
  const fails = async (on: Target, sent: Sent): Promise<void> => {
    on.errors.splice(0)
    const answer = await on.send(sent)
    expect(answer.status).toBe(200)
    expect(answer.message).toHaveProperty('id', 1)
    const failed = answer.message?.['error'] !== undefined || resultOf(answer)?.['isError'] === true
    expect(failed).toBe(true)
    expectNothingLeaks(answer)
    // The operator sees what the client does not.
    expect(on.errors).toHaveLength(1)
    expect((await on.send(modern('tools/call', { name: 'fine' }))).status).toBe(200)
  }

  test.each(TOOLS)('the tool %s tells nothing, and the operator everything', async (name) => {
    const on = await target(kind, throwing())
    await fails(on, modern('tools/call', { name }))
    await fails(on, modern('tools/call', { name }, { headers: { accept: 'text/event-stream' } }))
    const { headers } = await begin(on)
    await fails(on, legacy('tools/call', { name }, { headers }))
  })

  test.each<[string, Json]>([
    ['prompts/get', { name: 'error' }],
    ['prompts/get', { name: 'odd' }],
    ['resources/read', { uri: 'x://error' }],
    ['resources/read', { uri: 'x://many/1' }],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'x://many/{id}' }, argument: { name: 'id', value: '' } },
    ],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'odd' }, argument: { name: 'a', value: '' } }],
  ])('%s %j tells nothing', async (method, params) => {
    const on = await target(kind, throwing())
    await fails(on, modern(method, params))
    const { headers } = await begin(on)
    await fails(on, legacy(method, params, { headers }))
  })

  test('middleware that throws tells nothing', async () => {
    const router = throwing()
    router.use((session, next) => {
      if (session.call.name !== 'fine') throw new Error(SECRET)
      return next()
    })
    const on = await target(kind, router)
    await fails(on, modern('tools/list'))
    await fails(on, modern('tools/call', { name: 'error' }))
  })

  test('an onError that throws costs no answer', async () => {
    let told = 0
    const onError = (): never => {
      told++
      throw new Error(SECRET)
    }
    const printed: unknown[] = []
    const original = console.error
    console.error = (...args) => void printed.push(args)
    try {
      const on = await target(kind, throwing(), { server: { onError } })
      const answer = await on.send(modern('tools/call', { name: 'error' }))
      expect(answer.message).toHaveProperty('id', 1)
      expectNothingLeaks(answer)
      expect([told, printed.length]).toEqual([1, 1])
    } finally {
      console.error = original
    }
  })

  test('refusals of every kind name nothing of the inside', async () => {
    const on = await target(kind, throwing(), { http: { maxBodyBytes: 5_000 } })
    const { headers } = await begin(on)
    for (const sent of [
      { ...modern('tools/list'), body: '{"a": }' },
      { ...modern('tools/list'), body: Buffer.from([0xff]) },
      { ...modern('tools/list'), body: 'x'.repeat(6_000) },
      modern('tools/list', { cursor: 'not-a-cursor' }),
      modern('resources/read', { uri: 'x://many/%E0%A4%A' }, { headers: { 'mcp-name': 'x://many/%E0%A4%A' } }),
      modern('resources/read', { uri: '::::' }),
      modern('tools/call', { name: 'fine', arguments: 5 }),
      modern('tools/call', { name: 'fine' }, { headers: { 'mcp-name': '=?base64?!!?=' } }),
      modern('completion/complete', { ref: 5, argument: null }),
      legacy('logging/setLevel', { level: {} }, { headers }),
      initialize('2025-11-25', { 'mcp-session-id': 'x' }),
      { method: 'PUT' },
      { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': 'x' } },
    ]) {
      expectNothingLeaks(await on.send(sent))
    }
    expect(on.errors).toEqual([])
  })
})
