import type { ProtocolVersion } from '../protocol/versions.js'
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

/** The server in the same process. Messages go through JSON both ways, as on any other wire. */
export function memoryWire(server: Server): Wire {
  server.allowRandomSecret()
  let connection: Connection | undefined
  return {
    open: async (receive) => {
      const deliver = (text: string): undefined => {
        const value: unknown = JSON.parse(text)
        for (const message of Array.isArray(value) ? value : [value])
          queueMicrotask(() => receive(message as WireMessage))
      }
      connection = new Connection(server, deliver, { maxDepth: MAX_DEPTH, access: await admit(server) })
    },
    send: (message) => connection?.receiveText(JSON.stringify(message)),
    close: () => connection?.close(),
  }
}
