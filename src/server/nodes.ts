import type { Backplane } from '../backplane/backplane.js'
import type { Unsubscribe } from '../backplane/pub-sub.js'
import { quietTimer } from '../options.js'
import { NodeRoll } from './node-roll.js'

export interface NodesOptions {
  readonly backplane: Backplane
  /** The name of this node, another one each time that it starts. */
  readonly id: string
  /** Milliseconds between two signs of life, and between two looks for messages that nothing has told of. */
  readonly heartbeatMs: number
  readonly report: (error: unknown) => void
}

interface Letter {
  readonly type: string
  readonly body: unknown
  /** Who wants what the listener gives, and under which name it waits for it. */
  readonly asks?: { readonly node: string; readonly id: string }
}

/** What it gives goes back to whoever has asked. */
type LetterListener = (body: never) => unknown

/** Letter that brings an answer. */
const ANSWER = 'answer'
interface AnswerBody {
  readonly id: string
  readonly node: string
  readonly answer: unknown
}

/** Signs of life that may be missed before a node counts as gone. */
const MISSED = 3
/** What waits for a node: it is read at once, or at the next look. */
const INBOX = { ttlMs: 60_000, maxEntries: 10_000, maxBytes: 67_108_864 }
const BATCH = 100

/** The nodes of a server, by their leases, and what they tell each other. One process alone has nobody to talk to. */
export class Nodes {
  readonly id: string
  readonly #options: NodesOptions
  readonly #listeners = new Map<string, LetterListener>()
  readonly #asked = new Map<string, (answer: unknown) => void>()
  /** Nodes that have let the time for an answer pass, and have not been heard of since. */
  readonly #silent = new Set<string>()
  #timer: ReturnType<typeof setInterval> | undefined
  #subscribed: Promise<Unsubscribe | undefined> | undefined
  /** When this node gave its last sign of life; where timers stand still between requests, that is not the last beat. */
  #seenMs = Number.NEGATIVE_INFINITY
  #seen: Promise<unknown> = Promise.resolve()
  /** When the last sign of life that has arrived was begun. */
  #shownMs = Number.NEGATIVE_INFINITY
  readonly #roll: NodeRoll
  #onLapsed: () => void = () => undefined
  #stopped = false
  #last: string | undefined
  #reading: Promise<void> = Promise.resolve()

  constructor(options: NodesOptions) {
    this.#options = options
    this.id = options.id
    this.#roll = new NodeRoll(options.backplane.store, options.id)
    this.on(ANSWER, ({ id, node, answer }: AnswerBody) => {
      this.#silent.delete(node)
      this.#asked.get(id)?.(answer)
    })
  }

  /** Whether others may be there. */
  get shared(): boolean {
    return this.#options.backplane.local !== true
  }

  /** What to do with letters of a kind. */
  on<Body>(type: string, listener: (body: Body) => unknown): void {
    this.#listeners.set(type, listener)
  }

  /** What to do when the others have held this node for gone: nobody has written to it meanwhile. */
  onLapsed(listener: () => void): void {
    this.#onLapsed = listener
  }

  /** Milliseconds between two looks for whether another node is alive. */
  get lookMs(): number {
    return this.#options.heartbeatMs
  }

  /** Milliseconds after which the others know that a node has died. */
  get leaseMs(): number {
    return this.#options.heartbeatMs * MISSED
  }

  /** From here on others see this node, and can write to it. Nothing happens the second time. Never rejects. */
  async start(): Promise<void> {
    if (!this.shared || this.#stopped) return
    const { heartbeatMs } = this.#options
    this.#timer ??= quietTimer(() => this.#beat(), heartbeatMs)
    if (Date.now() - this.#seenMs >= heartbeatMs) this.#beat()
    await Promise.all([this.#subscribe(), this.#seen])
  }

  /** A backplane that is away is asked again the next time; until then letters are found by looking. */
  #subscribe(): Promise<unknown> {
    const { backplane, report } = this.#options
    this.#subscribed ??= backplane.pubSub
      .subscribe(topicOf(this.id), () => this.#look())
      .catch((error: unknown) => {
        this.#subscribed = undefined
        report(error)
        return undefined
      })
    return this.#subscribed
  }

  /** Others see at once that it is gone. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    const { backplane, report } = this.#options
    const unsubscribe = await this.#subscribed
    await unsubscribe?.().catch(report)
    await backplane.store.release(leaseOf(this.id), this.id).catch(report)
    await this.#roll.leave().catch(report)
    await backplane.store.drop(inboxOf(this.id)).catch(report)
  }

  async isAlive(node: string): Promise<boolean> {
    if (node === this.id) return true
    return this.shared && (await this.#options.backplane.store.get(leaseOf(node))) !== undefined
  }

  /** The others that are alive. */
  async others(): Promise<readonly string[]> {
    if (!this.shared) return []
    const roll = await this.#roll.read()
    const alive = await Promise.all(roll.names.map((node) => this.isAlive(node)))
    const gone = roll.names.filter((_node, index) => !alive[index])
    if (gone.length > 0) await this.#roll.strike(roll, gone)
    return roll.names.filter((node) => node !== this.id && !gone.includes(node))
  }

  /** Writes to another node, which reads it at once or, should nothing tell it, at its next look. */
  async send(node: string, type: string, body: unknown): Promise<void> {
    await this.#write(node, { type, body })
  }

  /** What another node's listener gives; undefined when it has said nothing within `ms`. */
  async ask<Answer>(
    node: string,
    letter: { readonly type: string; readonly body: unknown },
    ms: number,
  ): Promise<Answer | undefined> {
    await this.start()
    const id = crypto.randomUUID()
    return await new Promise<Answer | undefined>((resolve, reject) => {
      const settle = (answer: unknown): void => {
        clearTimeout(timer)
        this.#asked.delete(id)
        resolve(answer as Answer | undefined)
      }
      const timer = setTimeout(() => {
        this.#silent.add(node)
        settle(undefined)
      }, ms)
      this.#asked.set(id, settle)
      this.#write(node, { ...letter, asks: { node: this.id, id } }).catch((error: unknown) => {
        settle(undefined)
        reject(error)
      })
    })
  }

  /** What the listeners of all others give, of those that say something within `ms`; by node. */
  async askEach<Answer>(
    letter: { readonly type: string; readonly body: unknown },
    ms: number,
  ): Promise<[string, Answer][]> {
    const answers: [string, Answer][] = []
    const others = await this.others()
    for (const node of this.#silent) if (!others.includes(node)) this.#silent.delete(node)
    const asking = others.map(async (node) => {
      // A node that has died is waited for once, not until its lease ends; one that is slow is heard of again.
      const waitedFor = !this.#silent.has(node)
      const asked = this.ask<Answer>(node, letter, ms).then((answer) => {
        if (answer !== undefined) answers.push([node, answer])
      })
      if (waitedFor) await asked
      else asked.catch(this.#options.report)
    })
    await Promise.all(asking)
    return [...answers]
  }

  /** The same, whichever nodes they are of. */
  async askAll<Answer>(letter: { readonly type: string; readonly body: unknown }, ms: number): Promise<Answer[]> {
    return (await this.askEach<Answer>(letter, ms)).map(([, answer]) => answer)
  }

  async #write(node: string, letter: Letter): Promise<void> {
    const { backplane, report } = this.#options
    await backplane.store.append(inboxOf(node), JSON.stringify(letter), INBOX)
    await backplane.pubSub.publish(topicOf(node), '').catch(report)
  }

  #beat(): void {
    this.#seenMs = Date.now()
    this.#look()
    void this.#subscribe()
    this.#seen = this.#show().catch(this.#options.report)
  }

  async #show(): Promise<void> {
    const { store } = this.#options.backplane
    const begunMs = Date.now()
    const known = this.#shownMs !== Number.NEGATIVE_INFINITY
    const lapsed = known && (await store.get(leaseOf(this.id))) === undefined
    await store.claim(leaseOf(this.id), this.id, this.leaseMs)
    if (this.#stopped) return
    await this.#roll.enter(lapsed || Date.now() - this.#shownMs >= this.leaseMs)
    this.#shownMs = begunMs
    if (lapsed) this.#onLapsed()
  }

  #look(): void {
    this.#reading = this.#reading.then(() => this.#read()).catch(this.#options.report)
  }

  async #read(): Promise<void> {
    for (;;) {
      const { entries } = await this.#options.backplane.store.readAfter(inboxOf(this.id), this.#last, BATCH)
      for (const { id, value } of entries) {
        // Behind a gap what was read already may come again.
        if (this.#last !== undefined && id <= this.#last) continue
        this.#last = id
        this.#take(JSON.parse(value) as Letter)
      }
      if (entries.length < BATCH) return
    }
  }

  #take({ type, body, asks }: Letter): void {
    const listener = this.#listeners.get(type)
    if (listener === undefined) return
    Promise.resolve(body as never)
      .then(listener)
      .then(async (answer) => {
        if (asks !== undefined) await this.send(asks.node, ANSWER, { id: asks.id, node: this.id, answer })
      })
      .catch(this.#options.report)
  }
}

const leaseOf = (node: string): string => `node/${node}`
const inboxOf = (node: string): string => `inbox/${node}`
const topicOf = (node: string): string => `node/${node}`
