import type { Backplane } from '../backplane/backplane.js'
import type { Unsubscribe } from '../backplane/pub-sub.js'
import { quietTimer } from '../options.js'
import { encodeFailure } from '../protocol/codec.js'
import { errorMessage, type RequestId } from '../protocol/jsonrpc.js'
import { nodeDied } from './asking/moved.js'
import { type EventSink, roomIn } from './event-channel.js'
import { knownWithin } from './known-within.js'
import type { LiveSession } from './live-session.js'
import type { Nodes } from './nodes.js'
import { GapError, type StreamLog } from './stream-log.js'

/** Milliseconds that the node of a call has to say that it rings. */
const RING_MS = 2_000
/** Milliseconds that one of those who come back has to say that a call is lost. */
const BURIAL_MS = 10_000

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
  /** Streams of calls that run here. */
  readonly #here = new Map<string, Begun>()
  /** Those who read here what is written elsewhere. */
  readonly #followers = new Set<Bell>()
  /** Milliseconds for which others find a stream whose node says nothing: long enough to learn that the node has died. */
  readonly #keptMs: number
  #timer: ReturnType<typeof setInterval> | undefined
  #left = false

  constructor(options: CallStreamsOptions) {
    this.#options = options
    this.#keptMs = Math.max(options.ttlMs, options.nodes.leaseMs + BURIAL_MS)
    options.nodes.on('ring-stream', (letter: RingLetter) => this.#ringFor(letter))
  }

  /**
   * A call of this node begins to stream: others find it before anything is written. `letGo` ends the connection of a client that has
   * come back elsewhere. Undefined where there are no others. Never rejects.
   */
  begun(key: string, ids: readonly RequestId[], letGo: () => void): Promise<unknown> | undefined {
    const { nodes } = this.#options
    if (!nodes.shared) return undefined
    const owner = JSON.stringify({ node: nodes.id, ids } satisfies Written)
    const begun: Begun = { owner, letGo, rung: false, written: Promise.resolve() }
    this.#here.set(key, begun)
    this.#claim(key, begun)
    this.#timer ??= quietTimer(() => this.#renew(), this.#keptMs / 4)
    return begun.written
  }

  /** Something was appended to a stream. */
  appended(key: string): void {
    if (this.#here.get(key)?.rung === true) this.#options.backplane.pubSub.publish(key, '').catch(this.#options.report)
  }

  /** The call is done. */
  ended(key: string): void {
    const { backplane, report } = this.#options
    const begun = this.#here.get(key)
    if (begun === undefined) return
    this.appended(key)
    this.#here.delete(key)
    if (this.#here.size === 0) this.#stopTimer()
    begun.written.then(() => backplane.store.delete(key)).catch(report)
  }

  /** Who reads here what is written elsewhere is let go, and can come back to another node. */
  leave(): void {
    this.#left = true
    this.#stopTimer()
    for (const bell of this.#followers) bell.ring()
  }

  /** Reads the stream of a call that runs elsewhere, until it ends; a call whose node dies ends with an error that says so. */
  async follow(session: LiveSession, stream: FollowedStream, sink: EventSink): Promise<void> {
    const { backplane, report } = this.#options
    const { key } = stream.log
    const bell = new Bell()
    this.#followers.add(bell)
    let unsubscribe: Unsubscribe | undefined
    try {
      unsubscribe = await backplane.pubSub.subscribe(key, () => bell.ring())
      await this.#followRung(session, { ...stream, bell }, sink)
    } catch (error) {
      // What has gone just now cannot be made up for: the client comes back, and is told so.
      if (!(error instanceof GapError)) report(error)
    } finally {
      this.#followers.delete(bell)
      sink.end()
      await unsubscribe?.().catch(report)
    }
  }

  async #followRung(
    session: LiveSession,
    { log, after, bell }: FollowedStream & { readonly bell: Bell },
    sink: EventSink,
  ): Promise<void> {
    const from: Place = { after }
    let rings = false
    for (let first = true; !(sink.closed || this.#left); ) {
      const rung = bell.next().then(() => true)
      // The end is in the log before the call is forgotten.
      const written = await this.#written(log.key)
      if ((await pipe(log, from, sink)) || written === undefined) return
      if (rings) rings = (await knownWithin(this.#options.nodes.lookMs, rung)) === true
      else {
        // What was said before its node rings has rung for nobody: it is looked for once more.
        await this.#keepAlive(session, log, { written, first })
        rings = true
        first = false
      }
    }
  }

  /** Its node shall ring; where that is gone, the call is buried. */
  async #keepAlive(
    session: LiveSession,
    log: StreamLog,
    { written, first }: { readonly written: Written; readonly first: boolean },
  ): Promise<void> {
    const { nodes } = this.#options
    const body: RingLetter = { key: log.key, first }
    if (await nodes.isAlive(written.node)) await nodes.ask(written.node, { type: 'ring-stream', body }, RING_MS)
    else await this.#bury(session, log, written)
  }

  /** Somebody elsewhere reads a stream of this node. */
  #ringFor({ key, first }: RingLetter): boolean {
    const begun = this.#here.get(key)
    if (begun === undefined) return false
    begun.rung = true
    if (first) begun.letGo()
    return true
  }

  async #written(key: string): Promise<Written | undefined> {
    const found = await this.#options.backplane.store.get(key)
    return found && (JSON.parse(found.value) as Written)
  }

  /** One after the other, so that what has ended is not there again. */
  #claim(key: string, begun: Begun): void {
    const { backplane, report } = this.#options
    begun.written = begun.written.then(() => backplane.store.claim(key, begun.owner, this.#keptMs)).catch(report)
  }

  /** A call may run for longer than its session is known without being used. */
  #renew(): void {
    for (const [key, begun] of this.#here) this.#claim(key, begun)
  }

  #stopTimer(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** One of those who come back says in the log that the call is lost. */
  async #bury({ client }: LiveSession, log: StreamLog, { ids }: Written): Promise<void> {
    const { backplane } = this.#options
    // Two of them may have come to the same node.
    const { mine } = await backplane.store.claim(`buried/${log.key}`, crypto.randomUUID(), BURIAL_MS)
    if (!mine) return
    const failure = encodeFailure(client.codec, nodeDied())
    for (const id of ids) await log.append(errorMessage(JSON.stringify(id), failure))
    await log.end()
    await backplane.store.delete(log.key)
    await backplane.pubSub.publish(log.key, '')
  }
}

interface Begun {
  /** What the others find. */
  readonly owner: string
  /** Somebody elsewhere reads it. */
  rung: boolean
  written: Promise<unknown>
  letGo(): void
}

interface RingLetter {
  readonly key: string
  /** The client has just come. */
  readonly first: boolean
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
    if (!sink.write(event)) await roomIn(sink, () => sink.cut())
  }
  return false
}
