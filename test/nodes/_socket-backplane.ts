import { connect } from 'node:net'
import type { AppendOptions, Backplane, SetOptions, Store } from 'phantom-mcp'
import { onLine } from './_lines.js'
import type { Told } from './_store-server.js'

interface Waiting {
  resolve(value: never): void
  reject(error: Error): void
}

/** The backplane of {@link serveBackplane}, from another process. */
export function socketBackplane(path: string, onError: (error: unknown) => void = console.error): Backplane {
  const socket = connect(path)
  const waiting = new Map<number, Waiting>()
  const listeners = new Map<number, (message: string) => void>()
  let last = 0
  socket
    .on('error', () => undefined)
    .on('close', () => {
      for (const { reject } of waiting.values()) reject(new Error('The backplane is away'))
      waiting.clear()
    })
  onLine(socket, (line) => {
    const told = JSON.parse(line) as Told
    if ('subscription' in told) return hear(told.subscription, told.message)
    const { error } = told
    if (error === undefined) waiting.get(told.id)?.resolve(told.value as never)
    else
      waiting
        .get(told.id)
        ?.reject(error.name === 'RangeError' ? new RangeError(error.message) : new Error(error.message))
    waiting.delete(told.id)
  })
  const hear = (subscription: number, message: string): void => {
    try {
      listeners.get(subscription)?.(message)
    } catch (error) {
      onError(error)
    }
  }
  const ask = (method: string, ...args: readonly unknown[]): Promise<never> =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) return reject(new Error('The backplane is away'))
      const id = ++last
      waiting.set(id, { resolve, reject })
      socket.write(`${JSON.stringify({ id, method, args })}\n`)
    })
  const store: Store = {
    get: (key) => ask('get', key),
    set: (key, value, options: SetOptions) => ask('set', key, value, options),
    delete: (key, revision) => ask('delete', key, revision),
    claim: (key, owner, ttlMs) => ask('claim', key, owner, ttlMs),
    release: (key, owner) => ask('release', key, owner),
    async *list(prefix) {
      yield* (await ask('list', prefix)) as string[]
    },
    append: (log, value, options: AppendOptions) => ask('append', log, value, options),
    readAfter: (log, id, limit) => ask('readAfter', log, id, limit),
    drop: (log) => ask('drop', log),
  }
  return {
    store,
    pubSub: {
      publish: (topic, message) => ask('publish', topic, message),
      subscribe: async (topic, listener) => {
        const subscription = ++last
        listeners.set(subscription, listener)
        await ask('subscribe', topic, subscription)
        return async () => {
          listeners.delete(subscription)
          await ask('unsubscribe', subscription)
        }
      },
    },
    close: async () => void socket.destroy(),
  }
}
