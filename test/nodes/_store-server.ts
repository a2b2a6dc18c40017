import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { Backplane } from 'phantom-mcp'
import { onLine } from './_lines.js'

/** What a client asks, one line of JSON each: a method of the store, or one of the three of the doorbell. */
export interface Asked {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

/** What it gets: the value or the error of what it asked, or a message of a subscription. */
export type Told =
  | {
      readonly id: number
      readonly value?: unknown
      readonly error?: { readonly name: string; readonly message: string }
    }
  | { readonly subscription: number; readonly message: string }

type Method = (...args: readonly unknown[]) => unknown

/** Serves a backplane to processes of this machine, on a socket of the file system. Returns the way to end it. */
export async function serveBackplane(backplane: Backplane, path: string): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    serveSocket(backplane, socket)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
    rmSync(path, { force: true })
  }
}

function serveSocket({ store, pubSub }: Backplane, socket: Socket): void {
  const tell = (told: Told): void => void (socket.writable && socket.write(`${JSON.stringify(told)}\n`))
  const subscriptions = new Map<number, () => Promise<void>>()
  const own: Record<string, Method> = {
    publish: (topic, message) => pubSub.publish(topic as string, message as string),
    subscribe: async (topic, subscription) => {
      const hear = (message: string): void => tell({ subscription: subscription as number, message })
      subscriptions.set(subscription as number, await pubSub.subscribe(topic as string, hear))
    },
    unsubscribe: (subscription) => subscriptions.get(subscription as number)?.(),
    list: async (prefix) => {
      const keys: string[] = []
      for await (const key of store.list(prefix as string)) keys.push(key)
      return keys
    },
  }
  const serve = async ({ id, method, args }: Asked): Promise<void> => {
    try {
      const run = own[method] ?? (store[method as keyof typeof store] as unknown as Method).bind(store)
      tell({ id, value: await run(...args) })
    } catch (error) {
      const { name, message } = error as Error
      tell({ id, error: { name, message } })
    }
  }
  // JSON has no undefined: what was left out comes as null, and no argument of its own is null.
  const parse = (line: string): Asked => JSON.parse(line) as Asked
  onLine(socket, (line) => {
    const asked = parse(line)
    void serve({ ...asked, args: asked.args.map((arg) => arg ?? undefined) })
  })
  socket.on('close', () => {
    for (const end of subscriptions.values()) void end()
  })
}
