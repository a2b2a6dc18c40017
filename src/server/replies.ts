import type { Store } from '../backplane/store.js'
import type { CallRef } from '../router/deferred.js'
import { knownWithin } from './known-within.js'
import type { NodeLine } from './node-line.js'

/** Milliseconds between two looks for answers whose ring was lost. */
const LOOK_MS = 5_000
/** Milliseconds between two looks for whether an answer was taken. */
const ASK_MS = 1_000
/** Milliseconds after which a process that has not taken an answer is gone: longer than it needs to look by itself. */
const GONE_MS = LOOK_MS + ASK_MS
/** Milliseconds that it is known for whether an answer was taken. */
const KEPT_MS = 60_000

/** What the Store has under the name of a call: an answer on its way, or how it was received. */
type Entry =
  | { readonly reply: string; readonly from: string; readonly taken?: undefined }
  | { readonly taken: boolean; readonly reply?: undefined }

export interface RepliesOptions {
  readonly store: Store
  readonly line: NodeLine
  readonly report: (error: unknown) => void
  /** False where the call is over. */
  readonly deliver: (call: string, reply: string) => boolean
}

/**
 * Answers to calls of other processes. An answer is put into the Store and then rung; whoever deletes the entry has it: the process
 * of the call, or its sender, who takes it back when nobody came for it. So both know whether it was delivered.
 */
export class Replies {
  readonly #options: RepliesOptions
  /** Calls of this process whose answers are outstanding. */
  readonly #expected = new Set<string>()
  /** Answers of ours that are on their way. */
  readonly #sent = new Map<string, (taken: boolean) => void>()
  #timer: ReturnType<typeof setInterval> | undefined
  #looking = false

  constructor(options: RepliesOptions) {
    this.#options = options
    options.line.on('reply', ({ call }) => this.#takeSafely(call as string))
    options.line.on('taken', ({ call, taken }) => this.#sent.get(call as string)?.(taken === true))
  }

  /** From here on the answer to this call is looked for. */
  expect(call: string): void {
    this.#expected.add(call)
    // What was answered while the line was not open yet has rung for nobody.
    const { line } = this.#options
    if (!line.isOpen) void line.open().then(() => this.#expected.has(call) && this.#takeSafely(call))
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS)
  }

  forget(call: string): void {
    this.#expected.delete(call)
    if (this.#expected.size === 0) this.close()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Resolves to whether the call was there to get it. */
  async send({ call, node }: CallRef, reply: string): Promise<boolean> {
    const { store, line } = this.#options
    await line.open()
    const entry: Entry = { reply, from: line.id }
    const options = { ttlMs: KEPT_MS, ifRevision: null }
    const revision = await store.set(keyOf(call), JSON.stringify(entry), options)
    // Somebody else was faster.
    if (revision === undefined) return false
    const rung = new Promise<boolean>((resolve) => this.#sent.set(call, resolve))
    try {
      await line.send(node, { kind: 'reply', call })
      return await this.#received(call, rung, revision)
    } finally {
      this.#sent.delete(call)
    }
  }

  /** Waits for word of it, and looks for it in case that the word was lost. */
  async #received(call: string, rung: Promise<boolean>, revision: string): Promise<boolean> {
    for (let waitedMs = 0; waitedMs < GONE_MS; waitedMs += ASK_MS) {
      const heard = await knownWithin(ASK_MS, rung)
      if (heard !== undefined) return heard
      const entry = await this.#entry(call)
      if (entry?.taken !== undefined) return entry.taken
    }
    if (await this.#options.store.delete(keyOf(call), revision)) return false
    return (await this.#entry(call))?.taken === true
  }

  async #entry(call: string): Promise<Entry | undefined> {
    const stored = await this.#options.store.get(keyOf(call))
    return stored && (JSON.parse(stored.value) as Entry)
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      for (const call of [...this.#expected]) if (this.#expected.has(call)) await this.#take(call)
    } catch (error) {
      this.#options.report(error)
    } finally {
      this.#looking = false
    }
  }

  #takeSafely(call: string): void {
    this.#take(call).catch(this.#options.report)
  }

  async #take(call: string): Promise<void> {
    const { store, line, deliver } = this.#options
    const stored = await store.get(keyOf(call))
    const entry = stored && (JSON.parse(stored.value) as Entry)
    if (stored === undefined || entry?.reply === undefined) return
    if (!(await store.delete(keyOf(call), stored.revision))) return
    const taken = deliver(call, entry.reply)
    const received: Entry = { taken }
    await store.set(keyOf(call), JSON.stringify(received), { ttlMs: KEPT_MS })
    await line.send(entry.from, { kind: 'taken', call, taken })
  }
}

const keyOf = (call: string): string => `reply/${call}`
