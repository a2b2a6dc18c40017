import type { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServerChild } from './children.js'
import type { ServerName } from './modules.js'
import { askingCall, modernCall } from './requests.js'
import { MAX_PARKED } from './servers/mcp-asking.js'
import { AT_ONCE, each, exchange, newAgent, Visit } from './visit.js'

/** Bytes of heap: for each of many, one figure a batch, or for all of them. */
export interface HeapFigures {
  readonly ours: readonly number[]
  /** The same of a bare server. */
  readonly theirs?: readonly number[]
  /** What else is worth telling. */
  readonly told?: string
}

const BATCHES = 5
const SESSIONS_A_BATCH = 1_500
/** With what else is open, fewer than the 1024 files that many systems allow a process. */
const STREAMS_A_BATCH = 130
const WARM_UP = 300
const ABANDONED = 10_000
/** More than the life of a session, and what is added to it for writes that are saved. */
const LATER_MS = 60_000
const GONE_WITHIN_MS = 14_000
/** What looks after old sessions does so every five seconds. */
const SWEPT_WITHIN_MS = 6_000
const LOOK_EVERY_MS = 1_000

/** What is measured, by name; the server is in a process of its own, its clients are here. */
export const HEAPS = {
  /** Sessions that have made a call and have no connection. */
  idleSessions: async (): Promise<HeapFigures> => {
    const server = await start('mcp-sessions')
    const ours = await batches(server, SESSIONS_A_BATCH, { hold: false, open: (visit) => visit.call() })
    return { ours }
  },
  /** The stream of a session, beyond the session itself, whose client has another connection for its requests. */
  getStreams: async (): Promise<HeapFigures> => await streams((visit) => visit.openGet()),
  /** `subscriptions/listen`, which needs no session. */
  listenStreams: async (): Promise<HeapFigures> => await streams((visit) => visit.openListen()),
  /** A call of 2026-07-28 whose handler waits for an answer; there is room for 1,000, and the next one is refused. */
  parkedHandlers: async (): Promise<HeapFigures> => await parkedHandlers(),
  /** What is left of 10,000 sessions when their time is over; every tenth made a call, every hundredth had a stream. */
  abandoned: async (): Promise<HeapFigures> => await abandonedSessions(),
} as const

export type HeapName = keyof typeof HEAPS

async function streams(open: (visit: Visit) => Promise<void>): Promise<HeapFigures> {
  const measure = async (name: ServerName): Promise<readonly number[]> =>
    await batches(await start(name), STREAMS_A_BATCH, { hold: true, open })
  return { ours: await measure('mcp-sessions'), theirs: await measure('bare-sessions') }
}

async function start(name: ServerName): Promise<ServerChild> {
  return await ServerChild.start(name, { nodeOptions: ['--expose-gc'] })
}

interface Opening {
  /** Whether what is opened stays connected. */
  readonly hold: boolean
  open(visit: Visit): Promise<void>
}

async function batches(server: ServerChild, count: number, { hold, open }: Opening): Promise<readonly number[]> {
  const agent = newAgent()
  const held: Visit[] = []
  const figures: number[] = []
  const openAll = async (visits: readonly Visit[]): Promise<void> => void (await each(visits, open))
  const visits = async (many: number): Promise<readonly Visit[]> => {
    const opened = await each(Array.from({ length: many }), () => Visit.begin(server, agent))
    held.push(...opened)
    return opened
  }
  await openAll(await visits(hold ? AT_ONCE : WARM_UP))
  for (let batch = 0; batch < BATCHES; batch++) {
    // What a stream costs is told without the session that it is of.
    const sessions = hold ? await visits(count) : undefined
    const before = await heapOf(server, { agent, held })
    await openAll(sessions ?? (await visits(count)))
    figures.push(((await heapOf(server, { agent, held })) - before) / count)
  }
  for (const visit of held) visit.leave()
  await server.close()
  return figures
}

async function parkedHandlers(): Promise<HeapFigures> {
  const server = await start('mcp-asking')
  const agent = newAgent()
  const post = async ({ headers, body }: Pick<typeof modernCall, 'headers' | 'body'>): Promise<void> =>
    void (await exchange({ port: server.port, agent, method: 'POST', headers }, body))
  await each(Array.from({ length: WARM_UP }), () => post(modernCall))
  const count = MAX_PARKED / BATCHES
  const ours: number[] = []
  for (let batch = 0; batch < BATCHES; batch++) {
    const before = await heapOf(server, { agent, held: [] })
    await each(Array.from({ length: count }), () => post(askingCall))
    ours.push(((await heapOf(server, { agent, held: [] })) - before) / count)
  }
  const told = await post(askingCall).then(
    () => 'the next one was taken',
    (error: Error) => `the next one: ${error.message}`,
  )
  await server.close()
  if (!told.endsWith(' 503')) throw new Error(`There is room for ${MAX_PARKED}, but ${told}`)
  return { ours, told }
}

async function abandonedSessions(): Promise<HeapFigures> {
  const server = await start('mcp-sessions')
  const agent = newAgent()
  const visit = async (index: number): Promise<void> => {
    const guest = await Visit.begin(server, agent)
    if (index % 10 === 0) await guest.call()
    if (index % 100 === 0) await guest.openGet()
    guest.leave()
  }
  await each(Array.from({ length: WARM_UP }), (_one, index) => visit(index))
  await server.advance(LATER_MS)
  await sleep(SWEPT_WITHIN_MS)
  const before = await heapOf(server, { agent, held: [] })
  await each(Array.from({ length: ABANDONED }), (_one, index) => visit(index))
  const full = await heapOf(server, { agent, held: [] })
  await server.advance(LATER_MS)
  const after = await settled(server, agent, before)
  await server.close()
  const mega = (bytes: number): string => (bytes / 1e6).toFixed(1)
  return { ours: [after - before], told: `${mega(before)} MB before, ${mega(full)} full, ${mega(after)} after` }
}

/** The heap once it is what it was, or has had its time. */
async function settled(server: ServerChild, agent: Agent, wanted: number): Promise<number> {
  const deadline = Date.now() + GONE_WITHIN_MS
  let least = await heapOf(server, { agent, held: [] })
  while (Date.now() < deadline && least > wanted * 1.02) {
    await sleep(LOOK_EVERY_MS)
    least = Math.min(least, await heapOf(server, { agent, held: [] }))
  }
  return least
}

async function heapOf(
  server: ServerChild,
  { agent, held }: { readonly agent: Agent; readonly held: readonly Visit[] },
): Promise<number> {
  // Connections that are only kept for the next request cost something, too.
  agent.destroy()
  return await server.heap(held.filter((visit) => visit.streams).length)
}
