import type { ProtocolVersion } from '../protocol/versions.js'
import { Access } from '../router/access.js'
import { nameCaller } from '../server/connect.js'
import type { Server } from '../server/server.js'
import { admit } from '../stdio/admit.js'
import { Connection } from '../stdio/connection.js'

/** A JSON-RPC message, parsed. */
export type WireMessage = Readonly<Record<string, unknown>>

/** A way to a server: the one in memory is `connect`'s own, others can be written against a running server. */
export interface Wire {
  /** Called once; `receive` takes every message of the server, in order. */
  open(receive: (message: WireMessage) => void, version: ProtocolVersion): Promise<void> | void
  /** Sends a message to the server. */
  send(message: WireMessage): Promise<void> | void
  /** Ends the connection. */
  close(): Promise<void> | void
}

const MAX_DEPTH = 200

/** Who calls over a wire in memory. */
export interface MemoryWireOptions {
  /** What the router's `connect` would assign: it is not asked then, `principal` is. */
  readonly assigns?: object | undefined
}

/** The server in the same process. Messages go through JSON both ways, as on any other wire. */
export function memoryWire(server: Server, { assigns }: MemoryWireOptions = {}): Wire {
  server.allowRandomSecret()
  let connection: Connection | undefined
  return {
    open: async (receive) => {
      const deliver = (text: string): undefined => {
        const value: unknown = JSON.parse(text)
        for (const message of Array.isArray(value) ? value : [value])
          queueMicrotask(() => receive(message as WireMessage))
      }
      connection = new Connection(server, deliver, { maxDepth: MAX_DEPTH, access: await callerOf(server, assigns) })
    },
    send: (message) => connection?.receiveText(JSON.stringify(message)),
    close: () => connection?.close(),
  }
}

async function callerOf(server: Server, assigns: object | undefined): Promise<Access | undefined> {
  if (assigns === undefined) return await admit(server)
  const access = new Access()
  access.assign(assigns)
  const { principal } = server.context.router.options
  if (principal !== undefined) nameCaller(access, principal)
  return access
}
