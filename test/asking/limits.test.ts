import {
  type Connecting,
  type ConnectRequest,
  ContinuationMoved,
  createServer,
  type Router,
  type Server,
  type ServerOptions,
} from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { connect } from 'phantom-mcp/testing'
import { afterEach, expect } from 'vitest'
import { PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { accept, askingRouter, NAME, told } from './_asking.js'

const CLIENT = { capabilities: { elicitation: {} } }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}

const errors: unknown[] = []
const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ drainMs: 0 })))
  expect(errors.splice(0)).toEqual([])
})

/** Counts the first lines of its handlers, and why they were let go. */
function router(begun: string[], moved: unknown[] = [], options: object = {}): Router {
  const made = askingRouter(options)
  for (const replay of [true, false]) {
    made.tool(replay ? 'again' : 'careful', { replay }, async (_params, session) => {
      begun.push(session.call.name ?? '')
      session.signal.addEventListener('abort', () => moved.push(session.signal.reason))
      return told(await session.elicit(NAME, { timeoutMs: 60_000 }))
    })
  }
  return made
}

interface Answered {
  readonly status: number
  readonly retryAfter: string | null
  readonly result?: { readonly requestState?: string; readonly content?: readonly { readonly text: string }[] }
  readonly error?: object
}

/** One POST of 2026-07-28. */
function posts(
  made: Router,
  options: ServerOptions = {},
): (name: string, more?: { readonly user?: string; readonly state?: string | undefined }) => Promise<Answered> {
  const server = createServer(made, { onError: (error) => errors.push(error), ...options })
  servers.push(server)
  const handle = fetchHandler(server)
  return async (name, { user = 'ana', state } = {}) => {
    const back = state === undefined ? {} : { requestState: state, inputResponses: accept({ q1: { name: 'Ada' } }) }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta: META, ...back } }
    const headers = {
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      'x-user': user,
    }
    const answer = await handle(
      new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) }),
    )
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      ...((await answer.json()) as object),
    }
  }
}

const NAMED = {
  connect: (session: Connecting, request: ConnectRequest) =>
    session.assign({ user: request.headers.get('x-user') ?? 'nobody' }),
  principal: ({ assigns }: { assigns: { user: string } }) => assigns.user,
}

const REFUSED = {
  status: 503,
  retryAfter: expect.stringMatching(/^\d+$/),
  error: { code: -32603, data: { reason: 'too_many_parked', retryable: true } },
}

verifies('asking.parked', 'the one that has waited longest makes room, and goes on all the same', async () => {
  const [begun, moved]: [string[], unknown[]] = [[], []]
  const post = posts(router(begun, moved), { continuations: { maxParked: 2 } })
  const states: (string | undefined)[] = []
  for (let call = 0; call < 3; call++) states.push((await post('again')).result?.requestState)
  expect(moved).toEqual([expect.any(ContinuationMoved)])
  expect(begun).toHaveLength(3)
  for (const state of states) {
    expect((await post('again', { state })).result?.content).toMatchObject([{ text: '{"name":"Ada"}' }])
  }
  // Only the first had to run again.
  expect(begun).toHaveLength(4)
})

verifies(
  'asking.parked',
  'those that may not run again never go: who comes then is refused, and may try again',
  async () => {
    const [begun, moved]: [string[], unknown[]] = [[], []]
    const post = posts(router(begun, moved), { continuations: { maxParked: 2 } })
    const [first, second] = [await post('careful'), await post('careful')]
    expect(await post('careful')).toMatchObject(REFUSED)
    // What can go on without waiting needs no room.
    const light = await post('again')
    expect(light.result?.requestState).toEqual(expect.any(String))
    expect(moved).toHaveLength(2)
    for (const [name, { result }] of [
      ['careful', first] as const,
      ['careful', second] as const,
      ['again', light] as const,
    ]) {
      const back = await post(name, { state: result?.requestState })
      expect(back.result?.content).toMatchObject([{ text: '{"name":"Ada"}' }])
    }
    expect((await post('careful')).result?.requestState).toEqual(expect.any(String))
  },
)

verifies('asking.parked', 'one caller does not take the room of the others', async () => {
  const [begun, moved]: [string[], unknown[]] = [[], []]
  const post = posts(router(begun, moved, NAMED), { continuations: { maxParked: 100, maxPerPrincipal: 2 } })
  const bo = await post('careful', { user: 'bo' })
  for (let call = 0; call < 2; call++) expect((await post('careful')).status).toBe(200)
  expect(await post('careful')).toMatchObject(REFUSED)
  expect((await post('careful', { user: 'bo' })).status).toBe(200)
  expect(await post('careful', { user: 'bo' })).toMatchObject(REFUSED)
  const back = await post('careful', { user: 'bo', state: bo.result?.requestState })
  expect(back.result?.content).toMatchObject([{ text: '{"name":"Ada"}' }])
})

verifies('asking.parked', 'callers without a name are counted together', async () => {
  const post = posts(router([]), { continuations: { maxParked: 4, maxPerPrincipal: 1 } })
  const statuses: number[] = []
  for (let call = 0; call < 5; call++) statuses.push((await post('careful')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 503])
})

verifies('asking.parked', 'the room is free again when the time is up', async () => {
  const made = askingRouter()
  const ended: string[] = []
  made.tool('short', {}, async (_params, session) => {
    ended.push(told(await session.elicit(NAME, { timeoutMs: 50 })))
    return 'over'
  })
  const post = posts(made, { continuations: { maxParked: 1 } })
  expect((await post('short')).status).toBe(200)
  expect(await post('short')).toMatchObject(REFUSED)
  await expect.poll(() => ended, PATIENT).toEqual(['timeout'])
  expect((await post('short')).status).toBe(200)
  await expect.poll(() => ended, PATIENT).toEqual(['timeout', 'timeout'])
})

verifies('asking.drain', 'what can go on elsewhere is let go at once, and goes on there', async () => {
  const [begun, moved]: [string[], unknown[]] = [[], []]
  const post = posts(router(begun, moved))
  const { result } = await post('again')
  const startedMs = Date.now()
  await servers[0]?.close({ drainMs: 5_000 })
  expect(Date.now() - startedMs).toBeLessThan(1_000)
  expect(moved).toEqual([expect.any(ContinuationMoved)])
  const later = posts(router(begun))
  expect((await later('again', { state: result?.requestState })).result?.content).toMatchObject([
    { text: '{"name":"Ada"}' },
  ])
  expect(begun).toHaveLength(2)
})

verifies('asking.drain', 'what can not is waited for, and its answer is still taken', async () => {
  const post = posts(router([]))
  const [{ result }, light] = [await post('careful'), await post('again')]
  let closed = false
  const closing = servers[0]?.close({ drainMs: 5_000 }).then(() => {
    closed = true
  })
  expect(await post('careful')).toMatchObject({ status: 503, error: { data: { reason: 'shutting_down' } } })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(closed).toBe(false)
  // What was let go still goes on where its client comes back to.
  const again = await post('again', { state: light.result?.requestState })
  expect(again.result?.content).toMatchObject([{ text: '{"name":"Ada"}' }])
  const back = await post('careful', { state: result?.requestState })
  expect(back.result?.content).toMatchObject([{ text: '{"name":"Ada"}' }])
  await closing
  expect(closed).toBe(true)
})

verifies('asking.drain', 'what asks only while the server closes is let go too', async () => {
  const made = askingRouter()
  let begun = 0
  made.tool('slow', { replay: true }, async (_params, session) => {
    begun++
    await new Promise((resolve) => setTimeout(resolve, 100))
    return told(await session.elicit(NAME))
  })
  const post = posts(made)
  const asking = post('slow')
  await expect.poll(() => begun, PATIENT).toBe(1)
  const startedMs = Date.now()
  const closing = servers[0]?.close({ drainMs: 5_000 })
  expect((await asking).result?.requestState).toEqual(expect.any(String))
  await closing
  expect(Date.now() - startedMs).toBeLessThan(2_000)
})

verifies('asking.drain', 'what is left after its time is aborted with what the client is told', async () => {
  const moved: unknown[] = []
  const made = router([], moved)
  const post = posts(made)
  const { result } = await post('careful')
  await servers[0]?.close({ drainMs: 50 })
  expect(moved).toMatchObject([{ name: 'McpError', data: { reason: 'shutting_down' } }])
  const later = await connect(createServer(made), CLIENT)
  const back = { name: 'careful', requestState: result?.requestState, inputResponses: accept({ q1: { name: 'Ada' } }) }
  await expect(later.request('tools/call', back)).rejects.toMatchObject({ data: { reason: 'node_lost' } })
})
