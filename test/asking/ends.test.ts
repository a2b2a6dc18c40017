import { McpError, type Router, type Session } from 'phantom-mcp'
import { expect } from 'vitest'
import { PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { type Asked, accept, askingRouter, describeModes, NAME, textOf, told } from './_asking.js'

const CLIENT = { capabilities: { elicitation: {} } }
const unanswered = (): Promise<never> => new Promise(() => undefined)

/** Tools that say how they end. */
function router(ended: string[]): Router {
  const made = askingRouter()
  made.tool('ask', { replay: true }, async (_params, session) => {
    try {
      const answer = told(await session.elicit(NAME, { timeoutMs: 400 }))
      ended.push(answer)
      return answer
    } catch (error) {
      ended.push(`thrown ${(error as Error).name} ${session.signal.aborted}`)
      throw error
    }
  })
  made.tool('work', { replay: true }, async (_params, session) => {
    await session.elicit(NAME)
    ended.push('answered')
    await aborted(session)
    ended.push(`aborted ${(session.signal.reason as Error).name}`)
    await expect(session.elicit(NAME, { key: 'more' })).rejects.toBe(session.signal.reason)
    ended.push('asks no more')
    return 'too late'
  })
  made.tool('error', { replay: true }, async (_params, session) => {
    const answer = await session.elicit(NAME)
    if (answer.action !== 'error') return answer.action
    expect(answer.error).toBeInstanceOf(McpError)
    return answer.error.message
  })
  return made
}

function aborted({ signal }: Session): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

describeModes('the end of a call that asks', {}, (setup, cell) => {
  verifies('asking.cancelled', 'comes with the cancellation; the open question is withdrawn', async () => {
    if (cell.rounds) return
    const ended: string[] = []
    const client = await setup(router(ended), { elicit: unanswered })
    const controller = new AbortController()
    const call = client.request('tools/call', { name: 'ask' }, { signal: controller.signal }).catch(() => undefined)
    await expect.poll(() => client.requests.length, PATIENT).toBe(1)
    controller.abort()
    await call
    await expect.poll(() => ended, PATIENT).toEqual(['thrown AbortError true'])
    const requestId = client.requests[0]?.['id']
    await expect.poll(() => client.notified('notifications/cancelled'), PATIENT).toMatchObject([{ requestId }])
  })

  verifies('asking.cancelled', 'comes when the client hangs up that has brought the answer', async () => {
    if (!cell.rounds) return
    const ended: string[] = []
    const client = await setup(router(ended), CLIENT)
    const { requestState } = (await client.request('tools/call', { name: 'work' })) as unknown as Asked
    const back = { name: 'work', requestState, inputResponses: accept({ q1: { name: 'Ada' } }) }
    const controller = new AbortController()
    const followUp = client
      .request('tools/call', back, { signal: controller.signal })
      .catch((error: Error) => error.name)
    await expect.poll(() => ended, PATIENT).toEqual(['answered'])
    controller.abort()
    expect(await followUp).toBe('AbortError')
    await expect.poll(() => ended, PATIENT).toEqual(['answered', 'aborted AbortError', 'asks no more'])
  })

  verifies(
    'asking.timeout',
    'is an answer of its own where the client says nothing; the question is withdrawn',
    async () => {
      if (cell.rounds) return
      const ended: string[] = []
      const client = await setup(router(ended), { elicit: unanswered })
      expect(textOf(await client.callTool('ask'))).toBe('timeout')
      const requestId = client.requests[0]?.['id']
      expect(client.notified('notifications/cancelled')).toMatchObject([{ requestId }])
    },
  )

  verifies('asking.timeout', 'does not depend on a stream that the client has let go', async () => {
    if (cell.rounds || !cell.http) return
    const ended: string[] = []
    const client = await setup(router(ended), { elicit: unanswered })
    const call = client.request('tools/call', { name: 'ask' }).catch(() => undefined)
    await expect.poll(() => client.requests.length, PATIENT).toBe(1)
    await setup.all.wire.close()
    await expect.poll(() => ended, PATIENT).toEqual(['timeout'])
    void call
  })

  verifies('asking.client-error', 'does not come with an error of the client', async () => {
    if (cell.rounds) return
    const failing = (): never => {
      throw new Error('x'.repeat(5_000))
    }
    const client = await setup(router([]), { elicit: failing })
    const said = textOf(await client.callTool('error')) as string
    expect(said).toMatch(/^The client failed to answer: Error: x+$/)
    expect(said.length).toBeLessThan(1_100)
  })

  verifies('asking.session-end', 'comes with the end of the connection', async () => {
    if (cell.http) return
    const ended: string[] = []
    const client = await setup(router(ended), cell.rounds ? CLIENT : { elicit: unanswered })
    const call = client.request('tools/call', { name: 'ask' }).catch(() => undefined)
    if (cell.rounds) await call
    else await expect.poll(() => client.requests.length, PATIENT).toBe(1)
    await client.close()
    const name = cell.mode === 'park' ? 'AbortError' : 'ContinuationMoved'
    await expect.poll(() => ended, PATIENT).toEqual([`thrown ${name} true`])
  })
})
