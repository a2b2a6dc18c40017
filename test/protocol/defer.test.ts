import {
  type CallRef,
  createRouter,
  createServer,
  field,
  McpError,
  memoryBackplane,
  Prompt,
  Resource,
  type Router,
  type Session,
  Tool,
} from 'phantom-mcp'
import { expect } from 'vitest'
import { PATIENT } from '../_messages.js'
import { describeMatrix, verifies } from '../_setup.js'

interface Desk {
  readonly router: Router
  /** The ref of the call that deferred next. */
  ref(): Promise<CallRef>
  readonly sessions: Session[]
  readonly aborted: string[]
}

/** A router whose handlers all defer. What they hand on goes through JSON, as it would through a queue. */
function desk(): Desk {
  const refs: string[] = []
  const sessions: Session[] = []
  const aborted: string[] = []
  const router = createRouter({ name: 'desk', version: '1.0.0' })
  const defer = (session: Session) => {
    sessions.push(session)
    session.signal.addEventListener('abort', () => aborted.push((session.signal.reason as Error).name))
    const later = session.defer()
    refs.push(JSON.stringify(later.ref))
    return later
  }
  router.tool('free', {}, async (_params, session) => defer(session))
  router.tool('limited', { timeoutMs: 30, maxConcurrency: 1 }, (_params, session) => defer(session))
  router.tool('count', { output: { total: field.integer({ required: true }) } }, (_params, session) => defer(session))
  router.prompt('ask', { description: 'Asks.' }, async (_params, session) => defer(session))
  router.resource('notes://{id}', { name: 'note', mimeType: 'text/markdown' }, (_params, session) => defer(session))
  const ref = async (): Promise<CallRef> => {
    await expect.poll(() => refs.length, PATIENT).toBeGreaterThan(0)
    return JSON.parse(refs.shift() as string) as CallRef
  }
  return { router, ref, sessions, aborted }
}

const internal = { code: -32603, message: 'Internal error' }

describeMatrix('a deferred answer', {}, (setup, cell) => {
  verifies('defer.answers', 'is what the handler could have returned', async () => {
    const { router, ref } = desk()
    const client = await setup(router)
    const answered = async (call: Promise<unknown>, result: Parameters<typeof setup.server.respond>[1]) => {
      expect(await setup.server.respond(await ref(), result)).toBe(true)
      return await call
    }
    const text = { content: [{ type: 'text', text: 'done' }] }
    expect(await answered(client.callTool('free'), Tool.text('done'))).toMatchObject(text)
    expect(await answered(client.callTool('free'), 'done')).toMatchObject(text)
    expect(await answered(client.callTool('free'), undefined)).toMatchObject({ content: [] })
    expect(await answered(client.callTool('free'), null)).toMatchObject({ content: [{ text: 'null' }] })
    expect(await answered(client.callTool('free'), Tool.error('no'))).toMatchObject({ isError: true })
    // A plain value that looks like a result is none.
    const plain = { content: [{ type: 'text', text: 'mine' }] }
    expect(await answered(client.callTool('free'), plain)).toMatchObject({ content: [{ text: JSON.stringify(plain) }] })
    expect(await answered(client.getPrompt('ask'), 'Why?')).toMatchObject({
      description: 'Asks.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Why?' } }],
    })
    expect(await answered(client.getPrompt('ask'), Prompt.response([Prompt.assistant('So.')]))).toMatchObject({
      messages: [{ role: 'assistant' }],
    })
    expect(await answered(client.readResource('notes://1'), '# One')).toMatchObject({
      contents: [{ uri: 'notes://1', mimeType: 'text/markdown', text: '# One' }],
    })
    const parts = [Resource.text({ a: 1 }), new Uint8Array([1, 2, 255]), 'three']
    expect(await answered(client.readResource('notes://2'), parts)).toMatchObject({
      contents: [
        { mimeType: 'application/json', text: '{"a":1}' },
        { mimeType: 'text/markdown', blob: 'AQL/' },
        { text: 'three' },
      ],
    })
  })

  verifies('defer.checked', 'passes the checks of one that is returned', async () => {
    const { router, ref } = desk()
    const client = await setup(router)
    const { server } = setup
    const good = client.callTool('count')
    await server.respond(await ref(), { total: 3 })
    expect(await good).toMatchObject({ content: [{ text: '{"total":3}' }] })
    const bad = client.callTool('count')
    expect(await server.respond(await ref(), { total: 'three' })).toBe(true)
    expect(await bad).toMatchObject({ isError: true })
    expect(setup.expectErrors(1)).toMatchObject([
      { name: 'TypeError', message: /tool 'count' returned what its output/ },
    ])
    const wrong = client.getPrompt('ask')
    await server.respond(await ref(), 7)
    await expect(wrong).rejects.toMatchObject(internal)
    const nothing = client.readResource('notes://3')
    setup.expectErrors(1)
    await server.respond(await ref(), null)
    await expect(nothing).rejects.toMatchObject({ code: cell.sessions ? -32002 : -32602 })
  })

  verifies('defer.error', 'may be an error, with what is masked reported', async () => {
    const { router, ref } = desk()
    const client = await setup(router)
    const told = client.callTool('free')
    expect(
      await setup.server.respondError(await ref(), new McpError('INVALID_PARAMS', 'Too late', { data: { a: 1 } })),
    ).toBe(true)
    await expect(told).rejects.toMatchObject({ code: -32602, message: 'Too late', data: { a: 1 } })
    const masked = client.callTool('free')
    const failure = new RangeError('disk full', { cause: new Error('ENOSPC') })
    expect(await setup.server.respondError(await ref(), failure)).toBe(true)
    await expect(masked).rejects.toMatchObject(internal)
    expect(setup.expectErrors(1)).toMatchObject([
      { name: 'RangeError', message: 'disk full', cause: { message: 'ENOSPC' } },
    ])
  })

  verifies('defer.once', 'is delivered once, to the call that it is for', async () => {
    const { router, ref } = desk()
    const client = await setup(router)
    const { server } = setup
    const [one, two] = [client.callTool('free'), client.callTool('free')]
    const [first, second] = [await ref(), await ref()]
    expect(first.call).not.toBe(second.call)
    expect(JSON.stringify(first).length).toBeGreaterThan(40)
    expect(await server.respond(second, 'two')).toBe(true)
    expect(await two).toMatchObject({ content: [{ text: 'two' }] })
    expect(await Promise.all([server.respond(first, 'one'), server.respond(first, 'again')])).toEqual([true, false])
    expect(await one).toMatchObject({ content: [{ text: 'one' }] })
    expect(await server.respondError(first, new Error('late'))).toBe(false)
    expect(await server.respond({ ...first, call: 'none' }, 'x')).toBe(false)
  })

  verifies('defer.once', 'is not waited for when the handler goes another way', async () => {
    const refs: CallRef[] = []
    const router = createRouter({ name: 'desk', version: '1.0.0' })
    router.tool('changes', {}, (_params, session) => {
      refs.push(session.defer().ref)
      return 'at once'
    })
    const client = await setup(router)
    expect(await client.callTool('changes')).toMatchObject({ content: [{ text: 'at once' }] })
    expect(await setup.server.respond(refs[0] as CallRef, 'later')).toBe(false)
  })

  verifies('defer.answers', 'may be there before the handler has returned', async () => {
    const router = createRouter({ name: 'desk', version: '1.0.0' })
    router.tool('fast', {}, async (_params, session) => {
      const later = session.defer()
      expect(await setup.server.respond(later.ref, 'fast')).toBe(true)
      return later
    })
    expect(await (await setup(router)).callTool('fast')).toMatchObject({ content: [{ text: 'fast' }] })
  })

  verifies('defer.answers', 'is waited for by middleware, and not by the limits of its tool', async () => {
    const { router, ref } = desk()
    const seen: string[] = []
    router.use(async (session, next) => {
      const outcome = await next()
      seen.push(`${session.call.name}: ${outcome.ok}`)
      return outcome
    })
    const client = await setup(router)
    const calls = [client.callTool('limited'), client.callTool('limited')]
    const refs = [await ref(), await ref()]
    await new Promise((resolve) => setTimeout(resolve, 45))
    expect(seen.filter((entry) => entry.startsWith('limited'))).toEqual([])
    for (const one of refs) expect(await setup.server.respond(one, 'done')).toBe(true)
    for (const call of calls) expect(await call).toMatchObject({ content: [{ text: 'done' }] })
    expect(seen.filter((entry) => entry.startsWith('limited'))).toEqual(['limited: true', 'limited: true'])
  })

  verifies('defer.time', 'that does not come in time fails the call', async () => {
    const { router, ref, aborted } = desk()
    const client = await setup(router, { server: { deferMs: 40 } })
    const calls = [client.callTool('free'), client.getPrompt('ask'), client.readResource('notes://1')]
    const message = 'The answer to this call did not come within 40 ms'
    for (const { reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: -32603, message, data: { reason: 'defer_timeout' } })
    }
    expect(aborted).toEqual(['TimeoutError', 'TimeoutError', 'TimeoutError'])
    expect(await setup.server.respond(await ref(), 'late')).toBe(false)
  })

  verifies(['defer.over', 'cancel.no-answer'], 'that is cancelled is over', async () => {
    const { router, ref, aborted } = desk()
    const client = await setup(router)
    const controller = new AbortController()
    const call = client.callTool('free', {}, { signal: controller.signal })
    const cancelled = await ref()
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
    await expect.poll(() => aborted, PATIENT).toEqual(['AbortError'])
    expect(await setup.server.respond(cancelled, 'late')).toBe(false)
    expect((await client.list('tools'))['tools']).toHaveLength(3)
  })

  verifies('defer.over', 'that is outstanding when the server closes is over', async () => {
    const { router, ref, aborted } = desk()
    const client = await setup(router)
    const call = client.callTool('free').catch((error: unknown) => error)
    const left = await ref()
    await setup.server.close({ drainMs: 30 })
    expect(await call).toMatchObject({ code: -32603, data: { reason: 'shutting_down', retryable: true } })
    expect(aborted).toEqual(['McpError'])
    expect(await setup.server.respond(left, 'late')).toBe(false)
  })

  verifies('defer.hang-up', 'is not waited for by who has hung up', async () => {
    const refs: CallRef[] = []
    const router = createRouter({ name: 'desk', version: '1.0.0' })
    // A handler that never looks at its signal.
    router.tool('blind', {}, (_params, session) => {
      const later = session.defer()
      refs.push(later.ref)
      return later
    })
    const client = await setup(router)
    const call = client.callTool('blind').catch((error: unknown) => error)
    await expect.poll(() => refs.length, PATIENT).toBe(1)
    void setup.wire.close()
    await expect.poll(() => setup.server.respond(refs[0] as CallRef, 'late'), PATIENT).toBe(false)
    void call
  })

  verifies('defer.session-end', 'goes with its session', async () => {
    const { router, ref, aborted, sessions } = desk()
    const client = await setup(router)
    const call = client.callTool('free').catch((error: unknown) => error)
    const left = await ref()
    const id = sessions[0]?.id as string
    await setup.server.sessions?.end((await setup.server.sessions.use(id, null)) as never)
    await expect.poll(() => aborted, PATIENT).toEqual(['AbortError'])
    expect(await setup.server.respond(left, 'late')).toBe(false)
    void call
  })

  verifies('defer.elsewhere', 'in any other place is an error that says so', async () => {
    let kept: ReturnType<Session['defer']> | undefined
    const router = createRouter({
      name: 'desk',
      version: '1.0.0',
      listResources: (_cursor, session) => session.defer() as never,
    })
    router.tool('first', {}, (_params, session) => {
      kept = session.defer()
      return 'kept'
    })
    router.tool('second', {}, () => kept)
    router.tool('wrapped', {}, (_params, session) => ({ reply: session.defer() }))
    router.prompt('ask', { arguments: { q: { complete: (_value, session) => session.defer() as never } } }, () => 'So.')
    const client = await setup(router)
    await client.callTool('first')
    await expect(client.callTool('second')).rejects.toMatchObject(internal)
    await expect(client.callTool('wrapped')).rejects.toMatchObject(internal)
    await expect(client.complete({ prompt: 'ask' }, { name: 'q', value: '' })).rejects.toMatchObject(internal)
    await expect(client.list('resources')).rejects.toMatchObject(internal)
    expect(setup.expectErrors(4).map((error) => (error as Error).message)).toEqual([
      'A handler can return only what session.defer() of its own call gave',
      'What session.defer() gives is returned by itself, from the handler of a tool, prompt or resource: pass on its ref',
      'A completer cannot defer: only handlers of tools, prompts and resources can',
      'listResources cannot defer: only handlers of tools, prompts and resources can',
    ])
    const { server } = setup
    const ref = kept?.ref as CallRef
    await expect(server.respond(ref, kept)).rejects.toThrow('A deferred call cannot be answered with a deferred')
    await expect(server.respond(ref, { n: 1n })).rejects.toThrow('must be something that JSON can hold')
    await expect(server.respond(kept as never, 'x')).rejects.toThrow(
      'server.respond: the first argument must be the ref',
    )
    await expect(server.respondError({} as never, 'x')).rejects.toThrow(
      'server.respondError: the first argument must be',
    )
  })
})

describeMatrix('a deferred answer of another process', {}, (setup) => {
  verifies(['defer.answers', 'defer.once', 'defer.error'], 'reaches the call', async () => {
    const { router, ref } = desk()
    const backplane = memoryBackplane()
    const client = await setup(router, { server: { backplane } })
    const worker = createServer(createRouter({ name: 'worker', version: '1.0.0' }), { backplane })
    const call = client.callTool('free')
    const one = await ref()
    expect(await worker.respond(one, Tool.text('from afar'))).toBe(true)
    expect(await call).toMatchObject({ content: [{ type: 'text', text: 'from afar' }] })
    expect(await worker.respond(one, 'again')).toBe(false)
    const read = client.readResource('notes://1')
    expect(await worker.respond(await ref(), [new Uint8Array([1]), Resource.text('two')])).toBe(true)
    expect(await read).toMatchObject({ contents: [{ blob: 'AQ==' }, { text: 'two' }] })
    const failed = client.callTool('free')
    expect(await worker.respondError(await ref(), new Error('secret of the worker'))).toBe(true)
    await expect(failed).rejects.toMatchObject(internal)
    expect(setup.expectErrors(1)).toMatchObject([{ message: 'secret of the worker' }])
    const raced = client.callTool('free')
    const contested = await ref()
    const rivals = [
      worker.respond(contested, 'a'),
      setup.server.respond(contested, 'b'),
      worker.respond(contested, 'c'),
    ]
    expect((await Promise.all(rivals)).filter(Boolean)).toHaveLength(1)
    await raced
    await worker.close()
  })
})
