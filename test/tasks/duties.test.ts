import { createRouter, type Json, McpError, memoryBackplane, Tool } from 'phantom-mcp'
import type { TestClient } from 'phantom-mcp/testing'
import { expect } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'
import { begin, ended, FORM, follow, get, membersOf, OPTIONS, type StoredApp, storedApp } from './_stored.js'
import { DECLARED, named, STATELESS } from './_tasks.js'

// What the extension asks of a server, tried on tasks in the store.

const UNKNOWN = { code: -32602 }
const METHODS = ['tasks/get', 'tasks/update', 'tasks/cancel']
const name = (text: string): Json => ({ action: 'accept', content: { name: text } })

/** Work that goes on when the test lets it: with what is returned, or thrown. */
function gate(app: StoredApp, work: string): (value: unknown) => void {
  let open = (_value: unknown): void => undefined
  const opened = new Promise<unknown>((resolve) => {
    open = resolve
  })
  app.works.set(work, async () => {
    const value = await opened
    if (value instanceof Error) throw value
    return value
  })
  return open
}

describeMatrix('duties of tasks', { versions: [STATELESS] }, (setup, { http }) => {
  verifies('tasks.durable', 'one is there before its call is answered, with an id of 256 bits', async () => {
    const app = storedApp()
    gate(app, 'wait')
    const client = await setup(app.router, OPTIONS)
    const ids = await Promise.all(Array.from({ length: 20 }, () => begin(client, 'wait')))
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{64}$/)
      expect(await get(client, id)).toMatchObject({ resultType: 'complete', taskId: id, status: 'working' })
    }
    expect(new Set(ids).size).toBe(20)
    await setup.server.close({ drainMs: 10 })
  })

  verifies('tasks.legacy', 'who declares the capability of 2025-11-25 alone gets none', async () => {
    const app = storedApp()
    app.works.set('now', () => 'done')
    const capabilities: Json = { tasks: { requests: { tools: { call: {} } } }, elicitation: {} }
    const client = await setup(app.router, { capabilities, headers: named })
    expect(await client.callTool('job', { work: 'now' })).toMatchObject({ resultType: 'complete', content: [{}] })
    const required = { code: -32021, data: { requiredCapabilities: DECLARED } }
    await expect(client.callTool('must', { work: 'now' })).rejects.toMatchObject(required)
    for (const method of METHODS)
      await expect(client.request(method, { taskId: 'a', inputResponses: {} })).rejects.toMatchObject(required)
    const listen = client.request('subscriptions/listen', { notifications: { taskIds: ['a'] } })
    await expect(listen).rejects.toMatchObject(required)
  })

  verifies('tasks.rounds', 'a call may ask before it is answered with a task, which asks by itself', async () => {
    const { router, jobs } = storedApp()
    router.tool('first', { replay: true }, async (_params, session) => {
      const first = await session.elicit(FORM, { key: 'q1' })
      return jobs.start(session, async (task) => {
        const second = await task.ask(FORM)
        return [first, second].map((one) => (one.action === 'accept' ? one.content.name : one.action)).join()
      })
    })
    const client = await setup(router, OPTIONS)
    const asked = await client.callTool('first')
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { q1: {} } })
    expect(asked).not.toHaveProperty('taskId')
    const { requestState } = asked as unknown as Json
    const params = { name: 'first', arguments: {}, requestState, inputResponses: { q1: name('Ada') } }
    const created = membersOf(await client.request('tools/call', params))
    expect(created).toMatchObject({ resultType: 'task', status: 'working' })
    for (const member of ['requestState', 'inputRequests', 'result', 'error'])
      expect(created).not.toHaveProperty(member)
    const taskId = String(created['taskId'])
    await expect.poll(async () => (await get(client, taskId))['inputRequests']).toMatchObject({ q1: {} })
    await client.request('tasks/update', { taskId, inputResponses: { q1: name('Bo') } })
    expect(await ended(client, taskId)).toMatchObject({ result: { content: [{ text: 'Ada,Bo' }] } })
  })

  verifies('tasks.open', 'all that is open is told each time, and answered in parts', async () => {
    const app = storedApp()
    app.works.set('ask', async (task) => {
      const answers = await Promise.all([task.ask(FORM), task.ask(FORM), task.ask(FORM)])
      await task.ask(FORM)
      return answers.map(({ action }) => action).join()
    })
    const client = await setup(app.router, OPTIONS)
    const taskId = await begin(client, 'ask')
    const keys = async (): Promise<string[]> =>
      Object.keys(((await get(client, taskId))['inputRequests'] as Json) ?? {})
    await expect.poll(keys).toEqual(['q1', 'q2', 'q3'])
    expect(await keys()).toEqual(['q1', 'q2', 'q3'])
    await client.request('tasks/update', { taskId, inputResponses: { q2: { action: 'decline' } } })
    expect(await keys()).toEqual(['q1', 'q3'])
    expect(await get(client, taskId)).toMatchObject({ status: 'input_required' })
    await client.request('tasks/update', { taskId, inputResponses: { q1: name('Ada'), q3: { action: 'cancel' } } })
    await expect.poll(keys).toEqual(['q4'])
    const again = await client.request('tasks/update', { taskId, inputResponses: { q1: name('Eve'), q2: name('Eve') } })
    expect(membersOf(again)).toEqual({ resultType: 'complete' })
    expect(await keys()).toEqual(['q4'])
    await client.request('tasks/update', { taskId, inputResponses: { q4: name('Bo') } })
    expect(await ended(client, taskId)).toMatchObject({ result: { content: [{ text: 'accept,decline,cancel' }] } })
  })

  verifies('tasks.transitions', 'from working and from input_required to each end, and no further', async () => {
    const app = storedApp()
    const finish = gate(app, 'wait')
    app.works.set('ask', (task) => task.ask(FORM))
    app.works.set('both', async (task) => {
      // What is asked and not waited for is nobody's when the work is over.
      void task.ask(FORM)
      const { action } = await task.ask(FORM)
      if (action === 'decline') throw new McpError('INVALID_PARAMS', 'Declined')
      return action
    })
    const client = await setup(app.router, OPTIONS)
    const status = async (taskId: string): Promise<unknown> => (await get(client, taskId))['status']
    const answer = (taskId: string, inputResponses: Json): Promise<unknown> =>
      client.request('tasks/update', { taskId, inputResponses })
    const [working, failing] = [await begin(client, 'wait'), await begin(client, 'both')]
    const [asking, completing] = [await begin(client, 'ask'), await begin(client, 'both')]
    for (const id of [failing, asking, completing]) await expect.poll(() => status(id)).toBe('input_required')
    await answer(failing, { q2: { action: 'decline' } })
    expect(await ended(client, failing)).toMatchObject({ status: 'failed', error: { message: 'Declined' } })
    await answer(completing, { q2: { action: 'cancel' } })
    expect(await ended(client, completing)).toMatchObject({ status: 'completed' })
    await client.request('tasks/cancel', { taskId: asking })
    const cancelled = await begin(client, 'wait')
    await client.request('tasks/cancel', { taskId: cancelled })
    finish('done')
    expect(await ended(client, working)).toMatchObject({ status: 'completed' })
    const final = { failing: 'failed', completing: 'completed', asking: 'cancelled', cancelled: 'cancelled' }
    const ids = { failing, completing, asking, cancelled }
    for (const [which, expected] of Object.entries(final)) {
      const id = ids[which as keyof typeof ids]
      const before = await get(client, id)
      expect(before).not.toHaveProperty('inputRequests')
      await answer(id, { q1: name('Ada'), q2: name('Ada') })
      await client.request('tasks/cancel', { taskId: id })
      expect(await get(client, id), which).toEqual(before)
      expect(before['status'], which).toBe(expected)
    }
  })

  verifies('tasks.failed', 'an error is told with its message, a failure for the model is a result', async () => {
    const app = storedApp()
    app.works.set('error', () => {
      throw new McpError('RESOURCE_NOT_FOUND', 'There is no such study', { data: { uri: 'a:b' } })
    })
    app.works.set('model', () => Tool.error('There is no such study'))
    const client = await setup(app.router, OPTIONS)
    const failed = await ended(client, await begin(client, 'error'))
    expect(failed).toMatchObject({
      status: 'failed',
      statusMessage: 'There is no such study',
      error: { code: -32602, message: 'There is no such study', data: { uri: 'a:b' } },
    })
    expect(failed).not.toHaveProperty('result')
    const completed = await ended(client, await begin(client, 'model'))
    expect(completed).toMatchObject({ status: 'completed', result: { isError: true, content: [{ type: 'text' }] } })
    expect(completed).not.toHaveProperty('error')
  })

  verifies('tasks.cancelled', 'who cancels the call that is over cancels no task', async () => {
    const app = storedApp()
    const finish = gate(app, 'wait')
    const client = await setup(app.router, OPTIONS)
    const call = { method: 'tools/call', params: { name: 'job', arguments: { work: 'wait' } } }
    const taskId = String((await client.requestAs('made', call))['taskId'])
    for (const requestId of ['made', taskId]) await client.notify('notifications/cancelled', { requestId, taskId })
    expect(await get(client, taskId)).toMatchObject({ status: 'working' })
    finish('done')
    expect(await ended(client, taskId)).toMatchObject({ status: 'completed' })
    expect(app.aborted).toEqual([])
  })

  verifies('tasks.expired', 'one is kept for its time after it has changed, and is unknown then', async () => {
    const app = storedApp({ ttlMs: 60_000 })
    app.works.set('now', () => 'done')
    let passed = 0
    const backplane = memoryBackplane({ clock: () => Date.now() + passed })
    const client = await setup(app.router, { ...OPTIONS, server: { backplane } })
    const taskId = await begin(client, 'now')
    const { ttlMs } = await ended(client, taskId)
    expect(ttlMs).toBeGreaterThanOrEqual(60_000)
    passed = 50_000
    expect(await get(client, taskId)).toMatchObject({ status: 'completed' })
    passed = 61_000
    for (const method of METHODS)
      await expect(client.request(method, { taskId, inputResponses: {} })).rejects.toMatchObject(UNKNOWN)
  })

  verifies('tasks.quiet', 'who listens hears of the task, and of nothing else', async () => {
    const app = storedApp()
    let go = (): void => undefined
    app.router.tool('loud', { task: 'required' }, (_params, session) =>
      app.jobs.start(session, async (task) => {
        await new Promise<void>((resolve) => {
          go = resolve
        })
        await task.progress(1, 2)
        await session.notifyProgress(1, 2)
        await session.log.error('loud')
        return 'done'
      }),
    )
    const client = await setup(app.router, { ...OPTIONS, logLevel: 'debug' })
    const { taskId } = (await client.callTool('loud', {}, { progressToken: 'p' })) as unknown as Json
    await follow(client, [String(taskId)])
    go()
    await expect
      .poll(() => client.notified('notifications/tasks').at(-1))
      .toMatchObject({ status: 'completed', statusMessage: '1 of 2' })
    const methods = new Set(client.notifications.map(({ method }) => method))
    expect([...methods].sort()).toEqual(['notifications/subscriptions/acknowledged', 'notifications/tasks'])
  })

  verifies('tasks.callers', 'to anybody else it is as one that never was', async () => {
    const app = storedApp()
    app.works.set('ask', (task) => task.ask(FORM))
    let user = 'ada'
    const users = createRouter({
      name: 'users',
      version: '1.0.0',
      extensions: [app.jobs],
      connect: (session) => session,
      principal: () => user,
    })
    users.mount('in', app.router)
    const client = await setup(users, OPTIONS)
    const { taskId } = (await client.callTool('in_job', { work: 'ask' })) as unknown as Json
    await expect.poll(async () => (await get(client, taskId))['status']).toBe('input_required')
    // On a pipe the caller is asked for once.
    const as = async (who: string): Promise<TestClient> => {
      user = who
      return http ? client : await setup.another(OPTIONS)
    }
    const eve = await as('eve')
    const strange = 'f'.repeat(64)
    for (const method of METHODS) {
      const refused = async (id: unknown): Promise<unknown> => {
        const inputResponses = { q1: name('Eve') }
        const answer = eve.request(method, { taskId: id, inputResponses })
        return await answer.catch(({ code, message }: { code: number; message: string }) => ({ code, message }))
      }
      expect(await refused(taskId), method).toMatchObject(UNKNOWN)
      expect(await refused(taskId), method).toEqual(await refused(strange))
    }
    const call = { method: 'subscriptions/listen', params: { notifications: { taskIds: [taskId] } } }
    eve.requestAs('eve', call).catch(() => undefined)
    await expect
      .poll(() => eve.notified('notifications/subscriptions/acknowledged').at(-1)?.['notifications'])
      .toEqual({ taskIds: [] })
    const ada = await as('ada')
    expect(await get(ada, taskId)).toMatchObject({ status: 'input_required', inputRequests: { q1: {} } })
    await ada.request('tasks/cancel', { taskId })
  })
})
