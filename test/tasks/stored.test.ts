import { createRouter, createServer, type Json, McpError, memoryBackplane, Tool } from 'phantom-mcp'
import { tasks } from 'phantom-mcp/tasks'
import { connect } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import { begin, CAPABILITIES, ended, FORM, get, membersOf, OPTIONS, storedApp } from './_stored.js'
import { named, STATELESS } from './_tasks.js'

describeMatrix('tasks in the store', { versions: [STATELESS] }, (setup) => {
  test('run behind the answer, and end with what the tool would have returned', async () => {
    const { router, works } = storedApp()
    works.set('text', () => 'done')
    works.set('model', () => Tool.error('not so'))
    works.set('error', () => {
      throw new McpError('INVALID_PARAMS', 'No', { data: { why: 1 } })
    })
    works.set('masked', () => {
      throw new Error('secret')
    })
    works.set('cycle', () => {
      const cycle: Record<string, unknown> = {}
      cycle['self'] = cycle
      return Tool.content([], { structured: cycle })
    })
    const client = await setup(router, OPTIONS)
    const end = async (work: string): Promise<Json> => await ended(client, await begin(client, work))
    expect(await end('text')).toMatchObject({
      status: 'completed',
      resultType: 'complete',
      result: { content: [{ type: 'text', text: 'done' }] },
    })
    expect(await end('model')).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(await end('error')).toMatchObject({
      status: 'failed',
      statusMessage: 'No',
      error: { code: -32602, message: 'No', data: { why: 1 } },
    })
    expect(await end('masked')).toMatchObject({ status: 'failed', error: { code: -32603, message: 'Internal error' } })
    expect(await end('cycle')).toMatchObject({ status: 'failed', error: { code: -32603 } })
    setup.expectErrors(2)
    const typed = await client.callTool('typed')
    expect(await ended(client, String(typed['taskId']))).toMatchObject({
      status: 'completed',
      result: { isError: true },
    })
    setup.expectErrors(1)
  })

  test('tell how far they are, and are told of', async () => {
    const { router, works } = storedApp()
    let release = (): void => undefined
    works.set('slow', async (task) => {
      await task.progress(1, 2)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      await task.progress(2, 2, 'nearly')
      return 'done'
    })
    const client = await setup(router, OPTIONS)
    const id = await begin(client, 'slow')
    client
      .requestAs('l', { method: 'subscriptions/listen', params: { notifications: { taskIds: [id] } } })
      .catch(() => undefined)
    await expect.poll(async () => (await get(client, id))['statusMessage']).toBe('1 of 2')
    await expect.poll(() => client.notified('notifications/subscriptions/acknowledged')).toHaveLength(1)
    release()
    await expect
      .poll(() => client.notified('notifications/tasks').at(-1))
      .toMatchObject({ taskId: id, status: 'completed' })
    expect(client.notified('notifications/tasks').at(-1)).toMatchObject({ result: { content: [{ text: 'done' }] } })
  })

  test('are cancelled: the work is told, and what it returns later is dropped', async () => {
    const { router, works, aborted } = storedApp()
    works.set('slow', () => new Promise((resolve) => setTimeout(resolve, 30, 'late')))
    const client = await setup(router, OPTIONS)
    const id = await begin(client, 'slow')
    expect(membersOf(await client.request('tasks/cancel', { taskId: id }))).toEqual({ resultType: 'complete' })
    expect(await get(client, id)).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => aborted).toEqual([id])
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(await get(client, id)).toMatchObject({ status: 'cancelled' })
    await client.request('tasks/cancel', { taskId: id })
  })

  test('ask, one after the other or at once, until the answer fits', async () => {
    const { router, works } = storedApp()
    works.set('ask', async (task) => {
      const [one, two] = await Promise.all([task.ask(FORM), task.ask(FORM)])
      const third = await task.ask(FORM)
      return [one, two, third]
        .map((answer) => (answer.action === 'accept' ? answer.content.name : answer.action))
        .join()
    })
    const client = await setup(router, OPTIONS)
    const id = await begin(client, 'ask')
    const open = async (): Promise<string[]> => Object.keys(((await get(client, id))['inputRequests'] as Json) ?? {})
    const answer = (inputResponses: Json): Promise<Json> =>
      client.request('tasks/update', { taskId: id, inputResponses })
    const name = (text: string): Json => ({ action: 'accept', content: { name: text } })
    await expect.poll(open).toEqual(['q1', 'q2'])
    expect(await get(client, id)).toMatchObject({
      status: 'input_required',
      inputRequests: { q1: { method: 'elicitation/create', params: { message: 'Your name?' } } },
    })
    await answer({ q2: name('Bo'), other: {} })
    expect(await open()).toEqual(['q1'])
    await answer({ q1: name('A') })
    await expect.poll(open).toEqual(['q3'])
    await answer({ q1: name('again'), q3: name('Ada') })
    await expect.poll(open).toEqual(['q4'])
    await answer({ q4: { action: 'decline' } })
    expect(await ended(client, id)).toMatchObject({ result: { content: [{ text: 'Ada,Bo,decline' }] } })
  })

  test('run inside of the call for clients without tasks, with progress', async () => {
    const { router, works } = storedApp()
    works.set('slow', async (task) => {
      await task.progress(1, 2, 'half')
      return 'done'
    })
    const client = await setup(router, { headers: named })
    const result = await client.callTool('job', { work: 'slow' }, { progressToken: 'p' })
    expect(result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: 'done' }] })
    expect(client.notified('notifications/progress')).toMatchObject([{ progress: 1, total: 2, message: 'half' }])
    await expect(client.callTool('must', { work: 'slow' })).rejects.toMatchObject({ code: -32021 })
  })

  test('are not there for others, nor when they never were', async () => {
    const { router, works } = storedApp()
    works.set('text', () => 'done')
    const users = createRouter({
      name: 'users',
      version: '1.0.0',
      extensions: router.extensions.all as never,
      connect: (session) => session,
      principal: () => `user ${++count}`,
    })
    let count = 0
    users.mount('in', router)
    const server = createServer(users)
    const [one, two] = [
      await connect(server, { capabilities: CAPABILITIES }),
      await connect(server, { capabilities: CAPABILITIES }),
    ]
    const { taskId } = await one.callTool('in_job', { work: 'text' })
    expect(await get(one, taskId)).toMatchObject({ taskId })
    await expect(get(two, taskId)).rejects.toMatchObject({ code: -32602 })
    await expect(two.request('tasks/cancel', { taskId })).rejects.toMatchObject({ code: -32602 })
    await expect(get(one, 'f'.repeat(64))).rejects.toMatchObject({ code: -32602 })
    await server.close()
  })

  test('are refused when the node has as many as it may', async () => {
    const { router, works } = storedApp({ maxRunning: 1 })
    works.set('slow', (task) => new Promise((_resolve, reject) => task.signal.addEventListener('abort', reject)))
    const client = await setup(router, OPTIONS)
    const id = await begin(client, 'slow')
    await expect(client.callTool('job', { work: 'slow' })).rejects.toMatchObject({
      code: -32603,
      data: { reason: 'too_many_tasks', retryable: true },
    })
    await client.request('tasks/cancel', { taskId: id })
    let next: Json | undefined
    await expect
      .poll(async () => (next = await client.callTool('job', { work: 'slow' }).catch(() => undefined)))
      .toBeDefined()
    expect(next).toMatchObject({ status: 'working' })
    await client.request('tasks/cancel', { taskId: next?.['taskId'] })
  })
})

describe('tasks of several nodes', () => {
  test('are seen, answered and cancelled by any of them', async () => {
    const backplane = memoryBackplane()
    const { router, works, aborted } = storedApp()
    works.set('ask', async (task) => {
      const answer = await task.ask(FORM)
      return answer.action === 'accept' ? answer.content.name : answer.action
    })
    const servers = [createServer(router, { backplane }), createServer(router, { backplane })] as const
    const [here, there] = [
      await connect(servers[0], { capabilities: CAPABILITIES }),
      await connect(servers[1], { capabilities: CAPABILITIES }),
    ]
    const id = await begin(here, 'ask')
    await expect.poll(async () => (await get(there, id))['status']).toBe('input_required')
    const inputResponses = { q1: { action: 'accept', content: { name: 'Ada' } } }
    await there.request('tasks/update', { taskId: id, inputResponses })
    expect(await ended(there, id)).toMatchObject({ status: 'completed', result: { content: [{ text: 'Ada' }] } })
    const other = await begin(here, 'ask')
    await there.request('tasks/cancel', { taskId: other })
    await expect.poll(() => aborted).toEqual([other])
    for (const server of servers) await server.close({ drainMs: 50 })
  })

  test('end failed when their server is closed and there is no time', async () => {
    const backplane = memoryBackplane()
    const { router, works, aborted } = storedApp()
    works.set('long', () => new Promise(() => undefined))
    const closing = createServer(router, { backplane })
    const id = await begin(await connect(closing, { capabilities: CAPABILITIES }), 'long')
    await closing.close({ drainMs: 20 })
    expect(aborted).toEqual([id])
    const other = createServer(router, { backplane })
    expect(await ended(await connect(other, { capabilities: CAPABILITIES }), id)).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'shutting_down', retryable: true } },
    })
    await other.close()
  })

  test('are not begun when the time of their server ended while they were written down', async () => {
    const { store, ...backplane } = memoryBackplane()
    let goOn: (() => void) | undefined
    const slow = new Proxy(store, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name)
        if (typeof value !== 'function') return value
        return async (key: string, ...rest: unknown[]): Promise<unknown> => {
          if (name === 'set' && key.includes('tasks') && goOn === undefined) {
            await new Promise<void>((resolve) => {
              goOn = resolve
            })
          }
          return await Reflect.apply(value, of, [key, ...rest])
        }
      },
    })
    const { router, works } = storedApp()
    let ran = false
    works.set('late', () => {
      ran = true
    })
    const server = createServer(router, { backplane: { ...backplane, store: slow } })
    const client = await connect(server, { capabilities: CAPABILITIES })
    const begun = begin(client, 'late').catch((error: unknown) => error)
    await expect.poll(() => goOn !== undefined).toBe(true)
    await server.close({ drainMs: 20 })
    goOn?.()
    expect(await begun).toMatchObject({ code: -32603, data: { reason: 'shutting_down', retryable: true } })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(ran).toBe(false)
  })

  test('are not begun by calls that run while their server is closed', async () => {
    const { router, jobs } = storedApp()
    const server = createServer(router)
    let goOn = (): void => undefined
    router.tool('later', {}, async (_params, session) => {
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      return jobs.start(session, () => 'done')
    })
    const client = await connect(server, { capabilities: CAPABILITIES })
    const call = client.callTool('later').catch((error: unknown) => error)
    await expect.poll(() => goOn.length === 1).toBe(true)
    const closed = server.close()
    goOn()
    expect(await call).toMatchObject({ code: -32603, data: { reason: 'shutting_down', retryable: true } })
    await closed
  })

  test('are finished before their server is closed, where there is time', async () => {
    const backplane = memoryBackplane()
    const { router, works } = storedApp()
    works.set('slow', () => new Promise((resolve) => setTimeout(resolve, 40, 'done')))
    const closing = createServer(router, { backplane })
    const id = await begin(await connect(closing, { capabilities: CAPABILITIES }), 'slow')
    await closing.close()
    const other = createServer(router, { backplane })
    expect(await get(await connect(other, { capabilities: CAPABILITIES }), id)).toMatchObject({ status: 'completed' })
    await other.close()
  })
})

test('misuse is told at start', () => {
  expect(() => tasks({ store: false } as never)).toThrow('tasks: store must be true')
  expect(() => tasks({ store: true, leaseMs: 0 })).toThrow('tasks: leaseMs must be a whole number from 1 on')
  expect(() => tasks({ store: true, get: () => null } as never)).toThrow("tasks: unknown option 'get'")
  expect(() => tasks({ store: true }).start({} as never, 'work' as never)).toThrow('jobs.start: the work of the task')
})
