import type { Router } from '../router/router.js'
import { type Server, toServer } from '../server/server.js'
import { type ClientOptions, TestClient } from './client.js'
import { memoryWire } from './wire.js'

/**
 * A client of a router, in the same process and without a port: the protocol is served whole, in the version that is
 * asked for.
 *
 * @example
 * const client = await connect(router, { protocol: '2025-11-25' })
 * expect((await client.callTool('greet', { name: 'Ada' })).content).toEqual([{ type: 'text', text: 'Hello Ada' }])
 */
export async function connect<Assigns extends object>(
  target: Router<Assigns> | Server,
  options: ClientOptions = {},
): Promise<TestClient> {
  return await TestClient.connect(memoryWire(toServer(target as Router<never> | Server)), options)
}
