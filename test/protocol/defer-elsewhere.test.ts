import { type Backplane, type CallRef, createRouter, createServer, memoryBackplane, type Server } from 'phantom-mcp'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

/** Lets promises settle that need no time. */
const settle = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0))

interface Pair {
  readonly client: TestClient
  readonly home: Server
  readonly worker: Server
  readonly errors: unknown[]
  ref(): CallRef
}

/** A server with a call, and another one that answers; each gets the backplane that it is given. */
async function pair(backplanes: readonly [Backplane, Backplane], deferMs = 60_000): Promise<Pair> {
  const errors: unknown[] = []
  const refs: CallRef[] = []
  const router = createRouter({ name: 'home', version: '1.0.0' })
  router.tool('wait', {}, (_params, session) => {
    const later = session.defer()
    refs.push(later.ref)
    return later
  })
  const onError = (error: unknown): void => void errors.push(error)
  const home = createServer(router, { backplane: backplanes[0], onError, deferMs })
  const worker = createServer(createRouter({ name: 'worker', version: '1.0.0' }), { backplane: backplanes[1], onError })
  return { client: await connect(home), home, worker, errors, ref: () => refs.shift() as CallRef }
}

/** A backplane in which some rings are lost. */
function deaf(shared: Backplane, hears: (message: string) => boolean): Backplane {
  const { pubSub } = shared
  return {
    ...shared,
    pubSub: {
      subscribe: (topic, listener) => pubSub.subscribe(topic, listener),
      publish: async (topic, message) => (hears(message) ? await pubSub.publish(topic, message) : undefined),
    },
  }
}

const keysOf = async ({ store }: Backplane): Promise<string[]> => {
  const keys: string[] = []
  for await (const key of store.list('')) keys.push(key)
  return keys
}

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] }),
)
afterEach(() => void vi.useRealTimers())

describe('a deferred answer from another process', () => {
  test('is found by who waits for it when its ring is lost', async () => {
    const shared = memoryBackplane()
    const { client, worker, errors, ref } = await pair([shared, deaf(shared, () => false)])
    const call = client.callTool('wait')
    await settle()
    const answered = worker.respond(ref(), 'found')
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await call).toMatchObject({ content: [{ text: 'found' }] })
    expect(await answered).toBe(true)
    expect(errors).toEqual([])
  })

  test('is known to have come when the word of it is lost', async () => {
    const shared = memoryBackplane()
    const { client, worker, ref } = await pair([deaf(shared, () => false), shared])
    const call = client.callTool('wait')
    await settle()
    const answered = worker.respond(ref(), 'there')
    await settle()
    expect(await call).toMatchObject({ content: [{ text: 'there' }] })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await answered).toBe(true)
  })

  test('is taken back when its process is gone, and leaves nothing', async () => {
    const shared = memoryBackplane()
    const { worker } = await pair([shared, shared])
    let known: boolean | undefined
    void worker.respond({ call: 'a', node: 'gone' }, 'x').then((delivered) => {
      known = delivered
    })
    await vi.advanceTimersByTimeAsync(5_900)
    expect(known).toBeUndefined()
    await vi.advanceTimersByTimeAsync(200)
    expect(known).toBe(false)
    expect(await keysOf(shared)).toEqual([])
  })

  test('comes although the line of its process could not be opened', async () => {
    const shared = memoryBackplane()
    const broken: Backplane = {
      ...shared,
      pubSub: {
        publish: shared.pubSub.publish.bind(shared.pubSub),
        subscribe: () => Promise.reject(new Error('away')),
      },
    }
    const { client, worker, errors, ref } = await pair([broken, shared])
    errors.length = 0
    const call = client.callTool('wait')
    await settle()
    const answered = worker.respond(ref(), 'still')
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await call).toMatchObject({ content: [{ text: 'still' }] })
    expect(await answered).toBe(true)
    expect(errors).toMatchObject([{ message: 'away' }])
  })

  test('rejects with an error that can be tried again when the store is away', async () => {
    const shared = memoryBackplane()
    const away = { ...shared.store, set: () => Promise.reject(new Error('no store')) }
    const { worker } = await pair([shared, { ...shared, store: away }])
    await expect(worker.respond({ call: 'a', node: 'gone' }, 'x')).rejects.toMatchObject({
      name: 'McpError',
      data: { reason: 'backplane', retryable: true },
      cause: { message: 'no store' },
    })
  })

  test('to a call that is over is known to be late, and no timer is left', async () => {
    const shared = memoryBackplane()
    const { client, home, worker, ref } = await pair([shared, shared], 1_000)
    const call = client.callTool('wait').catch((error: unknown) => error)
    await settle()
    const late = ref()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await call).toMatchObject({ data: { reason: 'defer_timeout' } })
    expect(await worker.respond(late, 'late')).toBe(false)
    expect(await worker.respond(late, 'later')).toBe(false)
    await home.close()
    await worker.close()
    await shared.close?.()
    expect(vi.getTimerCount()).toBe(0)
  })
})
