import { type Answer, Elicit, field, type Router, type Session, Tool } from 'phantom-mcp'
import type { ClientOptions, TestClient } from 'phantom-mcp/testing'
import { expect } from 'vitest'
import { gate, PATIENT } from '../_messages.js'
import { describeMatrix, verifies } from '../_setup.js'
import { askingRouter, ELICITING, textOf } from './_asking.js'

const NAME = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
const AGE = Elicit.form({ message: 'Your age?', fields: { age: field.integer({ required: true, minimum: 0 }) } })

const told = (answer: Answer<object>): string =>
  answer.action === 'accept' ? JSON.stringify(answer.content) : answer.action

/** Tools that say what they were told, and count how often their first lines ran. */
function router(seen: string[] = []): Router {
  const made = askingRouter()
  made.tool('one', { replay: true }, async (_params, session) => {
    seen.push('begun')
    const answer = await session.elicit(NAME, { timeoutMs: 200 })
    seen.push(told(answer))
    return told(answer)
  })
  made.tool('in_sequence', { replay: true }, async (_params, session) => {
    const name = await session.elicit(NAME)
    const age = await session.elicit(AGE)
    return `${told(name)} ${told(age)}`
  })
  made.tool('at_once', { replay: true }, async (_params, session) => {
    const { name, age } = await session.ask({ name: NAME, age: AGE })
    return `${told(name)} ${told(age)}`
  })
  made.tool('by_key', { replay: true }, async (_params, session) => {
    const answers = await Promise.all([session.elicit(NAME, { key: 'who' }), session.elicit(AGE, { key: 'old' })])
    return answers.map(told).join(' ')
  })
  made.prompt('greet', {}, async (_params, session) => `Greet ${told(await session.elicit(NAME))}`)
  made.resource('notes://mine', { name: 'mine' }, async (_params, session) => told(await session.elicit(NAME)))
  return made
}

const ADA = { elicit: (params: object) => ('age' in properties(params) ? { age: 36 } : { name: 'Ada' }) }
const properties = (params: object): object =>
  (params as { requestedSchema: { properties: object } }).requestedSchema.properties

for (const mode of ['park', 'replay'] as const) {
  const versions = mode === 'park' ? ELICITING : ELICITING.slice(2)
  describeMatrix(`asking while the handler waits, ${mode}`, { versions }, (setup, cell) => {
    const connect = (made: Router, options: ClientOptions = {}): Promise<TestClient> =>
      setup(made, { ...options, server: { continuations: { mode } } })
    const call = async (options: ClientOptions, tool = 'one', seen: string[] = []): Promise<unknown> =>
      textOf(await (await connect(router(seen), options)).callTool(tool))

    verifies('asking.inline', 'gives what the user has filled in', async () => {
      expect(await call(ADA)).toBe('{"name":"Ada"}')
    })

    verifies('asking.inline', 'gives a refusal as a value', async () => {
      expect(await call({ elicit: () => 'decline' })).toBe('decline')
      expect(await call({ elicit: () => 'cancel' })).toBe('cancel')
    })

    verifies('asking.unsupported', 'gives unsupported to who cannot be asked, and asks nothing', async () => {
      const client = await connect(router())
      expect(textOf(await client.callTool('one'))).toBe('unsupported')
      expect(client.requests).toEqual([])
      const urlOnly = await setup.another({ elicit: ADA.elicit, capabilities: { elicitation: { url: {} } } })
      if (cell.version !== '2025-06-18') expect(textOf(await urlOnly.callTool('one'))).toBe('unsupported')
    })

    verifies('asking.inline', 'asks one question after the other', async () => {
      expect(await call(ADA, 'in_sequence')).toBe('{"name":"Ada"} {"age":36}')
    })

    verifies('asking.inline', 'asks several at once, by name or by key', async () => {
      expect(await call(ADA, 'at_once')).toBe('{"name":"Ada"} {"age":36}')
      expect(await call(ADA, 'by_key')).toBe('{"name":"Ada"} {"age":36}')
    })

    verifies('asking.inline', 'asks for prompts and resources too', async () => {
      const client = await connect(router(), ADA)
      expect((await client.getPrompt('greet')).messages).toEqual([
        { role: 'user', content: { type: 'text', text: 'Greet {"name":"Ada"}' } },
      ])
      expect((await client.readResource('notes://mine')).contents).toMatchObject([{ text: '{"name":"Ada"}' }])
    })

    verifies('asking.timeout', 'goes on without an answer when the time is up, and takes none after that', async () => {
      const seen: string[] = []
      const client = await connect(router(seen), { capabilities: { elicitation: {} } })
      if (cell.sessions) {
        expect(textOf(await client.callTool('one'))).toBe('timeout')
      } else {
        const asked = await client.callTool('one')
        await new Promise((resolve) => setTimeout(resolve, 300))
        const { requestState } = asked as { requestState?: unknown }
        const inputResponses = { q1: { action: 'accept', content: { name: 'Ada' } } }
        const late = client.request('tools/call', { name: 'one', requestState, inputResponses })
        await expect(late).rejects.toMatchObject({ code: -32602, data: { reason: 'expired' } })
      }
      await expect.poll(() => seen.at(-1), PATIENT).toBe('timeout')
      expect(seen).not.toContain('{"name":"Ada"}')
    })

    verifies('asking.keys', 'refuses two questions that only their order tells apart', async () => {
      const made = askingRouter()
      made.tool('both', { replay: true }, async (_params, session) => {
        const first = session.elicit(NAME)
        await expect(session.elicit(AGE)).rejects.toThrow(/give both a key, or ask them together/)
        return told(await first)
      })
      const client = await connect(made, ADA)
      expect(textOf(await client.callTool('both'))).toBe('{"name":"Ada"}')
    })

    verifies('asking.own-session', 'sends progress and logs of each round on its own request', async () => {
      const made = askingRouter()
      made.tool('steps', { replay: true }, async (_params, session) => {
        await session.notifyProgress(1)
        await session.elicit(NAME)
        await session.notifyProgress(2)
        return 'done'
      })
      const client = await connect(made, ADA)
      await client.callTool('steps', {}, { progressToken: 'p' })
      expect(client.notified('notifications/progress').map(({ progress }) => progress)).toEqual([1, 2])
    })

    verifies('asking.pauses', 'stands still while its client is asked', async () => {
      const made = askingRouter()
      const answered = gate()
      const running: string[] = []
      made.tool('slow', { replay: true, timeoutMs: 150, maxConcurrency: 1 }, async (_params, session) => {
        running.push('begun')
        const answer = await session.elicit(NAME)
        return told(answer)
      })
      const elicit = async (): Promise<object> => {
        await answered.promise
        return { name: 'Ada' }
      }
      const client = await connect(made, { elicit: elicit as never })
      const first = client.callTool('slow')
      await expect.poll(() => running.length, PATIENT).toBe(1)
      await new Promise((resolve) => setTimeout(resolve, 250))
      // The first has given its place back.
      const second = client.callTool('slow')
      await expect.poll(() => running.length, PATIENT).toBe(2)
      answered.open()
      expect([textOf(await first), textOf(await second)]).toEqual(['{"name":"Ada"}', '{"name":"Ada"}'])
    })
  })
}

describeMatrix('answers that do not fit', { versions: ELICITING }, (setup, cell) => {
  verifies('asking.validates', 'are asked again, or are an error of the client', async () => {
    let asked = 0
    const client = await setup(router(), {
      elicit: (params) => {
        asked++
        return asked < 3 ? { name: 5 } : ADA.elicit(params)
      },
    })
    const result = textOf(await client.callTool('in_sequence'))
    expect(result).toBe(cell.sessions ? 'error error' : '{"name":"Ada"} {"age":36}')
    expect(asked).toBe(cell.sessions ? 2 : 4)
  })
})

describeMatrix('a part of a handler that runs once', { versions: ELICITING }, (setup) => {
  for (const mode of ['park', 'replay'] as const) {
    verifies('asking.once', `is not run again, ${mode}`, async () => {
      const made = askingRouter()
      const keys: string[] = []
      made.tool('pay', { replay: true }, async (_params, session: Session) => {
        const paid = await session.once('charge', (key) => {
          keys.push(key)
          return { at: new Date(0), count: keys.length }
        })
        await session.elicit(NAME)
        const again = await session.once('charge', () => {
          throw new Error('not again')
        })
        return Tool.structured({ paid, again })
      })
      const client = await setup(made, { ...ADA, server: { continuations: { mode } } })
      const { structuredContent } = await client.callTool('pay')
      expect(JSON.parse(textOf(await client.callTool('pay')) as string)).toEqual({
        paid: { at: '1970-01-01T00:00:00.000Z', count: 2 },
        again: { at: '1970-01-01T00:00:00.000Z', count: 2 },
      })
      expect(structuredContent === undefined || typeof structuredContent === 'object').toBe(true)
      expect(keys).toHaveLength(2)
      expect(new Set(keys).size).toBe(2)
    })
  }
})
