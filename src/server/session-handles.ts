import { notificationMessage, pingMessage } from '../protocol/jsonrpc.js'
import type { Channels } from './channels.js'
import type { EventChannel } from './event-channel.js'
import type { Nodes } from './nodes.js'
import type { StreamOwners } from './stream-owners.js'

/** A session of a client, from outside of its calls. */
export interface SessionHandle {
  /** Sends a notification on the session's stream. */
  notify(method: string, params?: object): Promise<void>
  /** Asks the client whether it is there; nobody waits for the answer. */
  ping(): Promise<void>
  /** Lets the session's stream go; its client may come back for what follows. */
  finish(): Promise<void>
}

export type SendTo = (message: string) => Promise<void>

/** What is done to the stream of a session. */
type Act = { readonly send: string } | { readonly finish: true }

interface ActLetter {
  readonly session: string
  readonly act: Act
}

export interface SessionHandlesOptions {
  readonly channels: Channels
  readonly owners: StreamOwners
  readonly nodes: Nodes
  readonly ids: () => string
}

/** Sessions by their ids, wherever their streams are. */
export class SessionHandles {
  readonly #options: SessionHandlesOptions

  constructor(options: SessionHandlesOptions) {
    this.#options = options
    options.nodes.on('session-stream', async ({ session, act }: ActLetter) => {
      const channel = options.channels.ofSession(session)
      if (channel !== undefined) await perform(channel, act)
    })
  }

  /** Undefined for a session whose stream is not open here, where there are no other nodes. */
  of(id: string): SessionHandle | undefined {
    const { channels, nodes, ids } = this.#options
    if (channels.ofSession(id) === undefined && !nodes.shared) return undefined
    const act = (what: Act): Promise<void> => this.#act(id, what)
    return {
      notify: (method, params) => act({ send: notificationMessage(method, params) }),
      ping: () => act({ send: pingMessage(ids()) }),
      finish: () => act({ finish: true }),
    }
  }

  /** The way to the client on the stream of its session; undefined where no node has one. */
  async wayTo(session: string): Promise<SendTo | undefined> {
    const { channels, owners, nodes } = this.#options
    const channel = channels.ofSession(session)
    if (channel !== undefined) return (message) => channel.send(message)
    const owner = nodes.shared ? await owners.ownerOf(session) : undefined
    if (owner === undefined || owner === nodes.id || !(await nodes.isAlive(owner))) return undefined
    return (message) => this.#act(session, { send: message })
  }

  /** On the node that has the stream now. */
  async #act(session: string, act: Act): Promise<void> {
    const { channels, owners, nodes } = this.#options
    const channel = channels.ofSession(session)
    if (channel !== undefined) return await perform(channel, act)
    const owner = await owners.ownerOf(session)
    if (owner !== undefined && owner !== nodes.id) await nodes.send(owner, 'session-stream', { session, act })
  }
}

async function perform(channel: EventChannel, act: Act): Promise<void> {
  if ('send' in act) await channel.send(act.send)
  else await channel.release()
}
