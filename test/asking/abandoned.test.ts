import { createServer } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { afterEach, expect } from 'vitest'
import { PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { askingRouter, NAME, told } from './_asking.js'

// A client of 2025-11-25 over real sockets, which goes away while a tool of its waits for it.

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

interface Waiting {
  readonly ended: string[]
  /** The id of the question. */
  readonly question: string
  /** Sends a message of the client's session. */
  post(message: object): Promise<Response>
  /** Lets go of the connection of the call. */
  hangUp(): void
  delete(): Promise<Response>
  /** What the call's stream says, once it has ended. */
  readonly rest: Promise<string>
}

/** Calls a tool that asks, and resolves when the question has come. */
async function callAndWait(sessionTtlMs?: number): Promise<Waiting> {
  const ended: string[] = []
  const router = askingRouter()
  router.tool('ask', {}, async (_params, session) => {
    try {
      ended.push(told(await session.elicit(NAME)))
    } catch (error) {
      ended.push((error as Error).name)
    }
    return 'over'
  })
  const server = createServer(router, sessionTtlMs === undefined ? {} : { sessionTtlMs })
  const serving = await serve(server, { port: 0, signals: false })
  closers.push(() => serving.close())
  const accept = 'application/json, text/event-stream'
  const headers: Record<string, string> = { 'content-type': 'application/json', accept }
  const controller = new AbortController()
  const post = (message: object, signal?: AbortSignal): Promise<Response> =>
    fetch(serving.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal === undefined ? {} : { signal }),
    })
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'x', version: '1' },
  }
  const begun = await post({ id: 1, method: 'initialize', params })
  headers['mcp-session-id'] = begun.headers.get('mcp-session-id') ?? ''
  headers['mcp-protocol-version'] = '2025-11-25'
  await post({ method: 'notifications/initialized' })
  const call = await post({ id: 2, method: 'tools/call', params: { name: 'ask' } }, controller.signal)
  const reader = (call.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('elicitation/create')) text += decoder.decode((await reader.read()).value)
  const rest = async (): Promise<string> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text
      text += decoder.decode(value)
    }
  }
  return {
    ended,
    question: /"id":"([^"]+)","method":"elicitation/.exec(text)?.[1] ?? 'none',
    post,
    hangUp: () => controller.abort(),
    delete: () => fetch(serving.url, { method: 'DELETE', headers }),
    rest: rest().catch(() => 'hung up'),
  }
}

verifies(['field.L4', 'asking.session-end'], 'a handler is released when its client ends the session', async () => {
  const call = await callAndWait()
  await call.delete()
  await expect.poll(() => call.ended, PATIENT).toEqual(['AbortError'])
  expect(await call.rest).not.toContain('"result"')
})

verifies(['field.L4', 'asking.session-end'], 'a handler is released when its session runs out of time', async () => {
  const call = await callAndWait(200)
  call.hangUp()
  await expect.poll(() => call.ended, PATIENT).toEqual(['AbortError'])
})

verifies('field.L4', 'a session is not out of time while its client is there', async () => {
  const call = await callAndWait(200)
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(call.ended).toEqual([])
  await call.delete()
})

verifies('field.L4', 'a handler is released when its client gives the call up', async () => {
  const call = await callAndWait()
  await call.post({ method: 'notifications/cancelled', params: { requestId: 2, reason: 'bye' } })
  await expect.poll(() => call.ended, PATIENT).toEqual(['AbortError'])
  expect(await call.rest).toContain('notifications/cancelled')
})

verifies('field.L4', 'a client that has hung up, but answers, is waited for', async () => {
  const call = await callAndWait()
  call.hangUp()
  await call.rest
  expect(call.ended).toEqual([])
  await call.post({ id: call.question, result: { action: 'accept', content: { name: 'Ada' } } })
  await expect.poll(() => call.ended, PATIENT).toEqual(['{"name":"Ada"}'])
})
