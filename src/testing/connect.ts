import { assertOptions } from '../options.js'
import { isSessionVersion, isStatelessVersion, SESSION_VERSIONS, STATELESS_VERSIONS } from '../protocol/versions.js'
import type { Router } from '../router/router.js'
import { type Server, toServer } from '../server/server.js'
import { type ClientOptions, TestClient } from './client.js'
import { memoryWire } from './wire.js'

const OPTIONS = ['protocol', 'clientInfo', 'capabilities', 'logLevel', 'elicit', 'sample', 'roots']
const VERSIONS = [...SESSION_VERSIONS, ...STATELESS_VERSIONS]

/**
 * A client of a router, in the same process and without a port: the protocol is served whole, in the version that is
 * asked for.
 *
 * @example
 * const client = await connect(router, { protocol: '2025-11-25' })
 * expect((await client.callTool('greet', { name: 'Ada' })).content).toEqual([{ type: 'text', text: 'Hello Ada' }])
 *
 * @throws TypeError for an option or a protocol version that is unknown.
 */
export async function connect<Assigns extends object>(
  target: Router<Assigns> | Server,
  options: ClientOptions = {},
): Promise<TestClient> {
  assertOptions('connect', options, OPTIONS)
  const { protocol } = options
  if (protocol !== undefined && !isSessionVersion(protocol) && !isStatelessVersion(protocol))
    throw new TypeError(`connect: protocol '${String(protocol)}' is none of ${VERSIONS.join(', ')}`)
  return await TestClient.connect(memoryWire(toServer(target as Router<never> | Server)), options)
}
