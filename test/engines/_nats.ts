import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Engine, type EngineProgram, findProgram } from './_engine.js'

const SERVER: EngineProgram = {
  name: 'nats-server',
  args: (port, folder) => ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', folder],
}

/** Without JetStream. */
const PLAIN: EngineProgram = { name: 'nats-server', args: (port) => ['--addr', '127.0.0.1', '--port', String(port)] }

export const natsMissing: boolean = findProgram('nats-server') === undefined
export const runNats = (): Promise<Engine> => Engine.run(SERVER)
export const runPlainNats = (): Promise<Engine> => Engine.run(PLAIN)

/** A server's address, and whether it is ours to stop. `NATS_URL` is used instead of a server of our own where it is set. */
export interface SharedNats {
  readonly url: string
  end(): Promise<void>
}

export async function sharedNats(): Promise<SharedNats> {
  const given = process.env['NATS_URL']
  if (given !== undefined) return { url: given, end: async () => undefined }
  const engine = await runNats()
  return { url: urlOf(engine), end: () => engine.end() }
}

export function urlOf({ port }: Engine): string {
  return `nats://127.0.0.1:${port}`
}

/** A connection of the user's, which never gives up. */
export function connectTo(url: string): Promise<NatsConnection> {
  return connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50, reconnectJitter: 0 })
}
