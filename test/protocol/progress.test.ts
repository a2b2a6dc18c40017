import { createRouter, createServer, memoryBackplane, type ProgressRef, type Router, type Session } from 'phantom-mcp'
import { expect } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import { describeMatrix, HTTP, verifies } from '../_setup.js'

function reporting(report: (session: Session) => Promise<void>): Router {
  const router = createRouter({ name: 'progress', version: '1.0.0' })
  router.tool('work', {}, async (_params, session) => {
    await report(session)
    return 'done'
  })
  return router
}

const steps = async (session: Session): Promise<void> => {
  for (const step of [1, 2, 3]) await session.notifyProgress(step, 3, `Step ${step}`)
}

describeMatrix('progress', {}, (setup, cell) => {
  const told = cell.version >= '2025-03-26'
  const step = (progressToken: unknown, progress: number): object => ({
    progressToken,
    progress,
    total: 3,
    ...(told ? { message: `Step ${progress}` } : {}),
  })

  verifies(
    ['field.J1', 'progress.before-answer', 'gates.progress-message'],
    'comes under the very token, before the answer',
    async () => {
      const client = await setup(reporting(steps))
      for (const progressToken of [0, '0', '', 'token', -1, 9007199254740991]) {
        const from = setup.wire.received.length
        await client.callTool('work', {}, { progressToken })
        const messages = setup.wire.received.slice(from)
        expect(messages.map(({ method }) => method)).toEqual([...Array(3).fill('notifications/progress'), undefined])
        expect(messages.slice(0, 3).map(({ params }) => params)).toEqual([1, 2, 3].map((at) => step(progressToken, at)))
      }
    },
  )

  verifies('field.J1', 'is not sent to who did not ask, or not with a token', async () => {
    const seen: unknown[] = []
    const client = await setup(
      reporting(async (session) => {
        seen.push(session.progressToken)
        await steps(session)
      }),
    )
    await client.callTool('work')
    for (const progressToken of [null, 1.5, true, {}, ['a']])
      await client.callTool('work', {}, { meta: { progressToken } })
    expect(client.notifications).toEqual([])
    expect(seen).toEqual([undefined, undefined, undefined, undefined, undefined, undefined])
  })

  verifies('progress.increases', 'that does not grow, or is no number, is left out', async () => {
    const client = await setup(
      reporting(async (session) => {
        const values = [0, 0, -1, 0.5, 0.5, 0.25, Number.NaN, 2, Number.POSITIVE_INFINITY, 1, 3]
        for (const value of values) await session.notifyProgress(value)
      }),
    )
    await client.callTool('work', {}, { progressToken: 't' })
    const sent = client.notified('notifications/progress')
    expect(sent).toEqual([0, 0.5, 2, 3].map((progress) => ({ progressToken: 't', progress })))
  })

  verifies('progress.after-answer', 'after the answer is not sent', async () => {
    let kept: Session | undefined
    const client = await setup(
      reporting(async (session) => {
        kept = session
        await session.notifyProgress(1)
      }),
    )
    await client.callTool('work', {}, { progressToken: 't' })
    await kept?.notifyProgress(2)
    await kept?.notify('notifications/message', { level: 'error', data: 'late' })
    await client.list('tools')
    expect(client.notifications).toHaveLength(1)
  })

  verifies('progress.before-answer', 'of two calls goes its own way', async () => {
    const first = gate()
    const started = gate()
    const router = createRouter({ name: 'progress', version: '1.0.0' })
    router.tool('slow', {}, async (_params, session) => {
      await session.notifyProgress(1)
      started.open()
      await first.promise
      await session.notifyProgress(2)
      return 'slow'
    })
    router.tool('fast', {}, async (_params, session) => {
      await session.notifyProgress(1)
      return 'fast'
    })
    const client = await setup(router)
    const slow = client.callTool('slow', {}, { progressToken: 's' })
    await started.promise
    await client.callTool('fast', {}, { progressToken: 'f' })
    first.open()
    await slow
    expect(
      client.notified('notifications/progress').map(({ progressToken, progress }) => [progressToken, progress]),
    ).toEqual([
      ['s', 1],
      ['f', 1],
      ['s', 2],
    ])
  })

  verifies('progress.elsewhere', 'can be told of prompts and resources as well', async () => {
    const router = createRouter({ name: 'progress', version: '1.0.0' })
    router.prompt('ask', {}, async (_params, session) => {
      await session.notifyProgress(1)
      return 'asked'
    })
    router.resource('notes://plain', { name: 'plain' }, async (_params, session) => {
      await session.notifyProgress(1)
      return 'read'
    })
    const client = await setup(router)
    await client.getPrompt('ask', {}, { progressToken: 'p' })
    await client.readResource('notes://plain', { progressToken: 'r' })
    expect(client.notified('notifications/progress')).toEqual([
      { progressToken: 'p', progress: 1 },
      { progressToken: 'r', progress: 1 },
    ])
  })
})

describeMatrix('a notification of the server’s own', {}, (setup) => {
  verifies('session.notify', 'comes on the stream of its call, before the answer', async () => {
    const client = await setup(
      reporting(async (session) => {
        await session.notify('notifications/example', { deep: { a: [1, null] } })
        await session.notify('notifications/bare')
      }),
    )
    const from = setup.wire.received.length
    await client.callTool('work')
    const messages = setup.wire.received.slice(from)
    expect(messages.slice(0, 2)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/example', params: { deep: { a: [1, null] } } },
      { jsonrpc: '2.0', method: 'notifications/bare' },
    ])
    expect(messages).toHaveLength(3)
  })
})

describeMatrix('the stream of a call', { transports: HTTP }, (setup, cell) => {
  verifies('field.K1', 'opens with its first notification, and each one is there before the next', async () => {
    const steps = [gate(), gate()] as const
    const router = createRouter({ name: 'stream', version: '1.0.0' })
    router.tool('work', {}, async (_params, session) => {
      await session.notifyProgress(1)
      await steps[0].promise
      await session.notifyProgress(2)
      await steps[1].promise
      return 'done'
    })
    const client = await setup(router, { headers: () => ({ 'accept-encoding': 'gzip, br' }) })
    const call = client.callTool('work', {}, { progressToken: 0 })
    await expect.poll(() => client.notifications.length, PATIENT).toBe(1)
    steps[0].open()
    await expect.poll(() => client.notifications.length, PATIENT).toBe(2)
    steps[1].open()
    expect(await call).toMatchObject({ content: [{ text: 'done' }] })
    expect(setup.wire.received.filter(({ id }) => id !== undefined)).toHaveLength(cell.sessions ? 2 : 1)
  })
})

describeMatrix('progress that is told from elsewhere', {}, (setup, cell) => {
  const message = cell.version >= '2025-03-26' ? { message: 'Halfway' } : {}

  verifies(['progress.ref', 'progress.increases', 'progress.after-answer'], 'comes like the call’s own', async () => {
    const refs: (ProgressRef | null)[] = []
    const backplane = memoryBackplane()
    const worker = createServer(createRouter({ name: 'worker', version: '1.0.0' }), { backplane })
    const client = await setup(
      reporting(async (session) => {
        const ref = JSON.parse(JSON.stringify(session.progressRef())) as ProgressRef | null
        refs.push(ref)
        const { server } = setup
        await session.notifyProgress(1)
        await server.notifyProgress(ref, 2, 4, 'Halfway')
        await server.notifyProgress(ref, 2)
        await worker.notifyProgress(ref, 3)
        await worker.notifyProgress(ref, 1, 4, 'Back')
        await worker.notifyProgress(ref, 4, 4)
        await session.notifyProgress(3.5)
      }),
      { server: { backplane } },
    )
    await client.callTool('work', {}, { progressToken: 0 })
    const told = [
      { progressToken: 0, progress: 1 },
      { progressToken: 0, progress: 2, total: 4, ...message },
      { progressToken: 0, progress: 3 },
      { progressToken: 0, progress: 4, total: 4 },
    ]
    expect(client.notified('notifications/progress')).toEqual(told)
    await client.callTool('work')
    expect(refs).toMatchObject([{ progress: expect.any(String), node: expect.any(String) }, null])
    for (const server of [setup.server, worker]) await server.notifyProgress(refs[0] as ProgressRef, 5)
    await client.list('tools')
    expect(client.notified('notifications/progress')).toEqual(told)
    await expect(worker.notifyProgress({ call: 'x', node: 'y' } as never, 1)).rejects.toThrow(
      'server.notifyProgress: the first argument must be what session.progressRef() gave',
    )
    await worker.close()
  })
})
