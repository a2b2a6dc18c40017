import type { PubSub } from '../backplane/pub-sub.js'
import type { Store } from '../backplane/store.js'
import type { CallRef, ProgressRef } from '../router/deferred.js'
import { CallOver } from './call-over.js'
import { createDeferral, type Deferral } from './deferral.js'
import { NodeLine, type NodeMessage } from './node-line.js'
import { unpack } from './packed.js'
import type { ReferredCall } from './referred-call.js'
import { Replies } from './replies.js'

export interface CallRefsOptions {
  readonly store: Store
  readonly pubSub: PubSub
  readonly ids: () => string
  readonly deferMs: number
  readonly report: (error: unknown) => void
}

/** How far a call is, as `notifyProgress` takes it. */
export type Progress = readonly [progress: number, total?: number, message?: string]

/** Running calls that can be named from elsewhere, in this process or another one: to be answered, or to tell their progress. */
export class CallRefs {
  readonly #options: CallRefsOptions
  readonly #line: NodeLine
  readonly #replies: Replies
  readonly #deferred = new Map<string, Deferral>()
  readonly #telling = new Map<string, ReferredCall>()

  constructor(options: CallRefsOptions) {
    const { store, pubSub, ids, report } = options
    this.#options = options
    this.#line = new NodeLine({ pubSub, ids, report })
    this.#line.on('progress', (message) => this.#progressed(message))
    this.#replies = new Replies({
      store,
      line: this.#line,
      report,
      deliver: (call, reply) => this.#deliver(call, reply),
    })
  }

  /** From here on the call can be answered from elsewhere, until it is over. */
  defer(session: ReferredCall): Deferral {
    const { ids, deferMs } = this.#options
    const call = ids()
    const deferral = createDeferral(session, { call, node: this.#line.id })
    if (session.closed) return deferral
    // A client that hangs up has given this call up, where its version says so.
    session.watchClient()
    this.#deferred.set(call, deferral)
    this.#replies.expect(call)
    const expiry = setTimeout(() => {
      this.#forget(call)
      deferral.expire(deferMs)
    }, deferMs)
    session.onOver(() => {
      clearTimeout(expiry)
      this.#forget(call)
      deferral.settle({ ok: false, error: new CallOver('The call is over') })
    })
    return deferral
  }

  /** From here on others can tell how far the call is, until it is over. */
  progress(session: ReferredCall): ProgressRef {
    const progress = this.#options.ids()
    if (!session.closed) {
      this.#telling.set(progress, session)
      session.onOver(() => this.#telling.delete(progress))
      void this.#line.open()
    }
    return { progress, node: this.#line.id }
  }

  /** Resolves to whether the call was there to get it; `reply` is packed. */
  async respond({ call, node }: CallRef, reply: string): Promise<boolean> {
    return node === this.#line.id ? this.#deliver(call, reply) : await this.#replies.send({ call, node }, reply)
  }

  async notifyProgress({ progress: name, node }: ProgressRef, progress: Progress): Promise<void> {
    if (node === this.#line.id) await this.#telling.get(name)?.notifyProgress(...progress)
    else await this.#line.send(node, { kind: 'progress', name, progress })
  }

  async close(): Promise<void> {
    this.#replies.close()
    await this.#line.close()
  }

  #deliver(call: string, reply: string): boolean {
    const deferral = this.#deferred.get(call)
    if (deferral === undefined) return false
    this.#forget(call)
    deferral.settle(unpack(reply))
    return true
  }

  #forget(call: string): void {
    this.#deferred.delete(call)
    this.#replies.forget(call)
  }

  #progressed(message: NodeMessage): void {
    const { name, progress } = message as unknown as { readonly name: string; readonly progress: Progress }
    // JSON has made null of what was left out.
    const [done, total, text] = progress
    void this.#telling.get(name)?.notifyProgress(done, total ?? undefined, text ?? undefined)
  }
}

/** @throws TypeError for what is no ref of `session.defer()`. */
export function assertCallRef(owner: string, ref: unknown): asserts ref is CallRef {
  if (isNamed(ref, 'call')) return
  throw new TypeError(`${owner}: the first argument must be the ref of what session.defer() gave`)
}

/** @throws TypeError for what `session.progressRef()` did not give. */
export function assertProgressRef(owner: string, ref: unknown): asserts ref is ProgressRef {
  if (isNamed(ref, 'progress')) return
  throw new TypeError(`${owner}: the first argument must be what session.progressRef() gave`)
}

function isNamed(ref: unknown, name: 'call' | 'progress'): boolean {
  const { node, [name]: own } = (ref ?? {}) as Readonly<Record<string, unknown>>
  return typeof node === 'string' && typeof own === 'string'
}
