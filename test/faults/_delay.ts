import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Engine } from '../engines/_engine.js'
import { afterTest } from '../http/_http.js'

/** The port of a way to an engine on which everything takes longer by so many milliseconds, there and back together. */
export async function slowWayTo({ port }: Engine, ms: number): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' })
    pass(near, far, ms / 2)
    pass(far, near, ms / 2)
    for (const socket of [near, far]) sockets.add(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterTest(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** In order: timers of the same length go off in the order in which they were set. */
function pass(from: Socket, to: Socket, ms: number): void {
  from.setNoDelay(true)
  from.on('data', (bytes) => void setTimeout(() => to.write(bytes), ms))
  from.on('end', () => void setTimeout(() => to.end(), ms))
  from.on('error', () => to.destroy())
}
