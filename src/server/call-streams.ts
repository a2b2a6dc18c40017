import type { Backplane } from '../backplane/backplane.js'
import { encodeFailure } from '../protocol/codec.js'
import { errorMessage, type RequestId } from '../protocol/jsonrpc.js'
import { nodeDied } from './asking/moved.js'
import type { EventSink } from './event-channel.js'
import type { LiveSession } from './live-session.js'
import { LOOK_MS } from './log-follower.js'
import type { Nodes } from './nodes.js'
import { GapError, type StreamLog } from './stream-log.js'

export interface CallStreamsOptions {
  readonly backplane: Backplane
  readonly nodes: Nodes
  readonly ttlMs: number
  readonly report: (error: unknown) => void
}

/** Where a call's stream is written, and for which requests. */
interface Written {
  readonly node: string
  readonly ids: readonly RequestId[]
}

/** Streams of calls that run on one node while their clients may come back to another. */
export class CallStreams {
  readonly #options: CallStreamsOptions
  /** Streams of calls that run here, with whether somebody elsewhere reads them. */
  readonly #here = new Map<string, boolean>()

  constructor(options: CallStreamsOptions) {
    this.#options = options
    options.nodes.on('ring-stream', (key: string) => {
      if (this.#here.has(key)) this.#here.set(key, true)
    })
  }

  /** A call of this node has begun to stream. Never rejects. */
  async begun(key: string, ids: readonly RequestId[]): Promise<void> {
    const { nodes, backplane, ttlMs, report } = this.#options
    if (!nodes.shared) return
    this.#here.set(key, false)
    const value = JSON.stringify({ node: nodes.id, ids } satisfies Written)
    await backplane.store.set(key, value, { ttlMs }).catch(report)
  }

  /** Something was appended to a stream. */
  appended(key: string): void {
    if (this.#here.get(key) === true) this.#options.backplane.pubSub.publish(key, '').catch(this.#options.report)
  }

  /** The call is done. */
  ended(key: string): void {
    const { nodes, backplane, report } = this.#options
    if (!nodes.shared) return
    this.appended(key)
    this.#here.delete(key)
    backplane.store.delete(key).catch(report)
  }

  /** Reads the stream of a call that runs elsewhere, until it ends; a call whose node dies ends with an error that says so. */
  async follow(session: LiveSession, { log, after }: FollowedStream, sink: EventSink): Promise<void> {
    const { backplane, report } = this.#options
    const bell = new Bell()
    const unsubscribe = await backplane.pubSub.subscribe(log.key, () => bell.ring())
    const from: Place = { after }
    try {
      while (!sink.closed) {
        const rung = bell.next()
        // The end is in the log before the call is forgotten.
        const written = await this.#written(log.key)
        if ((await pipe(log, from, sink)) || written === undefined) return
        await this.#keepAlive(session, log, written)
        await Promise.race([rung, elapsed(Math.min(LOOK_MS, this.#options.nodes.heartbeatMs))])
      }
    } catch (error) {
      // What has gone just now cannot be made up for: the client comes back, and is told so.
      if (!(error instanceof GapError)) report(error)
    } finally {
      sink.end()
      await unsubscribe().catch(report)
    }
  }

  /** Its node shall ring; where that is gone, the call is buried. */
  async #keepAlive(session: LiveSession, log: StreamLog, written: Written): Promise<void> {
    const { nodes } = this.#options
    if (await nodes.isAlive(written.node)) await nodes.send(written.node, 'ring-stream', log.key)
    else await this.#bury(session, log, written)
  }

  async #written(key: string): Promise<Written | undefined> {
    const found = await this.#options.backplane.store.get(key)
    return found && (JSON.parse(found.value) as Written)
  }

  /** One of those who come back says in the log that the call is lost. */
  async #bury({ client }: LiveSession, log: StreamLog, { ids }: Written): Promise<void> {
    const { backplane, nodes, ttlMs } = this.#options
    const { mine } = await backplane.store.claim(`buried/${log.key}`, nodes.id, ttlMs)
    if (!mine) return
    const failure = encodeFailure(client.codec, nodeDied())
    for (const id of ids) await log.append(errorMessage(JSON.stringify(id), failure))
    await log.end()
    await backplane.store.delete(log.key)
    await backplane.pubSub.publish(log.key, '')
  }
}

interface FollowedStream {
  readonly log: StreamLog
  readonly after: string
}

interface Place {
  after: string
}

class Bell {
  #ring: () => void = () => undefined

  ring(): void {
    this.#ring()
  }

  /** Resolves when it rings. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#ring = resolve
    })
  }
}

/** Writes what is there after a place, and moves it on. True when the stream has ended. */
async function pipe(log: StreamLog, from: Place, sink: EventSink): Promise<boolean> {
  for await (const event of log.after(from.after)) {
    if (event.end) return true
    from.after = event.id ?? from.after
    if (!sink.write(event)) await sink.drained()
  }
  return false
}

const elapsed = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
