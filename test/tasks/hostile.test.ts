import { createRouter, createServer, type Json, McpError, memoryBackplane, type Server, Tool } from 'phantom-mcp'
import type { RunningTask } from 'phantom-mcp/tasks'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { afterEach, describe, expect, test } from 'vitest'
import {
  begin,
  CAPABILITIES,
  ended,
  FORM,
  follow,
  get,
  membersOf,
  type StoreCall,
  type StoredApp,
  storedApp,
  watched,
} from './_stored.js'
import { inStatus } from './_tasks.js'

const AWAY = new Error('away')
const KEY = 'io.modelcontextprotocol/tasks:task:'
const name = (text: string): Json => ({ action: 'accept', content: { name: text } })

const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
})

interface Node extends ReturnType<typeof watched> {
  readonly server: Server
  readonly client: TestClient
  readonly errors: unknown[]
}

async function node(app: StoredApp, backplane = memoryBackplane()): Promise<Node> {
  const seen = watched(backplane)
  const errors: unknown[] = []
  const server = createServer(app.router, { backplane: seen.backplane, onError: (error) => errors.push(error) })
  const client = await connect(server, { capabilities: CAPABILITIES })
  undo.push(async () => {
    seen.refuse = () => undefined
    await server.close({ drainMs: 20 })
  })
  return Object.assign(seen, { server, client, errors })
}

const answer = (client: TestClient, taskId: string, inputResponses: unknown): Promise<Json> =>
  client.request('tasks/update', { taskId, inputResponses })
const openKeys = async (client: TestClient, id: string): Promise<string[]> =>
  Object.keys(((await get(client, id))['inputRequests'] as Json) ?? {})
const ofTask = (calls: readonly StoreCall[], method: StoreCall[0]): readonly StoreCall[] =>
  calls.filter(([called, key]) => called === method && String(key).startsWith(KEY))
const nameOf = (told: { readonly action: string; readonly content?: { readonly name: string } }): string =>
  told.content?.name ?? told.action

describe('ids', () => {
  test('that were changed are unknown, and such as are none are not looked for', async () => {
    const app = storedApp()
    app.works.set('now', () => 'done')
    const { client, calls } = await node(app)
    const id = await begin(client, 'now')
    await ended(client, id)
    const changed = [`${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`, '0'.repeat(64)]
    const none = [
      '',
      ' ',
      '__proto__',
      'constructor',
      `${id} `,
      `${id}\n`,
      id.slice(1),
      id.toUpperCase(),
      'a'.repeat(1e6),
    ]
    for (const taskId of [...changed, ...none.filter((one) => one !== id)]) {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        await expect(client.request(method, { taskId, inputResponses: {} })).rejects.toMatchObject({ code: -32602 })
    }
    const looked = new Set(ofTask(calls, 'get').map(([, key]) => String(key).slice(KEY.length)))
    expect([...looked].sort()).toEqual([id, ...changed].sort())
  })
})

describe('answers', () => {
  test('that touch prototypes, name what is not open or are none change nothing else', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => nameOf(await task.ask(FORM)))
    const { client } = await node(app)
    const id = await begin(client, 'ask')
    await expect.poll(() => openKeys(client, id)).toEqual(['q1'])
    const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}')
    expect(membersOf(await answer(client, id, hostile))).toEqual({ resultType: 'complete' })
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`q${at + 2}`, name('Eve')]))
    await answer(client, id, many)
    expect(await openKeys(client, id)).toEqual(['q1'])
    const wrong = [null, [], 'x', { action: 'accept' }, { action: '__proto__' }, { content: { name: 'Eve' } }]
    for (const [at, response] of wrong.entries()) {
      await answer(client, id, { [`q${at + 1}`]: response })
      await expect.poll(() => openKeys(client, id)).toEqual([`q${at + 2}`])
    }
    const inside = JSON.parse('{"action":"accept","content":{"name":"Ada","__proto__":{"polluted":1}}}')
    await answer(client, id, { q7: inside })
    await expect.poll(() => openKeys(client, id)).not.toEqual(['q7'])
    const [next] = await openKeys(client, id)
    if (next !== undefined) await answer(client, id, { [next]: name('Ada') })
    expect(await ended(client, id)).toMatchObject({ result: { content: [{ text: 'Ada' }] } })
    expect(({} as Json)['polluted']).toBeUndefined()
  })

  test('to one question at once: one is taken', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => nameOf(await task.ask(FORM)))
    const backplane = memoryBackplane()
    const nodes = [await node(app, backplane), await node(app, backplane)] as const
    const id = await begin(nodes[0].client, 'ask')
    await expect.poll(() => openKeys(nodes[1].client, id)).toEqual(['q1'])
    const answers = Array.from({ length: 40 }, (_, at) =>
      answer(nodes[at % 2 === 0 ? 0 : 1].client, id, { q1: name(`name ${at}`) }),
    )
    for (const acknowledged of await Promise.all(answers))
      expect(membersOf(acknowledged)).toEqual({ resultType: 'complete' })
    const task = await ended(nodes[0].client, id)
    expect((task['result'] as { content: Json[] }).content[0]?.['text']).toMatch(/^name \d+$/)
  })

  test('to different questions at once, on two nodes: each counts', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => {
      const told = await Promise.all(Array.from({ length: 60 }, () => task.ask(FORM)))
      return told.map(nameOf).join()
    })
    const backplane = memoryBackplane()
    const nodes = [await node(app, backplane), await node(app, backplane)] as const
    const id = await begin(nodes[0].client, 'ask')
    await expect.poll(async () => (await openKeys(nodes[1].client, id)).length).toBe(60)
    const keys = await openKeys(nodes[0].client, id)
    await Promise.all(
      keys.map((key, at) => answer(nodes[at % 2 === 0 ? 0 : 1].client, id, { [key]: name(`to ${key}`) })),
    )
    const text = Array.from({ length: 60 }, (_, at) => `to q${at + 1}`).join()
    expect(await ended(nodes[1].client, id)).toMatchObject({ status: 'completed', result: { content: [{ text }] } })
  })

  test('are kept until the work has them, and no longer', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => nameOf(await task.ask(FORM)))
    const { client, backplane } = await node(app)
    const id = await begin(client, 'ask')
    const large = 'x'.repeat(100_000)
    for (let round = 1; round <= 20; round++) {
      await expect.poll(() => openKeys(client, id)).toEqual([`q${round}`])
      await answer(client, id, { [`q${round}`]: { action: 'wrong', large } })
    }
    await expect.poll(() => openKeys(client, id)).toEqual(['q21'])
    expect((await backplane.store.get(KEY + id))?.value.length).toBeLessThan(210_000)
    await answer(client, id, { q21: name('Ada') })
    expect(await ended(client, id)).toMatchObject({ status: 'completed' })
    expect((await backplane.store.get(KEY + id))?.value).not.toContain('x'.repeat(100))
  })

  test('that are larger than what is kept are refused, and the task goes on', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => nameOf(await task.ask(FORM)))
    const { client } = await node(app)
    const id = await begin(client, 'ask')
    await expect.poll(() => openKeys(client, id)).toEqual(['q1'])
    await expect(answer(client, id, { q1: name('x'.repeat(5_000_000)) })).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'answers_too_large' },
    })
    expect(await openKeys(client, id)).toEqual(['q1'])
    await answer(client, id, { q1: name('Ada') })
    expect(await ended(client, id)).toMatchObject({ result: { content: [{ text: 'Ada' }] } })
  })
})

describe('too much', () => {
  test('a thousand questions at once are written and answered together', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => {
      const told = await Promise.all(Array.from({ length: 1_000 }, () => task.ask(FORM)))
      return String(new Set(told.map(nameOf)).size)
    })
    const { client, calls } = await node(app)
    const id = await begin(client, 'ask')
    await expect.poll(async () => (await openKeys(client, id)).length).toBe(1_000)
    expect(ofTask(calls, 'set').length).toBeLessThan(10)
    const keys = await openKeys(client, id)
    const before = ofTask(calls, 'get').length
    await answer(client, id, Object.fromEntries(keys.map((key) => [key, name(`to ${key}`)])))
    expect(await ended(client, id)).toMatchObject({ status: 'completed', result: { content: [{ text: '1000' }] } })
    expect(ofTask(calls, 'get').length - before).toBeLessThan(40)
  })

  test('one caller does not take the room of all', async () => {
    const app = storedApp({ maxRunning: 10, maxPerPrincipal: 3 })
    app.works.set('hang', () => new Promise(() => undefined))
    let user: string | null = 'ada'
    const users = createRouter({
      name: 'users',
      version: '1.0.0',
      extensions: [app.jobs],
      connect: (session) => session,
      principal: () => user,
    })
    users.mount('in', app.router)
    const server = createServer(users)
    undo.push(() => server.close({ drainMs: 20 }))
    const begunBy = async (who: string | null, count: number): Promise<number> => {
      user = who
      const client = await connect(server, { capabilities: CAPABILITIES })
      const calls = Array.from({ length: count }, () => client.callTool('in_job', { work: 'hang' }))
      const settled = await Promise.allSettled(calls)
      for (const one of settled)
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ data: { reason: 'too_many_tasks' } })
      return settled.filter(({ status }) => status === 'fulfilled').length
    }
    expect(await begunBy('eve', 20)).toBe(3)
    expect(await begunBy('ada', 2)).toBe(2)
    expect(await begunBy(null, 20)).toBe(5)
  })

  test('progress is written now and then, and its last word counts', async () => {
    const app = storedApp()
    app.works.set('flood', async (task) => {
      for (let step = 1; step <= 5_000; step++) void task.progress(step, 10_000)
      for (let step = 5_001; step <= 10_000; step++) await task.progress(step, 10_000)
      return 'done'
    })
    const { client, calls } = await node(app)
    const id = await begin(client, 'flood')
    expect(await ended(client, id)).toMatchObject({ status: 'completed', statusMessage: '10000 of 10000' })
    expect(ofTask(calls, 'set').length).toBeLessThan(20)
  })
})

describe('work', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const works: readonly (readonly [what: string, work: (task: RunningTask) => unknown, ends: Json])[] = [
    ['throws nothing', () => Promise.reject(undefined), { status: 'failed', error: { code: -32603 } }],
    ['throws null', () => Promise.reject(null), { status: 'failed', error: { code: -32603 } }],
    [
      'throws what must not be looked at',
      () =>
        Promise.reject(
          new Proxy(new Error('x'), {
            get: () => {
              throw new Error('looked at')
            },
          }),
        ),
      { status: 'failed', error: { code: -32603, message: 'Internal error' } },
    ],
    [
      'throws details that JSON cannot hold',
      () => Promise.reject(new McpError('INVALID_PARAMS', 'No', { data: { big: 1n } })),
      { status: 'failed', statusMessage: 'No', error: { code: -32602, message: 'No' } },
    ],
    ['returns a cycle', () => Tool.content([], { structured: cycle }), { status: 'failed', error: { code: -32603 } }],
    ['returns a bigint', () => ({ big: 1n }), { status: 'failed', error: { code: -32603 } }],
    ['returns a symbol', () => Symbol('x'), { status: 'failed', error: { code: -32603 } }],
    ['returns a function', () => () => 1, { status: 'failed', error: { code: -32603 } }],
    [
      'says how far it is with what is no text',
      async (task) => {
        for (let step = 0; step < 2; step++) await task.progress(1, 2, { step } as never)
        throw new Error('over')
      },
      { status: 'failed', statusMessage: 'Internal error' },
    ],
    [
      'returns more than a store takes',
      () => 'x'.repeat(9_000_000),
      { status: 'failed', error: { code: -32603, data: { reason: 'result_too_large' } } },
    ],
  ]
  test.each(works)('that %s ends its task, and is reported', async (_what, work, ends) => {
    const app = storedApp()
    app.works.set('work', work)
    const { client, errors } = await node(app)
    expect(await ended(client, await begin(client, 'work'))).toMatchObject(ends)
    expect(errors).toHaveLength(1)
  })

  test('that returns another task ends its own one failed', async () => {
    const app = storedApp()
    app.router.tool('nested', { task: 'required' }, (_params, session) =>
      app.jobs.start(session, () => app.jobs.start(session, () => 'inner')),
    )
    const { client, errors } = await node(app)
    const { taskId } = (await client.callTool('nested')) as unknown as Json
    expect(await ended(client, String(taskId))).toMatchObject({ status: 'failed', error: { code: -32603 } })
    expect(errors).toHaveLength(1)
  })

  test('that was not begun by the server is no answer', async () => {
    const app = storedApp()
    app.router.tool('own', { task: 'required' }, () => inStatus('working', 'a'.repeat(64)))
    const { client, errors } = await node(app)
    await expect(client.callTool('own')).rejects.toMatchObject({ code: -32603 })
    expect(String(errors[0])).toContain("tool 'own' must answer with jobs.start")
  })

  test('that hangs ends with its cancellation, and makes room', async () => {
    const app = storedApp({ maxRunning: 1 })
    app.works.set('hang', () => new Promise(() => undefined))
    app.works.set('now', () => 'done')
    const { client } = await node(app)
    const id = await begin(client, 'hang')
    await client.request('tasks/cancel', { taskId: id })
    await expect.poll(() => client.callTool('job', { work: 'now' }).catch(() => undefined)).toBeDefined()
    expect(await get(client, id)).toMatchObject({ status: 'cancelled' })
  })

  test('that does not wait for what it has asked leaves nothing behind', async () => {
    const app = storedApp()
    const unhandled: unknown[] = []
    const listener = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', listener)
    undo.push(async () => void process.off('unhandledRejection', listener))
    const left: Promise<unknown>[] = []
    app.works.set('leave', (task) => {
      left.push(task.ask(FORM))
      return 'done'
    })
    app.works.set('hang', async (task) => {
      void task.ask(FORM)
      await new Promise(() => undefined)
    })
    const { client } = await node(app)
    expect(await ended(client, await begin(client, 'leave'))).toMatchObject({ status: 'completed' })
    await expect(left[0]).rejects.toThrow('The task is over')
    const id = await begin(client, 'hang')
    await expect.poll(() => openKeys(client, id)).toEqual(['q1'])
    await client.request('tasks/cancel', { taskId: id })
    await expect.poll(() => app.aborted).toEqual([id])
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(unhandled).toEqual([])
  })

  test('that ends while it is cancelled ends its task in one way', async () => {
    const app = storedApp()
    app.works.set('now', () => new Promise((resolve) => setTimeout(resolve, Math.random() * 10, 'done')))
    const backplane = memoryBackplane()
    const [one, two] = [await node(app, backplane), await node(app, backplane)]
    const ids = await Promise.all(Array.from({ length: 60 }, () => begin(one.client, 'now')))
    await follow(two.client, ids)
    await Promise.all(ids.map((taskId) => two.client.request('tasks/cancel', { taskId })))
    for (const id of ids) {
      const first = await ended(two.client, id)
      expect(first['status']).toMatch(/^(completed|cancelled)$/)
      expect('result' in first).toBe(first['status'] === 'completed')
      expect(await ended(one.client, id)).toEqual(first)
    }
    const told = two.client.notified('notifications/tasks').map(({ taskId }) => taskId)
    expect(new Set(told).size).toBe(told.length)
  })
})

describe('a store that fails', () => {
  test('when a task begins: the call is refused, and its room is free again', async () => {
    const app = storedApp({ maxRunning: 1 })
    app.works.set('now', () => 'done')
    const one = await node(app)
    for (const part of [':node:', ':roster', ':tasks-of:', ':task:']) {
      one.refuse = (_method, key) => (String(key).includes(part) ? AWAY : undefined)
      await expect(one.client.callTool('job', { work: 'now' }), part).rejects.toMatchObject({
        code: -32603,
        data: { reason: 'backplane', retryable: true },
      })
    }
    one.refuse = () => undefined
    expect(await ended(one.client, await begin(one.client, 'now'))).toMatchObject({ status: 'completed' })
  })

  test('while it is told of: the work goes on', async () => {
    const app = storedApp()
    const one = await node(app)
    app.works.set('work', async (task) => {
      one.refuse = (method) => (method === 'set' ? AWAY : undefined)
      await task.progress(1, 2)
      one.refuse = () => undefined
      return 'done'
    })
    expect(await ended(one.client, await begin(one.client, 'work'))).toMatchObject({ status: 'completed' })
    expect(one.errors).toHaveLength(1)
  })

  test('when it asks: the question has failed, and with it what does not expect that', async () => {
    const app = storedApp()
    const one = await node(app)
    app.works.set('ask', async (task) => {
      one.refuse = (method) => (method === 'set' ? AWAY : undefined)
      try {
        await task.ask(FORM)
      } finally {
        one.refuse = () => undefined
      }
    })
    expect(await ended(one.client, await begin(one.client, 'ask'))).toMatchObject({
      status: 'failed',
      error: { code: -32603, data: { reason: 'backplane', retryable: true } },
    })
  })

  test('when it is done: the end is written once the store is back', async () => {
    const app = storedApp()
    const one = await node(app)
    app.works.set('work', () => {
      one.refuse = (method, key) => (method === 'set' && String(key).startsWith(KEY) ? AWAY : undefined)
      return 'done'
    })
    const id = await begin(one.client, 'work')
    await expect.poll(() => one.errors.length).toBe(1)
    expect(await get(one.client, id)).toMatchObject({ status: 'working' })
    one.refuse = () => undefined
    expect(await ended(one.client, id)).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }] } })
  })

  test('a doorbell that fails fails no answer and no cancellation', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => nameOf(await task.ask(FORM)))
    const { store, pubSub } = memoryBackplane()
    let refused = false
    const bell = {
      publish: (topic: string, message: string) => (refused ? Promise.reject(AWAY) : pubSub.publish(topic, message)),
      subscribe: (topic: string, listener: (message: string) => void) => pubSub.subscribe(topic, listener),
    }
    const { client } = await node(app, { store, pubSub: bell })
    const ids = [await begin(client, 'ask'), await begin(client, 'ask')] as const
    for (const id of ids) await expect.poll(() => openKeys(client, id)).toEqual(['q1'])
    refused = true
    expect(membersOf(await answer(client, ids[0], { q1: name('Ada') }))).toEqual({ resultType: 'complete' })
    await client.request('tasks/cancel', { taskId: ids[1] })
    refused = false
    expect(await get(client, ids[0])).toMatchObject({ status: 'working' })
    expect(await get(client, ids[1])).toMatchObject({ status: 'cancelled' })
  })
})
