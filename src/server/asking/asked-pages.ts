import { notificationMessage } from '../../protocol/jsonrpc.js'
import type { CallSession } from '../call-session.js'
import type { Exchange } from '../exchange.js'
import type { Nodes } from '../nodes.js'

export interface AskedPagesOptions {
  readonly clock: () => number
  /** Milliseconds that a page is remembered for. */
  readonly requestStateTtlMs: number
}

export interface AskedPagesParts {
  readonly nodes: Nodes
  /** The way to the client on the stream of its session. */
  readonly streamOf: StreamOf
}

type StreamOf = (sessionId: string) => Promise<((message: string) => Promise<void>) | undefined>

interface AskedPage {
  readonly untilMs: number
  readonly sessionId: string | undefined
  /** Over a pipe the call's way is the client's; elsewhere it is one only while the call runs. */
  call(): CallSession | undefined
}

/** Milliseconds in which another node has to say whether it has told its client. */
const TOLD_MS = 2_000
/** Pages that are remembered; the oldest makes room. */
const MAX_PAGES = 10_000

/** Who was asked to open which page, so that they can be told when it is done (2025-11-25 client/elicitation). */
export class AskedPages {
  readonly #options: AskedPagesOptions
  readonly #parts: AskedPagesParts
  readonly #pages = new Map<string, AskedPage>()

  constructor(options: AskedPagesOptions, parts: AskedPagesParts) {
    this.#options = options
    this.#parts = parts
    parts.nodes.on('page-complete', (elicitationId: string) => this.#completeHere(elicitationId))
  }

  /** An id names one page: asked for again, it is the last client's. */
  remember(elicitationId: string, session: CallSession): void {
    const untilMs = this.#options.clock() + this.#options.requestStateTtlMs
    const weak = new WeakRef(session)
    const call = session.shared ? () => session : () => weak.deref()
    this.#pages.delete(elicitationId)
    this.#pages.set(elicitationId, { untilMs, sessionId: session.id, call })
    const [oldest] = this.#pages.keys()
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest)
  }

  /** Tells who was asked; false when nobody was, or cannot be told any more. */
  async complete(elicitationId: string): Promise<boolean> {
    const letter = { type: 'page-complete', body: elicitationId }
    const [here, there] = await Promise.all([
      this.#completeHere(elicitationId),
      this.#parts.nodes.askAll<boolean>(letter, TOLD_MS),
    ])
    return here || there.includes(true)
  }

  async #completeHere(elicitationId: string): Promise<boolean> {
    const page = this.#pages.get(elicitationId)
    if (page === undefined) return false
    this.#pages.delete(elicitationId)
    const send = page.untilMs > this.#options.clock() ? await this.#wayTo(page) : undefined
    if (send === undefined) return false
    await send(notificationMessage('notifications/elicitation/complete', { elicitationId }))
    return true
  }

  /** Nobody is at the other end any more. */
  forget(exchange: Exchange): void {
    for (const [id, page] of [...this.#pages]) if (page.call()?.isOf(exchange) === true) this.#pages.delete(id)
  }

  async #wayTo({ sessionId, call }: AskedPage): Promise<((message: string) => Promise<void> | undefined) | undefined> {
    const stream = sessionId === undefined ? undefined : await this.#parts.streamOf(sessionId)
    if (stream !== undefined) return stream
    const session = call()
    if (session === undefined || !(session.shared || (session.canStream && !session.closed))) return undefined
    return (message) => session.send(message)
  }
}
