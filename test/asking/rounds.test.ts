import {
  ContinuationMoved,
  createServer,
  defineFor,
  Elicit,
  field,
  type Router,
  Sample,
  type Session,
} from 'phantom-mcp'
import { connect } from 'phantom-mcp/testing'
import { expect } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { ADA, AGE, type Asked, accept, askingRouter, describeModes, NAME, textOf, told } from './_asking.js'

const CLIENT = { capabilities: { elicitation: {} } }
const MODEL = Sample.message({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }], maxTokens: 5 })

function router(ran: string[] = []): Router {
  const made = askingRouter()
  const options = { replay: true }
  made.tool('keyed', options, async (_params, session) => {
    ran.push('keyed')
    return told(await session.elicit(NAME, { key: 'who' }))
  })
  made.tool('anonymous', options, async (_params, session) => told(await session.elicit(NAME)))
  made.tool('together', options, async (_params, session) => {
    const { name, age } = await session.ask({ name: NAME, age: AGE })
    return `${told(name)} ${told(age)}`
  })
  made.tool('by_capability', options, async (_params, session) => {
    const { name, model } = await session.ask({ name: NAME, model: MODEL })
    return `${told(name)} ${told(model)}`
  })
  made.tool('twice', options, async (_params, session) => {
    await session.elicit(NAME, { key: 'same' })
    return told(await session.elicit(NAME, { key: 'same' }))
  })
  made.tool('raced', options, async (_params, session) => {
    const asked = session.elicit(NAME).then(told)
    const quick = new Promise<string>((resolve) => setTimeout(() => resolve('quicker'), 50))
    return await Promise.race([asked, quick])
  })
  made.tool('careful', {}, async (_params, session) => told(await session.elicit(NAME)))
  return made
}

describeModes('rounds', {}, (setup, cell) => {
  const call = async (
    client: Awaited<ReturnType<typeof setup>>,
    params: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>> & Partial<Asked>> =>
    (await client.request('tools/call', params)) as never

  verifies('asking.first-call', 'answers in the first call are for the questions of their keys', async () => {
    const client = await setup(router(), CLIENT)
    const inputResponses = { ...accept({ who: { name: 'Ada' }, name: { name: 'Bob' }, q1: { name: 'Eve' } }), extra: 5 }
    expect(textOf((await call(client, { name: 'keyed', inputResponses })) as never)).toBe('{"name":"Ada"}')
    expect(await call(client, { name: 'anonymous', inputResponses })).toMatchObject({ resultType: 'input_required' })
    const half = await call(client, { name: 'together', inputResponses })
    expect(Object.keys(half.inputRequests ?? {})).toEqual(['age'])
    const { requestState } = half
    const whole = await call(client, { name: 'together', requestState, inputResponses: accept({ age: { age: 36 } }) })
    expect(textOf(whole as never)).toBe('{"name":"Bob"} {"age":36}')
  })

  verifies('asking.responses', 'that are no object are refused, with a state or without', async () => {
    const ran: string[] = []
    const client = await setup(router(ran), CLIENT)
    const { requestState } = await call(client, { name: 'keyed' })
    for (const inputResponses of [null, 5, 'x', [], true]) {
      await expect(call(client, { name: 'keyed', inputResponses })).rejects.toMatchObject({ code: -32602 })
      const back = call(client, { name: 'keyed', requestState, inputResponses })
      await expect(back).rejects.toMatchObject({ code: -32602 })
    }
    const good = { name: 'keyed', requestState, inputResponses: accept({ who: { name: 'Ada' } }) }
    expect(textOf((await call(client, good)) as never)).toBe('{"name":"Ada"}')
    expect(ran).toHaveLength(cell.mode === 'park' ? 1 : 2)
  })

  verifies('asking.again', 'what is missing or does not fit is asked again, what fits is kept', async () => {
    const client = await setup(router(), CLIENT)
    const wrong = [
      {},
      undefined,
      { age: null },
      { age: 5 },
      { age: [] },
      { age: { action: 'accept', content: { age: -1 } } },
    ]
    for (const responses of wrong) {
      const first = await call(client, { name: 'together' })
      expect(Object.keys(first.inputRequests ?? {})).toEqual(['name', 'age'])
      const name = accept({ name: { name: 'Ada' } })
      const inputResponses = responses === undefined ? undefined : { ...name, ...responses }
      const { requestState } = first
      const second = await call(client, { name: 'together', requestState, inputResponses })
      expect(second).toMatchObject({ resultType: 'input_required' })
      expect(second.requestState).not.toBe(requestState)
      const open = responses === undefined ? ['name', 'age'] : ['age']
      expect(Object.keys(second.inputRequests ?? {})).toEqual(open)
      const rest = { ...(responses === undefined ? name : {}), ...accept({ age: { age: 36 } }) }
      const last = await call(client, { name: 'together', requestState: second.requestState, inputResponses: rest })
      expect(textOf(last as never)).toBe('{"name":"Ada"} {"age":36}')
    }
  })

  verifies('asking.together', 'ask only what the client can be asked', async () => {
    const client = await setup(router(), { elicit: ADA.elicit })
    expect(textOf(await client.callTool('by_capability'))).toBe('{"name":"Ada"} unsupported')
    const none = await setup.all.another()
    expect(textOf(await none.callTool('by_capability'))).toBe('unsupported unsupported')
    expect(none.requests).toEqual([])
  })

  verifies('asking.keys', 'take a key once', async () => {
    const client = await setup(router(), ADA)
    await expect(client.callTool('twice')).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
    expect(setup.all.expectErrors(1)).toMatchObject([{ message: expect.stringMatching(/'same' was asked already/) }])
  })

  verifies('asking.raced', 'whoever brings the answer gets what its handler came to without it', async () => {
    const client = await setup(router(), CLIENT)
    if (!cell.rounds) {
      expect(textOf(await client.callTool('raced'))).toBe('quicker')
      return
    }
    const { requestState } = await call(client, { name: 'raced' })
    await new Promise((resolve) => setTimeout(resolve, 80))
    const back = await call(client, { name: 'raced', requestState, inputResponses: accept({ q1: { name: 'Ada' } }) })
    expect(textOf(back as never)).toBe(cell.mode === 'park' ? 'quicker' : '{"name":"Ada"}')
  })

  verifies('asking.not-replayable', 'need a tool that may run again, where nothing waits', async () => {
    const client = await setup(router(), CLIENT)
    if (cell.mode === 'park') {
      const { requestState } = await call(client, { name: 'careful' })
      const back = { name: 'careful', requestState, inputResponses: accept({ q1: { name: 'Ada' } }) }
      expect(textOf((await call(client, back)) as never)).toBe('{"name":"Ada"}')
      return
    }
    await expect(client.callTool('careful')).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
    const [error] = setup.all.expectErrors(1)
    expect((error as Error).message).toMatch(/'careful'.*session\.once.*replay: true.*step.*mode: 'park'/)
  })

  verifies('asking.replay', 'of a handler that runs again tell nothing twice, and progress goes up', async () => {
    const made = askingRouter()
    made.tool('telling', { replay: true }, async (_params, session) => {
      await session.notifyProgress(1, 4)
      await session.log.warning('before')
      await session.elicit(NAME)
      await session.notifyProgress(2, 4)
      await session.notifyProgress(2, 4)
      await session.log.warning('between')
      await session.elicit(AGE)
      await session.notifyProgress(1, 4)
      await session.notifyProgress(3, 4)
      await session.log.warning('after')
      return 'done'
    })
    const client = await setup(made, { ...ADA, logLevel: 'warning' })
    expect(textOf(await client.callTool('telling', {}, { progressToken: 'p' }))).toBe('done')
    const progress = client.notified('notifications/progress').map((params) => params['progress'])
    expect(progress).toEqual([1, 2, 3])
    const logs = client.notified('notifications/message').map((params) => params['data'])
    expect(logs).toEqual(['before', 'between', 'after'])
  })

  verifies(
    'asking.once',
    'share one run of what runs once, keep no throw, and give what JSON makes of it',
    async () => {
      const made = askingRouter()
      let runs = 0
      const keys = new Set<string>()
      made.tool('pay', { replay: true }, async (_params, session: Session) => {
        const charge = (): Promise<unknown> =>
          session.once('charge', async (key) => {
            keys.add(key)
            runs++
            await new Promise((resolve) => setTimeout(resolve, 10))
            return { at: new Date(0), missing: undefined, run: runs }
          })
        const both = await Promise.all([charge(), charge()])
        const failed = await session
          .once('fails', () => {
            throw new Error('not now')
          })
          .catch((error: Error) => error.message)
        const then = await session.once('fails', () => 'now')
        await session.elicit(NAME)
        const later = await session.once('later', () => 5)
        await session.elicit(AGE)
        return JSON.stringify([both, failed, then, later, await charge(), await session.once('none', () => undefined)])
      })
      const client = await setup(made, ADA)
      const charged = { at: '1970-01-01T00:00:00.000Z', run: 1 }
      const result = JSON.parse(textOf(await client.callTool('pay')) as string)
      const failed = cell.mode === 'park' ? 'not now' : 'now'
      expect(result).toEqual([[charged, charged], failed, 'now', 5, charged, null])
      expect([runs, keys.size]).toEqual([1, 1])
      for (const value of [() => undefined, Symbol('x')]) {
        const bad = defineFor<object>().tool('pay', {}, async (_params, session) => {
          await session.once('bad', () => value)
          return 'never'
        })
        made.replace(bad)
        await expect(client.callTool('pay')).rejects.toMatchObject({ code: -32603 })
        expect(setup.all.expectErrors(1)).toMatchObject([{ message: expect.stringMatching(/'bad'.*JSON/) }])
      }
    },
  )

  verifies('asking.once', 'record what ran while the question was on its way', async () => {
    const made = askingRouter()
    let runs = 0
    made.tool('both', { replay: true }, async (_params, session: Session) => {
      const slow = session.once('slow', async () => {
        await new Promise((resolve) => setTimeout(resolve, 3))
        runs++
        return runs
      })
      const [answer] = await Promise.all([session.elicit(NAME), slow.catch(() => undefined)])
      return `${told(answer)} ${await slow}`
    })
    const client = await setup(made, CLIENT)
    if (!cell.rounds) return
    const { requestState } = await call(client, { name: 'both' })
    await expect.poll(() => runs, PATIENT).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 10))
    const back = await call(client, { name: 'both', requestState, inputResponses: accept({ q1: { name: 'Ada' } }) })
    expect(textOf(back as never)).toBe('{"name":"Ada"} 1')
  })

  verifies('asking.changed', 'are over when the handler asks something else', async () => {
    const backplaneless = async (made: Router): ReturnType<typeof connect> => connect(createServer(made), CLIENT)
    const client = await setup(router(), CLIENT)
    const asked = async (): Promise<Readonly<Record<string, unknown>>> => {
      const { requestState } = await call(client, { name: 'keyed' })
      return { name: 'keyed', requestState, inputResponses: accept({ who: { name: 'Ada' } }) }
    }
    const after: string[] = []
    const asking = (question: typeof NAME): Router => {
      const made = askingRouter()
      made.tool('keyed', { replay: true }, async (_params, session) => {
        const answer = await session.elicit(question, { key: 'who' })
        after.push(told(answer))
        return told(answer)
      })
      return made
    }
    const wider = Elicit.form({
      message: 'Your name?',
      fields: { name: field.string({ required: true, maxLength: 90 }) },
    })
    const reworded = Elicit.form({ message: 'In other words?', fields: { name: field.string({ required: true }) } })
    for (const question of [AGE, wider]) {
      const later = await backplaneless(asking(question as never))
      const refused = call(later, await asked())
      await expect(refused).rejects.toMatchObject({ code: -32602, data: { reason: 'handler_changed' } })
    }
    expect(after).toEqual([])
    const later = await backplaneless(asking(reworded as never))
    expect(textOf((await call(later, await asked())) as never)).toBe('{"name":"Ada"}')
  })

  verifies('asking.around', 'run middleware once for each request, around what it does', async () => {
    const ran: string[] = []
    const made = router(ran)
    made.use(async (session, next) => {
      ran.push(`in ${session.call.method}`)
      const outcome = await next()
      const result = outcome.ok ? outcome.result : {}
      ran.push((result as { resultType?: string }).resultType ?? Object.keys(result).join())
      return outcome
    })
    const client = await setup(made, ADA)
    ran.length = 0
    await client.callTool('keyed')
    const whole = ['in tools/call', 'keyed', 'content']
    const begun = ['in tools/call', 'keyed', 'input_required', 'in tools/call']
    if (!cell.rounds) expect(ran).toEqual(whole)
    else expect(ran).toEqual(cell.mode === 'park' ? [...begun, 'content'] : [...begun, 'keyed', 'content'])
  })

  verifies('asking.pauses', 'leave a tool the time that it had not used', async () => {
    const made = askingRouter()
    const aborted = gate<unknown>()
    made.tool('slow', { replay: true, timeoutMs: 100 }, async (_params, session) => {
      await session.elicit(NAME)
      await new Promise((resolve) => session.signal.addEventListener('abort', resolve))
      aborted.open(session.signal.reason)
      return 'never'
    })
    const elicit = async (): Promise<object> => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      return { name: 'Ada' }
    }
    const client = await setup(made, { elicit: elicit as never })
    const result = await client.callTool('slow')
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('100 ms') }] })
    expect(await aborted.promise).not.toBeInstanceOf(ContinuationMoved)
  })
})
