import type { Store } from '../backplane/store.js'
import { type Failure, McpError } from '../errors.js'
import { quietTimer } from '../options.js'
import type { RequestId } from '../protocol/jsonrpc.js'
import { digest } from './asking/digest.js'
import type { Nodes } from './nodes.js'
import type { RunningCalls } from './running-calls.js'

export const ID_IN_USE: Failure = { code: 'INVALID_REQUEST', message: 'This id is in use by a running request' }

export interface CallClaimsOptions {
  readonly store: Store
  readonly nodes: Nodes
  /** How long a claim is known that its node does not renew, in milliseconds. */
  readonly ttlMs: number
  /** The calls of a session that run here. */
  readonly calls: (session: string) => RunningCalls | undefined
  readonly report: (error: unknown) => void
}

interface NamedCall {
  readonly session: string
  readonly id: RequestId
}

/** Milliseconds that a call has to run for before its id is claimed: most are over, and nobody can have used the id meanwhile. */
const SHORT_MS = 20
/** Milliseconds in which another node has to say whether a call runs there. */
const RUNS_MS = 2_000
/** Nodes that may take the id while this one does. */
const MAX_TRIES = 3
/** Characters of an id beyond which its digest stands for it. */
const MAX_ID = 128
const SEPARATOR = '~'

/** By which ids calls of a session run, on all nodes together: their client must not use one twice at a time. */
export class CallClaims {
  readonly #options: CallClaimsOptions
  /** Claims of calls that run here, with their owners: each is its own, so that a late release ends no other. */
  readonly #held = new Map<string, string>()
  #claims = 0
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(options: CallClaimsOptions) {
    this.#options = options
    options.nodes.on('call-runs', ({ session, id }: NamedCall) => options.calls(session)?.has(id) === true)
  }

  /**
   * A call begins here. Resolves to false while another node runs one by its id; one that began at the same time is ended
   * with an error that says so.
   */
  async begins(named: NamedCall): Promise<boolean> {
    const { store, calls, report } = this.#options
    const key = await keyOf(named)
    const claim = await store.get(key)
    if (claim !== undefined && (await this.#runs(claim.value, named))) return false
    const running = calls(named.session)
    const call = running?.get(named.id)
    if (running === undefined || call === undefined) return true
    const claims = async (): Promise<void> => {
      const giveBack = await this.#take(key, named)
      if (giveBack !== undefined) running.onFree(named.id, call, giveBack)
      else call.abort(new McpError(ID_IN_USE.code, ID_IN_USE.message))
    }
    const timer = setTimeout(() => void claims().catch(report), SHORT_MS)
    running.onFree(named.id, call, () => clearTimeout(timer))
    return true
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** The way to give the id back; undefined while another node runs a call by it. */
  async #take(key: string, named: NamedCall): Promise<(() => void) | undefined> {
    const { store, nodes, ttlMs } = this.#options
    const owner = `${nodes.id}${SEPARATOR}${++this.#claims}`
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const lease = await store.claim(key, owner, ttlMs)
      if (lease.mine) return this.#hold(key, owner)
      if (await this.#runs(lease.owner, named)) return undefined
      await store.release(key, lease.owner)
    }
    return undefined
  }

  #hold(key: string, owner: string): () => void {
    const { store, ttlMs, report } = this.#options
    this.#held.set(key, owner)
    this.#timer ??= quietTimer(() => {
      for (const [held, by] of this.#held) store.claim(held, by, ttlMs).catch(report)
    }, ttlMs / 4)
    return () => {
      if (this.#held.get(key) === owner) this.#held.delete(key)
      if (this.#held.size === 0) this.close()
      store.release(key, owner).catch(report)
    }
  }

  /** A claim may be of a call that is over, whose release is on its way, or of a node that has died. */
  async #runs(owner: string, named: NamedCall): Promise<boolean> {
    const { nodes } = this.#options
    const node = owner.slice(0, owner.lastIndexOf(SEPARATOR))
    if (node === nodes.id || !(await nodes.isAlive(node))) return false
    return (await nodes.ask<boolean>(node, { type: 'call-runs', body: named }, RUNS_MS)) === true
  }
}

async function keyOf({ session, id }: NamedCall): Promise<string> {
  const name = JSON.stringify(id)
  return `call/${session}/${name.length > MAX_ID ? await digest(name) : name}`
}
