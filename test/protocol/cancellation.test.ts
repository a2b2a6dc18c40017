import { createRouter, type Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { gate, META, PATIENT, request } from '../_messages.js'
import { describeMatrix, PIPES, verifies } from '../_setup.js'

interface Waiting {
  readonly router: Router
  readonly started: Promise<void>
  /** Reason of the signal, when it came. */
  readonly aborted: Promise<unknown>
  /** Ends the handler. */
  end(): void
}

/** `wait` runs until it is ended, and hears of its cancellation. */
function waiting(): Waiting {
  const started = gate()
  const aborted = gate<unknown>()
  const ended = gate()
  const router = createRouter({ name: 'cancel', version: '1.0.0' })
  router.tool('wait', {}, async (_params, session) => {
    session.signal.addEventListener('abort', () => aborted.open(session.signal.reason))
    started.open()
    await ended.promise
    await session.notifyProgress(99)
    return 'too late'
  })
  router.tool('noop', {}, () => 'ok')
  return { router, started: started.promise, aborted: aborted.promise, end: () => ended.open() }
}

describeMatrix('cancellation', {}, (setup, cell) => {
  verifies(['cancel.signal', 'cancel.no-answer'], 'aborts the signal, and nothing more is sent', async () => {
    const { router, started, aborted, end } = waiting()
    const client = await setup(router)
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { progressToken: 't', signal: controller.signal })
    await started
    const from = setup.wire.received.length
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
    const reason = await aborted
    expect(reason).toBeInstanceOf(Error)
    expect(reason).toMatchObject({ name: 'AbortError', message: expect.stringMatching(/\S/) })
    end()
    await client.callTool('noop')
    expect(setup.wire.received.slice(from)).toHaveLength(1)
    expect(client.notifications).toEqual([])
  })

  verifies('cancel.never-settles', 'of a handler that never ends frees everything but the handler', async () => {
    const { router, started, aborted } = waiting()
    const client = await setup(router)
    const controller = new AbortController()
    const call = client.requestAs(
      'stuck',
      { method: 'tools/call', params: { name: 'wait' } },
      { signal: controller.signal },
    )
    await started
    controller.abort()
    await Promise.allSettled([call])
    await aborted
    // The id is free again as well.
    await expect
      .poll(
        () =>
          client.requestAs('stuck', { method: 'tools/call', params: { name: 'noop' } }).then(
            () => 'ok',
            () => 'busy',
          ),
        PATIENT,
      )
      .toBe('ok')
  })

  verifies('cancel.throws', 'of a handler that throws for it is no error of anybody', async () => {
    const started = gate()
    const thrown = gate()
    const router = createRouter({ name: 'cancel', version: '1.0.0' })
    router.tool('wait', {}, (_params, session) => {
      started.open()
      return new Promise<string>((_resolve, reject) => {
        session.signal.addEventListener('abort', () => {
          reject(session.signal.reason)
          thrown.open()
        })
      })
    })
    const client = await setup(router)
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    await started.promise
    const from = setup.wire.received.length
    controller.abort()
    await Promise.allSettled([call])
    await thrown.promise
    await client.list('tools')
    expect(setup.wire.received.slice(from)).toHaveLength(1)
    setup.expectErrors(0)
  })

  verifies('cancel.others', 'ends the one call that it names', async () => {
    const { router, started, aborted } = waiting()
    const other = gate()
    const otherStarted = gate()
    let otherAborted = false
    router.tool('other', {}, async (_params, session) => {
      session.signal.addEventListener('abort', () => {
        otherAborted = true
      })
      otherStarted.open()
      await other.promise
      return 'finished'
    })
    const client = await setup(router)
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    const second = client.callTool('other')
    await Promise.all([started, otherStarted.promise])
    controller.abort()
    await Promise.allSettled([call])
    await aborted
    other.open()
    expect(await second).toMatchObject({ content: [{ text: 'finished' }] })
    expect(otherAborted).toBe(false)
  })

  verifies('field.J3', 'that comes late or makes no sense is ignored', async () => {
    const { router } = waiting()
    const client = await setup(router)
    await client.requestAs(5, { method: 'tools/call', params: { name: 'noop' } })
    const from = setup.wire.received.length
    const before = setup.wire.statuses.length
    const meta = cell.sessions ? {} : { _meta: META }
    const cancelled = 'notifications/cancelled'
    const senseless: object[] = [
      { requestId: 5 },
      { requestId: 5 },
      { requestId: 999 },
      {},
      { requestId: null },
      { requestId: {} },
      { requestId: 5, reason: 7 },
    ]
    for (const params of senseless) await client.notify(cancelled, { ...params, ...meta })
    await client.sendRaw({ jsonrpc: '2.0', method: cancelled })
    if (cell.http) expect(setup.wire.statuses.slice(before)).toEqual(Array(8).fill(202))
    expect(setup.wire.received.slice(from)).toEqual([])
    expect(await client.callTool('noop')).toMatchObject({ content: [{ text: 'ok' }] })
  })

  verifies('cancel.signal', 'is not seen by who was not cancelled', async () => {
    const seen: boolean[] = []
    const router = createRouter({ name: 'cancel', version: '1.0.0' })
    router.tool('look', {}, async (_params, session) => {
      await Promise.resolve()
      seen.push(session.signal.aborted)
      return 'ok'
    })
    const client = await setup(router)
    await client.callTool('look')
    await client.callTool('look')
    expect(seen).toEqual([false, false])
  })
})

describeMatrix('notifications/cancelled', { transports: PIPES }, (setup, cell) => {
  verifies(['cancel.signal', 'cancel.no-answer'], 'hands its reason over', async () => {
    const { router, started, aborted } = waiting()
    const client = await setup(router)
    const from = setup.wire.received.length
    await client.sendRaw(request(cell, 'c', { method: 'tools/call', params: { name: 'wait' } }))
    await started
    await client.notify('notifications/cancelled', { requestId: 'c', reason: 'The user left' })
    expect(await aborted).toMatchObject({ message: 'The user left' })
    await client.list('tools')
    expect(setup.wire.received.slice(from)).toHaveLength(1)
  })

  verifies(['cancel.signal', 'ids.echo'], 'tells 1 from "1"', async () => {
    const { router, started, aborted } = waiting()
    const client = await setup(router)
    let done = false
    void aborted.then(() => {
      done = true
    })
    await client.sendRaw(request(cell, '1000', { method: 'tools/call', params: { name: 'wait' } }))
    await started
    await client.notify('notifications/cancelled', { requestId: 1000 })
    await client.list('tools')
    expect(done).toBe(false)
    await client.notify('notifications/cancelled', { requestId: '1000' })
    await expect(aborted).resolves.toBeInstanceOf(Error)
  })

  verifies('field.J3', 'in the same write as its request gives one answer or none', async () => {
    const { router } = waiting()
    router.tool('quick', {}, () => new Promise<string>((resolve) => setTimeout(() => resolve('quick'), 1)))
    const client = await setup(router)
    const from = setup.wire.received.length
    const call = request(cell, 'q', { method: 'tools/call', params: { name: 'quick' } })
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q' } }
    await Promise.all([client.sendRaw(call), client.sendRaw(cancel), client.sendRaw(cancel)])
    await client.callTool('quick')
    await client.list('tools')
    const answers = setup.wire.received.slice(from).filter(({ id }) => id === 'q')
    expect(answers).toEqual([])
  })
})

describeMatrix('the end of a connection', { transports: ['memory'] }, (setup, cell) => {
  verifies('cancel.signal', 'ends what runs', async () => {
    const { router, started, aborted } = waiting()
    const client = await setup(router)
    await client.sendRaw(request(cell, 'c', { method: 'tools/call', params: { name: 'wait' } }))
    await started
    await client.close()
    await expect(aborted).resolves.toBeInstanceOf(Error)
  })
})
