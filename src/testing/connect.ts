import { assertCounts, assertOptions } from '../options.js'
import { isSessionVersion, isStatelessVersion, SESSION_VERSIONS, STATELESS_VERSIONS } from '../protocol/versions.js'
import type { Router } from '../router/router.js'
import type { ContinuationOptions } from '../server/asking/continuation-options.js'
import { createServer, Server } from '../server/server.js'
import { type ClientOptions, TestClient } from './client.js'
import { nodesOf, nodesWire } from './nodes.js'
import { memoryWire, type Wire } from './wire.js'

/** How a test client is connected, and to what. */
export interface ConnectOptions<Assigns extends object = object> extends ClientOptions {
  /**
   * Servers of the router that share a backplane: requests go to them in turn. For 2026-07-28, and for routers with a
   * `secretKeyBase`. @default 1
   */
  readonly nodes?: number
  /** How handlers wait for the client, as in `createServer`. */
  readonly continuations?: ContinuationOptions
  /** What the router's `connect` would assign: it is not asked then, `principal` is. */
  readonly assigns?: NoInfer<Assigns>
}

const OPTIONS = [
  'protocol',
  'clientInfo',
  'capabilities',
  'logLevel',
  'elicit',
  'sample',
  'roots',
  'nodes',
  'continuations',
  'assigns',
]
const VERSIONS = [...SESSION_VERSIONS, ...STATELESS_VERSIONS]

/**
 * A client of a router, in the same process and without a port: the protocol is served whole, in the version that is
 * asked for.
 *
 * @example
 * const client = await connect(router, { protocol: '2025-11-25' })
 * expect((await client.callTool('greet', { name: 'Ada' })).content).toEqual([{ type: 'text', text: 'Hello Ada' }])
 *
 * @throws TypeError for an option or a protocol version that is unknown, and for options that do not go together.
 */
export async function connect<Assigns extends object>(
  target: Router<Assigns> | Server,
  options: ConnectOptions<Assigns> = {},
): Promise<TestClient> {
  assertOptions('connect', options, OPTIONS)
  assertCounts('connect', options, ['nodes'])
  const { protocol } = options
  if (protocol !== undefined && !isSessionVersion(protocol) && !isStatelessVersion(protocol))
    throw new TypeError(`connect: protocol '${String(protocol)}' is none of ${VERSIONS.join(', ')}`)
  return await TestClient.connect(wireOf(target as Router<never> | Server, options), options)
}

function wireOf(target: Router<never> | Server, options: ConnectOptions): Wire {
  const { nodes = 1, continuations, assigns, protocol } = options
  if (target instanceof Server) {
    if (options.nodes === undefined && continuations === undefined) return memoryWire(target, { assigns })
    throw new TypeError('connect: nodes and continuations are for a router; a server was given its own by createServer')
  }
  const given = continuations === undefined ? {} : { continuations }
  if (nodes === 1) return closing(createServer(target, given), assigns)
  if (isSessionVersion(protocol))
    throw new TypeError(`connect: nodes is for 2026-07-28; a session of ${protocol} in memory stays with its server`)
  return nodesWire(nodesOf(target, nodes, given), assigns)
}

/** A server that ends with its one client. */
function closing(server: Server, assigns: object | undefined): Wire {
  const wire = memoryWire(server, { assigns })
  return {
    ...wire,
    close: async () => {
      await wire.close()
      await server.close({ drainMs: 0 })
    },
  }
}
