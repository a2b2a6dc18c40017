import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { MemoryPubSub } from '../backplane/memory-pub-sub.js'
import { MemoryStore } from '../backplane/memory-store.js'
import { codecOf } from '../protocol/codecs.js'
import { Access } from '../router/access.js'
import { EventChannel } from './event-channel.js'
import { type LiveSession, SessionStream } from './live-session.js'
import { OperatorLog } from './operator-log.js'
import { Sessions } from './sessions.js'
import { StreamLog } from './stream-log.js'

const CODEC = codecOf('2025-11-25')
const TTL = 1000

let now = 0
let ids = 0
let store: MemoryStore
beforeEach(() => {
  now = 1_000_000
  ids = 0
  store = new MemoryStore({ clock: () => now })
})

const create = (max = 100, pubSub = new MemoryPubSub()): Sessions =>
  new Sessions({
    store,
    pubSub,
    report: console.error,
    ttlMs: TTL,
    max,
    maxOfCaller: 100,
    log: new OperatorLog(undefined, console.error),
    clock: () => now,
    ids: () => `id-${++ids}`,
  })

async function begin(sessions: Sessions, principal: string | null = null): Promise<LiveSession> {
  const session = sessions.open(CODEC, principal)
  expect(await sessions.keep(session)).toBe(true)
  return session
}

/** Its own stream, which a client is about to have. */
function openStream(session: LiveSession): SessionStream {
  const log = new StreamLog(store, session.id, { name: 'session', options: { entries: 10, bytes: 1000, ttlMs: TTL } })
  const channel = new EventChannel(log, console.error)
  session.stream = new SessionStream({ session, channel, access: new Access(session.id), onOver: () => undefined })
  return session.stream
}

/** Whether a request of the session is let in. */
async function isKnown(sessions: Sessions, id: string, principal: string | null = null): Promise<boolean> {
  const session = await sessions.use(id, principal)
  if (session !== undefined) sessions.release(session)
  return session !== undefined
}

describe('a session', () => {
  test('is known from when it is kept', async () => {
    const sessions = create()
    const session = sessions.open(CODEC, null)
    expect(await isKnown(sessions, session.id)).toBe(false)
    await sessions.keep(session)
    expect(await isKnown(sessions, session.id)).toBe(true)
    expect(await isKnown(sessions, 'id-9')).toBe(false)
    expect(await isKnown(sessions, '')).toBe(false)
  })

  test('comes back as it was written', async () => {
    const sessions = create()
    const session = sessions.open(codecOf('2025-06-18'), 'ada')
    session.client.info = { name: 'client', version: '1' }
    session.client.capabilities = { roots: {} }
    await sessions.keep(session)
    const again = await create().use(session.id, 'ada')
    expect(again?.client).toMatchObject({
      info: { name: 'client', version: '1' },
      capabilities: { roots: {} },
      sessionId: session.id,
    })
    expect(again?.client.codec.version).toBe('2025-06-18')
    session.client.logLevel = 'error'
    session.client.follow('notes://1')
    await sessions.save(session)
    const later = await create().use(session.id, 'ada')
    expect([later?.client.logLevel, [...(later?.client.subscriptions ?? [])]]).toEqual(['error', ['notes://1']])
  })

  test('is its own caller’s alone', async () => {
    const sessions = create()
    const { id } = await begin(sessions, 'ada')
    expect(await isKnown(sessions, id, 'bo')).toBe(false)
    expect(await isKnown(sessions, id, null)).toBe(false)
    expect(await isKnown(sessions, id, 'ada')).toBe(true)
  })

  test('is one for requests at the same time', async () => {
    const sessions = create()
    const { id } = await begin(sessions)
    const [one, two] = await Promise.all([sessions.use(id, null), sessions.use(id, null)])
    expect(one).toBeDefined()
    expect(one).toBe(two)
  })

  test('ends when it was not used for its time, and not before', async () => {
    const sessions = create()
    const { id } = await begin(sessions)
    now += TTL
    expect(await isKnown(sessions, id)).toBe(true)
    for (let times = 0; times < 10; times++) {
      now += TTL * 0.9
      expect(await isKnown(sessions, id)).toBe(true)
    }
    now += TTL * 1.3
    expect(await isKnown(sessions, id)).toBe(false)
  })

  test('has its time renewed while something of it is open', async () => {
    const sessions = create()
    const { id } = await begin(sessions)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const session = (await sessions.use(id, null)) as LiveSession
    for (let times = 0; times < 10; times++) {
      now += TTL * 0.9
      await vi.advanceTimersByTimeAsync(TTL / 4)
    }
    expect(await isKnown(sessions, id)).toBe(true)
    sessions.release(session)
    await vi.advanceTimersByTimeAsync(TTL / 4)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that has ended is unknown, and its calls are cancelled', async () => {
    const sessions = create()
    const { id } = await begin(sessions)
    const session = (await sessions.use(id, null)) as LiveSession
    const reasons: (string | undefined)[] = []
    let told = 0
    session.client.calls?.set(1, { abort: () => undefined, cancel: (reason) => reasons.push(reason) })
    session.onEnd(() => told++)
    const silent = session.onEnd(() => told++)
    silent()
    await sessions.end(session)
    expect(reasons).toEqual([expect.stringMatching(/\S/)])
    expect(told).toBe(1)
    expect(session.ended).toBe(true)
    expect(await isKnown(sessions, id)).toBe(false)
    await sessions.save(session)
    expect(await isKnown(sessions, id)).toBe(false)
  })
})

describe('a session of two nodes', () => {
  /** Two nodes; what one publishes the other one does not hear. */
  const pair = (): [Sessions, Sessions] => [create(), create()]

  test('that has ended on one does not come back on the other', async () => {
    const [here, there] = pair()
    const { id } = await begin(here)
    const held = (await there.use(id, null)) as LiveSession
    await here.end((await here.use(id, null)) as LiveSession)
    expect(await isKnown(there, id)).toBe(false)
    expect(held.ended).toBe(true)
    await there.save(held)
    expect([await isKnown(here, id), await isKnown(there, id)]).toEqual([false, false])
    expect(await store.get(`session/${id}`)).toBeUndefined()
  })

  test('that has ended on one is not written by the other', async () => {
    const [here, there] = pair()
    const { id } = await begin(here)
    const held = (await there.use(id, null)) as LiveSession
    await here.end((await here.use(id, null)) as LiveSession)
    held.client.follow('notes://1')
    await there.save(held)
    expect(held.ended).toBe(true)
    expect(await store.get(`session/${id}`)).toBeUndefined()
  })

  test('is written by both', async () => {
    const [here, there] = pair()
    const { id } = await begin(here)
    const [one, two] = [(await here.use(id, null)) as LiveSession, (await there.use(id, null)) as LiveSession]
    for (const [sessions, session, level] of [
      [here, one, 'error'],
      [there, two, 'info'],
      [here, one, 'debug'],
    ] as const) {
      session.client.logLevel = level
      await sessions.save(session)
      expect((await create().use(id, null))?.client.logLevel).toBe(level)
    }
  })
})

describe('a store that fails for a moment', () => {
  test('costs the request, and neither the session nor its time', async () => {
    const sessions = create()
    const { id } = await begin(sessions)
    now += TTL * 0.5
    const failing = vi.spyOn(store, 'set').mockRejectedValueOnce(new Error('away'))
    await expect(sessions.use(id, null)).rejects.toThrow('away')
    failing.mockRestore()
    expect(await isKnown(sessions, id)).toBe(true)
    now += TTL * 1.3
    expect(await isKnown(sessions, id)).toBe(false)
  })

  test('leaves a session that could not be ended to be ended again', async () => {
    const sessions = create()
    const session = (await sessions.use((await begin(sessions)).id, null)) as LiveSession
    const failing = vi.spyOn(store, 'delete').mockRejectedValueOnce(new Error('away'))
    await expect(sessions.end(session)).rejects.toThrow('away')
    failing.mockRestore()
    expect(session.ended).toBe(false)
    expect(await isKnown(sessions, session.id)).toBe(true)
    await sessions.end(session)
    expect(await isKnown(sessions, session.id)).toBe(false)
  })
})

test('leaving takes the subscription along', async () => {
  const pubSub = new MemoryPubSub()
  const unsubscribe = vi.fn(async () => undefined)
  vi.spyOn(pubSub, 'subscribe').mockResolvedValueOnce(unsubscribe)
  create(1, pubSub).leave()
  await vi.waitFor(() => expect(unsubscribe).toHaveBeenCalledOnce())
})

describe('when there is no more room', () => {
  test('one whose stream has no connection makes room, one that is connected does not', async () => {
    const sessions = create(1)
    const session = (await sessions.use((await begin(sessions)).id, null)) as LiveSession
    const stream = openStream(session)
    expect(await sessions.keep(sessions.open(CODEC, null))).toBe(false)
    stream.coming = false
    expect(await sessions.keep(sessions.open(CODEC, null))).toBe(true)
    expect(session.ended).toBe(true)
    expect(await isKnown(sessions, session.id)).toBe(false)
  })

  test('the one that was idle longest goes', async () => {
    const sessions = create(3)
    const kept: LiveSession[] = []
    for (let times = 0; times < 3; times++) {
      kept.push(await begin(sessions))
      now += 10
    }
    const [first, second, third] = kept.map(({ id }) => id) as [string, string, string]
    expect(await isKnown(sessions, first)).toBe(true)
    now += 10
    const fourth = await begin(sessions)
    expect(await isKnown(sessions, second)).toBe(false)
    expect(await Promise.all([first, third, fourth.id].map((id) => isKnown(sessions, id)))).toEqual([true, true, true])
  })

  test('one that is in use stays, and where all are there is no room', async () => {
    const sessions = create(2)
    const used = await sessions.use((await begin(sessions)).id, null)
    const idle = await begin(sessions)
    await begin(sessions)
    expect(await isKnown(sessions, idle.id)).toBe(false)
    const last = await sessions.use('id-3', null)
    expect(await sessions.keep(sessions.open(CODEC, null))).toBe(false)
    sessions.release(last as LiveSession)
    expect(await sessions.keep(sessions.open(CODEC, null))).toBe(true)
    expect(used?.ended).toBe(false)
    expect(await isKnown(sessions, used?.id ?? '')).toBe(true)
  })

  test('one whose stream is here while it is in use elsewhere does not go with its time here', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const [here, elsewhere] = [create(), create()]
    const session = (await here.use((await begin(here)).id, null)) as LiveSession
    openStream(session).coming = false
    for (let times = 0; times < 4; times++) {
      now += TTL * 0.5
      expect(await isKnown(elsewhere, session.id)).toBe(true)
      await vi.advanceTimersByTimeAsync(TTL / 4)
    }
    await begin(here)
    expect(session.ended).toBe(false)
    expect(await isKnown(elsewhere, session.id)).toBe(true)
    here.release(session)
  })

  test('those whose time is over make room for nothing', async () => {
    const sessions = create(2)
    await begin(sessions)
    await begin(sessions)
    now += TTL * 2
    await begin(sessions)
    await begin(sessions)
    expect(await Promise.all(['id-1', 'id-2', 'id-3', 'id-4'].map((id) => isKnown(sessions, id)))).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})
