import type { Backplane } from '../backplane/backplane.js'
import { memoryBackplane } from '../backplane/memory.js'
import type { Router } from '../router/router.js'
import { createServer, type Server } from '../server/server.js'
import type { ServerOptions } from '../server/server-options.js'
import { memoryWire, type Wire } from './wire.js'

/** Servers of a router that share a backplane. */
export interface TestNodes {
  readonly servers: readonly Server[]
  readonly backplane: Backplane
}

/** @throws TypeError for a router without a secret, which each node would need to know. */
export function nodesOf(router: Router<never>, count: number, options: ServerOptions): TestNodes {
  if (router.options.secretKeyBase === undefined)
    throw new TypeError(
      `connect: nodes: ${count} needs createRouter({ secretKeyBase }), text of 64 bytes or more: what one node has sealed, another one opens`,
    )
  // It is not local to one of them.
  const { local: _, ...backplane } = memoryBackplane()
  return { servers: Array.from({ length: count }, () => createServer(router, { ...options, backplane })), backplane }
}

/** Requests go to the nodes in turn. What belongs to another message goes to all: the one that has it knows. */
export function nodesWire({ servers, backplane }: TestNodes, assigns: object | undefined): Wire {
  const wires = servers.map((server) => memoryWire(server, { assigns }))
  let next = 0
  return {
    open: async (receive, version) => {
      for (const wire of wires) await wire.open(receive, version)
    },
    send: async (message) => {
      const isRequest = Object.hasOwn(message, 'method') && Object.hasOwn(message, 'id')
      if (isRequest) return await wires[next++ % wires.length]?.send(message)
      for (const wire of wires) await wire.send(message)
    },
    close: async () => {
      for (const wire of wires) await wire.close()
      await Promise.all(servers.map((server) => server.close({ drainMs: 0 })))
      await backplane.close?.()
    },
  }
}
