import { createRouter, createServer, type Json, McpError } from 'phantom-mcp'
import type { Task } from 'phantom-mcp/tasks'
import { RpcError, type TestClient } from 'phantom-mcp/testing'
import { expect, test } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'
import { CREATED, createApp, DECLARED, inStatus, named, STATELESS } from './_tasks.js'

const OPTIONS = { capabilities: DECLARED, headers: named }
const MISSING = { code: -32021, data: { requiredCapabilities: DECLARED } }

async function refusalOf(answer: Promise<unknown>): Promise<{ code: number; data: unknown }> {
  const error: unknown = await answer.then(
    (value) => new Error(`an error was expected, not ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof RpcError)) throw error
  return { code: error.code, data: error.data }
}

/** Members of a result without what every result has. */
function membersOf({ _meta, ...members }: Json): Json {
  return members
}

describeMatrix('tasks', {}, (setup, { version, http, transport }) => {
  const here = version === STATELESS

  verifies('tasks.created', 'a call is answered with the task, flat, where the request declares it', async () => {
    const { router } = createApp()
    const client = await setup(router, OPTIONS)
    const result = await client.callTool('report')
    if (!here) {
      expect(result.content).toEqual([{ type: 'text', text: 'done at once' }])
      return
    }
    expect(membersOf(result)).toEqual({
      resultType: 'task',
      taskId: 'job',
      status: 'working',
      createdAt: CREATED,
      lastUpdatedAt: CREATED,
      ttlMs: 60_000,
      pollIntervalMs: 500,
    })
    expect(membersOf(await client.callTool('always'))).toMatchObject({ resultType: 'task', taskId: 'job' })
  })

  verifies('tasks.undeclared', 'nobody else gets one, and a tool that needs one refuses the call', async () => {
    const { router, kept } = createApp()
    const client = await setup(router, { headers: named })
    const expected = { ...MISSING, code: here ? -32021 : -32602 }
    expect((await client.callTool('report')).content).toEqual([{ type: 'text', text: 'done at once' }])
    expect(await refusalOf(client.callTool('must'))).toEqual(expected)
    expect(kept.size).toBe(0)
    expect(await refusalOf(client.callTool('always'))).toEqual(expected)
    if (http && here) expect(setup.wire.statuses.at(-1)).toBe(400)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = client.request(method, { taskId: 'unknown', inputResponses: {} })
      expect(await refusalOf(answer)).toMatchObject(here ? MISSING : { code: -32601 })
    }
    if (!here) return
    const listen = client.request('subscriptions/listen', { notifications: { taskIds: ['job'] } })
    expect(await refusalOf(listen)).toEqual(MISSING)
  })

  verifies('tasks.declared', 'the extension is declared, and the capability of 2025-11-25 is not', async () => {
    const client = await setup(createApp().router, OPTIONS)
    const { capabilities } = client.initialized ?? (await client.request('server/discover'))
    expect((capabilities as Json)['extensions']).toEqual(here ? DECLARED.extensions : undefined)
    expect(capabilities).not.toHaveProperty('tasks')
    for (const method of ['tasks/list', 'tasks/result'])
      expect(await refusalOf(client.request(method, { taskId: 'job' }))).toMatchObject({ code: -32601 })
  })

  if (!here) return

  verifies('tasks.get', 'each status has what belongs to it', async () => {
    const { router, kept } = createApp()
    const client = await setup(router, OPTIONS)
    const get = async (status: Task['status']): Promise<Json> => {
      kept.set('job', inStatus(status))
      return membersOf(await client.request('tasks/get', { taskId: 'job' }))
    }
    const shared = { resultType: 'complete', taskId: 'job', createdAt: CREATED, lastUpdatedAt: CREATED, ttlMs: null }
    expect(await get('working')).toEqual({ ...shared, status: 'working' })
    expect(await get('cancelled')).toEqual({ ...shared, status: 'cancelled' })
    expect(await get('completed')).toEqual({
      ...shared,
      status: 'completed',
      result: { content: [{ type: 'text', text: 'the report' }] },
    })
    expect(await get('failed')).toEqual({ ...shared, status: 'failed', error: { code: -32603, message: 'Broken' } })
    expect(await get('input_required')).toMatchObject({
      ...shared,
      status: 'input_required',
      inputRequests: {
        name: { method: 'elicitation/create', params: { message: 'Your name?' } },
        roots: { method: 'roots/list' },
      },
    })
  })

  verifies('tasks.unknown', 'one that is unknown, hidden or expired is -32602', async () => {
    const { router, kept, hidden } = createApp({
      get: (id) => {
        if (id === 'old') throw new McpError('TASK_EXPIRED', 'This task has expired')
        return hidden.has(id) ? null : kept.get(id)
      },
    })
    kept.set('secret', inStatus('working', 'secret'))
    hidden.add('secret')
    const client = await setup(router, OPTIONS)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      for (const taskId of ['none', 'secret', 'old'])
        expect(await refusalOf(client.request(method, { taskId, inputResponses: {} }))).toMatchObject({ code: -32602 })
      expect(await refusalOf(client.request(method))).toMatchObject({ code: -32602 })
    }
  })

  verifies('tasks.update', 'only answers to what is open reach the application, and all are acknowledged', async () => {
    const { router, kept, updates } = createApp()
    const client = await setup(router, OPTIONS)
    const update = async (inputResponses: unknown): Promise<Json> =>
      membersOf(await client.request('tasks/update', { taskId: 'job', inputResponses }))
    kept.set('job', inStatus('input_required'))
    const roots = { roots: [] }
    const acknowledged = { resultType: 'complete' }
    expect(await update({ roots, other: {}, toString: {} })).toEqual(acknowledged)
    expect(await update({ other: {} })).toEqual(acknowledged)
    for (const wrong of [undefined, null, [], 'x'])
      expect(await refusalOf(update(wrong)), String(wrong)).toMatchObject({ code: -32602 })
    kept.set('job', inStatus('completed'))
    expect(await update({ roots })).toEqual(acknowledged)
    expect(updates).toEqual([['job', { roots }]])
  })

  verifies(
    'tasks.cancel',
    'a cancellation is acknowledged, and reaches the application while there is work',
    async () => {
      const { router, kept, cancelled } = createApp()
      const client = await setup(router, OPTIONS)
      for (const status of ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const) {
        kept.set(status, inStatus(status, status))
        const answer = await client.request('tasks/cancel', { taskId: status })
        expect(membersOf(answer)).toEqual({ resultType: 'complete' })
      }
      expect(cancelled).toEqual(['working', 'input_required'])
    },
  )

  verifies('tasks.header', 'Mcp-Name repeats the id', async () => {
    const { router, kept } = createApp()
    kept.set('job', inStatus('working'))
    const client = await setup(router, { capabilities: DECLARED, headers: () => ({ 'mcp-name': 'other' }) })
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect(await refusalOf(client.request(method, { taskId: 'job', inputResponses: {} }))).toMatchObject({
        code: -32020,
      })
      expect(setup.wire.statuses.at(-1)).toBe(400)
    }
  })

  test('what an application must not answer is masked, and reported', async () => {
    const { router } = createApp({ get: () => ({ ...inStatus('working') }) as never })
    const client = await setup(router, OPTIONS)
    expect(await refusalOf(client.request('tasks/get', { taskId: 'job' }))).toMatchObject({ code: -32603 })
    expect(String(setup.expectErrors(1)[0])).toContain('tasks, get: it must return the task of the id')
    expect(await refusalOf(client.callTool('never'))).toMatchObject({ code: -32603 })
    expect(String(setup.expectErrors(1)[0])).toContain("tool 'never' answered with a task, but its option says")
    expect(await refusalOf(client.callTool('copied'))).toMatchObject({ code: -32603 })
    setup.expectErrors(1)
  })

  const listen = async (client: TestClient, taskIds: readonly string[]): Promise<unknown> => {
    const call = { method: 'subscriptions/listen', params: { notifications: { taskIds } } }
    client.requestAs('l1', call).catch(() => undefined)
    const ack = 'notifications/subscriptions/acknowledged'
    await expect.poll(() => client.notified(ack)).toHaveLength(1)
    return client.notified(ack)[0]?.['notifications']
  }
  const statuses = (client: TestClient): unknown[] =>
    client.notified('notifications/tasks').map(({ taskId, status }) => [taskId, status])

  verifies('tasks.listen', 'whoever follows a task is told what it is now, until it is over', async () => {
    const { router, kept, hidden, jobs } = createApp()
    for (const id of ['a', 'b']) kept.set(id, inStatus('working', id))
    const client = await setup(router, OPTIONS)
    expect(await listen(client, ['a', 'b', 'none'])).toEqual({ taskIds: ['a', 'b'] })
    const server = setup.server
    hidden.add('b')
    kept.set('a', inStatus('input_required', 'a'))
    await jobs.notifyUpdated(server, 'b')
    await jobs.notifyUpdated(server, kept.get('a') as Task)
    await expect.poll(() => statuses(client)).toEqual([['a', 'input_required']])
    expect(client.notified('notifications/tasks')[0]).toMatchObject({
      inputRequests: { roots: { method: 'roots/list' } },
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'l1' },
    })
    hidden.delete('b')
    kept.set('a', inStatus('completed', 'a'))
    await jobs.notifyUpdated(server, 'a')
    await expect.poll(() => statuses(client)).toHaveLength(2)
    await jobs.notifyUpdated(server, 'a')
    await jobs.notifyUpdated(server, 'b')
    await expect
      .poll(() => statuses(client))
      .toEqual([
        ['a', 'input_required'],
        ['a', 'completed'],
        ['b', 'working'],
      ])
  })

  if (transport !== 'memory') return

  test('the application can say which tasks may be followed', async () => {
    const asked: unknown[] = []
    const { router, kept } = createApp({
      authorizeSubscriptions: (ids) => {
        asked.push(ids)
        return ['b', 'foreign']
      },
    })
    for (const id of ['a', 'b']) kept.set(id, inStatus('working', id))
    const client = await setup(router, OPTIONS)
    expect(await listen(client, ['a', 'b'])).toEqual({ taskIds: ['b'] })
    expect(asked).toEqual([['a', 'b']])
  })

  test('a server without the extension cannot tell of tasks', async () => {
    const { jobs } = createApp()
    const server = createServer(createRouter({ name: 'other', version: '1.0.0' }))
    await expect(jobs.notifyUpdated(server, 'a')).rejects.toThrow(
      "no extension of the router has the listen filter 'taskIds'",
    )
  })
})
